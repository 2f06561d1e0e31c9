"""Compute the noise of the slides, the implied constraints, and releases of group quarters."""

from reproduction.data.histogram import read_group_quarters
from reproduction.data.published import read_published
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_tables
from reproduction.topdown.implied import constraint_tables
from reproduction.topdown.noise import noise_tables

with job_log(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    every = read_group_quarters(given.group_quarters, read_published(given.published))
    write_tables(noise_tables(), snakemake.output)
    write_tables(constraint_tables(params.seed, *every, params.implied), snakemake.output)
