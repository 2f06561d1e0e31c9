"""Derive implied constraints, or release group quarters with them and with workarounds."""

from reproduction.data.histogram import read_group_quarters
from reproduction.data.published import read_published
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import write_tables
from reproduction.topdown.implied_constraints import derive_constraints

with job_log(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    every = read_group_quarters(given.group_quarters, read_published(given.published))
    tables = derive_constraints(params.tables, params.seed, *every, params.implied)
    write_tables(tables, snakemake.output)
