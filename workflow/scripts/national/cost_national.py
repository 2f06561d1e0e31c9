"""Compute how long the measured jobs of the national runs take on other machines."""

from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import write_tables
from reproduction.national.cost import cost_tables

with job_log(snakemake.log[0]):
    parts = dict(snakemake.input.items())
    write_tables(cost_tables(parts, snakemake.params.cost), snakemake.output)
