"""Put the states' projected noise into one table."""

from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csvs, write_table

with job_log(snakemake.log[0]):
    summary = read_csvs(snakemake.input.summaries)
    write_table(summary, snakemake.output.csv, "Projected discrete Laplace: spread and overlap")
