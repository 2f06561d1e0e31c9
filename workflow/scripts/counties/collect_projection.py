"""Put the states' projected noise into one table."""

from isdp.io.files import read_csvs, write_table
from reproduction.running.jobs import job_log

with job_log(snakemake.log[0]):
    summary = read_csvs(snakemake.input.summaries)
    write_table(summary, snakemake.output.csv, "Projected discrete Laplace: spread and overlap")
