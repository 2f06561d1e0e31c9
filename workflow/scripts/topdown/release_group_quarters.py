"""Release group quarters by cutting planes, the failsafe and its alternatives."""

from reproduction.data.histogram import read_group_quarters
from reproduction.data.published import read_published
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_tables
from reproduction.topdown.constraint_tables import select_counties, workaround_tables

with job_log(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    every = read_group_quarters(given.group_quarters, read_published(given.published))
    counties, people = select_counties(*every, params.implied["states"])
    write_tables(workaround_tables(params.seed, counties, people, params.implied), snakemake.output)
