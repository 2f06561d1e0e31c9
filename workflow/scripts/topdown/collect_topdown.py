"""Summarize the runs of all systems."""

from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csvs, write_tables
from reproduction.topdown.tables import collect_tables

with job_log(snakemake.log[0]):
    params = snakemake.params
    kinds = {kind: read_csvs(paths) for kind, paths in snakemake.input.items()}
    write_tables(collect_tables(kinds, params.runs, params.shown), snakemake.output)
