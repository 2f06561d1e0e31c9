"""Summarise the releases of all systems, and the runs of the study of TopDown if there are any."""

import pandas as pd

from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csvs, write_tables
from reproduction.nested.experiment import TABLE_KINDS
from reproduction.nested.tables import collect_tables, read_topdown_runs
from reproduction.topdown.experiment import keep_states

with job_log(snakemake.log[0]):
    given, settings = snakemake.input, snakemake.params.settings
    runs = {kind: read_csvs(given[kind]) for kind in TABLE_KINDS}
    if given.get("topdown"):
        paths = {
            kind: [path for path in given.topdown if path.endswith(f"_{kind}.csv")]
            for kind in TABLE_KINDS
        }
        more = read_topdown_runs({kind: read_csvs(each) for kind, each in paths.items()})
        runs = {kind: pd.concat([runs[kind], more[kind]], ignore_index=True) for kind in runs}
    histogram = read_histogram(given.histogram, read_published(given.published))
    histogram = keep_states(histogram, settings["states"])
    write_tables(collect_tables(runs, histogram, settings), snakemake.output)
