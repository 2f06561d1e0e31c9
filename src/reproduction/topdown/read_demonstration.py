"""Read demonstration data (NHGIS) of the same counties as the published counts."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from isdp.errors import InputError
from reproduction.data.histogram import Histogram, read_demonstration_histogram

VINTAGE = "20210608"  # The configuration "production" has the budget of this vintage.


def read_demonstration_counts(
    provenance: Mapping,
    local: str | None,
    cache: str,
    published: pd.DataFrame,
    histogram: Histogram,
) -> Histogram | None:
    """Read the noisy counts, with the counties in the order of the published `histogram`.

    The file is `local`, or else the download that `provenance` describes in the folder `cache`.
    Returns None if the vintage of the data is not `VINTAGE`. Raises InputError if the published
    counts in the file differ from the histogram.
    """
    if provenance["vintage"] != VINTAGE:
        return None
    path = local or Path(cache) / provenance["file_name"]
    private, given, _ = read_demonstration_histogram(path, published)
    order = pd.Index(given.counties["fips"]).get_indexer(histogram.counties["fips"])
    if (given.counts[order] != histogram.counts).any():
        raise InputError(
            "demonstration data: the _sf columns of Tables P8 to P11 differ from the published "
            "counts. Download the file again."
        )
    return Histogram(histogram.counties, private.counts[order])
