"""Compute the run time of the national runs on other machines from the measured jobs."""

from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import write_tables
from reproduction.national.cost import tabulate_costs

with job_log(snakemake.log[0]):
    parts = dict(snakemake.input.items())
    write_tables(tabulate_costs(parts, snakemake.params.cost), snakemake.output)
