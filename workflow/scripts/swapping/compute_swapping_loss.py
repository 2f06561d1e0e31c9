"""Compute the budgets and the losses of swapping, and sample its permutations."""

from reproduction.running.jobs import job_log
from reproduction.running.tables import write_tables
from reproduction.swapping.printed import read_budgets, read_massachusetts
from reproduction.swapping.tables import loss_tables

with job_log(snakemake.log[0]):
    printed = read_budgets(snakemake.input.budgets)
    table = read_massachusetts(snakemake.input.massachusetts)
    params = snakemake.params
    write_tables(loss_tables(printed, table, params.settings, params.seed), snakemake.output)
