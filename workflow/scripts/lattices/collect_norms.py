"""Put the norms of all experiments' noise in one table."""

from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csvs, write_table

with job_log(snakemake.log[0]):
    norms = read_csvs(snakemake.input.norms)
    norms.insert(0, "experiment", norms.pop("experiment"))
    write_table(norms, snakemake.output.csv, "The norm of the noise, and the rule of thumb for it")
