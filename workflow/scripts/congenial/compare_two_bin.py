"""Compare conditioning with projecting on a two-bin histogram."""

from reproduction.running.jobs import job_log
from isdp.seeds import stream
from reproduction.congenial.two_bin import two_bin_table
from reproduction.running.tables import write_table

with job_log(snakemake.log[0]):
    params = snakemake.params
    table = two_bin_table(stream(params.seed, "two bins"), **params.two_bin)
    write_table(table, snakemake.output.csv, "Two-bin histogram under a fixed total")
