"""Summarise the releases of all systems, and the demonstration data if the run has them."""

import pandas as pd

from isdp.io.files import read_json
from reproduction.comparison.experiment import TABLE_KINDS, measure_demonstration
from reproduction.comparison.systems import published_rho
from reproduction.comparison.tables import collect_tables
from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csvs, write_tables
from reproduction.topdown.experiment import keep_states
from reproduction.topdown.read_demonstration import VINTAGE, read_demonstration_counts

with job_log(snakemake.log[0]) as log:
    params, given = snakemake.params, snakemake.input
    states, swapped = params.settings["states"], params.settings["swapped"]
    published = read_published(given.published)
    whole = read_histogram(given.histogram, published)
    provenance, local = read_json(given.provenance), given.get("local") or None
    private = read_demonstration_counts(provenance, local, params.cache, published, whole)
    histogram = keep_states(whole, states)
    runs = {kind: read_csvs(given[kind]) for kind in TABLE_KINDS}
    if private is None:
        log.info("no demonstration data of vintage %s. Their errors are left out.", VINTAGE)
    else:
        found = measure_demonstration(
            histogram, keep_states(private, states), float(published_rho()), swapped
        )
        for kind, table in found.items():
            runs[kind] = pd.concat([runs[kind], table], ignore_index=True)
    write_tables(collect_tables(runs, histogram, params.settings), snakemake.output)
