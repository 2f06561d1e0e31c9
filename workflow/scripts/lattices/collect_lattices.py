"""Tabulate the meeting times, the convergence and the norms of all experiments."""

from reproduction.lattices.convergence import overview_tables
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csvs, write_tables

with job_log(snakemake.log[0]):
    read = {name: read_csvs(paths) for name, paths in snakemake.input.items()}
    write_tables(overview_tables(**read), snakemake.output)
