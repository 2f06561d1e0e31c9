"""Compare conditioning with projecting on a two-bin histogram."""

from isdp.io.files import write_csv
from isdp.streams import stream
from reproduction.congenial.two_bin import two_bin_table
from reproduction.jobs.job_log import job_log

with job_log(snakemake.log[0]):
    params = snakemake.params
    table = two_bin_table(stream(params.seed, "two bins"), **params.two_bin)
    write_csv(table, snakemake.output.two_bin)
