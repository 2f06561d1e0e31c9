"""Summarise the releases of all systems."""

from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csvs, write_tables
from reproduction.topdown.tables import collect_tables

with job_log(snakemake.log[0]):
    params = snakemake.params
    kinds = {kind: read_csvs(paths) for kind, paths in snakemake.input.items()}
    write_tables(collect_tables(kinds, params.runs, params.shown), snakemake.output)
