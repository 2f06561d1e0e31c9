"""Compare the guarantees of swapping, TopDown and noise."""

from reproduction.running.jobs import job_log
from reproduction.running.tables import write_tables
from reproduction.swapping.printed import read_budgets, read_massachusetts
from reproduction.swapping.tables import guarantee_tables

with job_log(snakemake.log[0]):
    printed = read_budgets(snakemake.input.budgets)
    table = read_massachusetts(snakemake.input.massachusetts)
    write_tables(guarantee_tables(printed, table), snakemake.output)
