"""Demonstration data (NHGIS) in the order of the published counts in the repository."""

from collections.abc import Mapping

import pandas as pd

from isdp.errors import InputError
from reproduction.data.fetch import locate_demonstration
from reproduction.data.histogram import Histogram, read_demonstration_histogram

VINTAGE = "20210608"  # of the run with the budget of the configuration "production"


def read_demonstration_counts(
    provenance: Mapping,
    local: str | None,
    cache: str,
    published: pd.DataFrame,
    histogram: Histogram,
) -> Histogram | None:
    """Read the noisy counts if the demonstration data have the vintage `VINTAGE`.

    The counties have the order of the repository's `histogram`. `provenance`, `local` and `cache`
    are as for `reproduction.data.fetch.locate_demonstration`. Raises InputError if the file has
    other published counts.
    """
    if provenance["vintage"] != VINTAGE:
        return None
    path = locate_demonstration(provenance, local, cache)
    private, given, _ = read_demonstration_histogram(path, published)
    order = pd.Index(given.counties["fips"]).get_indexer(histogram.counties["fips"])
    if (given.counts[order] != histogram.counts).any():
        raise InputError(
            "demonstration data: the _sf columns of Tables P8 to P11 are not the published counts; "
            "download the file again"
        )
    return Histogram(histogram.counties, private.counts[order])
