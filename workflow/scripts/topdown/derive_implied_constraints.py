"""Derive the implied constraints of the slides' examples and of the real group quarters."""

from reproduction.data.histogram import read_group_quarters
from reproduction.data.published import read_published
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_tables
from reproduction.topdown.constraint_tables import implied_tables, select_counties

with job_log(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    every = read_group_quarters(given.group_quarters, read_published(given.published))
    counties, people = select_counties(*every, params.implied["states"])
    write_tables(implied_tables(params.seed, counties, people, params.implied), snakemake.output)
