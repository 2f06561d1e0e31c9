"""Swap Massachusetts in 1940, and compare the printed swap with its exact distribution."""

from reproduction.running.jobs import job_log
from reproduction.running.tables import write_tables
from reproduction.swapping.printed import read_massachusetts
from reproduction.swapping.tables import massachusetts_tables

with job_log(snakemake.log[0]):
    table = read_massachusetts(snakemake.input.massachusetts)
    params = snakemake.params
    write_tables(massachusetts_tables(table, params.settings, params.seed), snakemake.output)
