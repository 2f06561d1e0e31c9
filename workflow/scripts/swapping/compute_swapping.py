"""Compute the tables of swapping that the parameter `tables` lists."""

from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import write_tables
from reproduction.swapping import tables
from reproduction.swapping.printed import read_budgets, read_massachusetts

with job_log(snakemake.log[0]):
    params = snakemake.params
    printed = read_budgets(snakemake.input.budgets)
    table = read_massachusetts(snakemake.input.massachusetts)
    compute = getattr(tables, params.tables)
    write_tables(compute(printed, table, params.settings, params.seed), snakemake.output)
