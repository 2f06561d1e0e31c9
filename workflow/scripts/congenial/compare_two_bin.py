"""Compare conditioning with projection on a two-bin histogram, and check the paper's statements."""

from isdp.io.files import write_csv
from isdp.streams import stream
from reproduction.congenial.statements import tabulate_statements
from reproduction.congenial.two_bin import tabulate_tau, tabulate_two_bin
from reproduction.jobs.job_log import job_log

with job_log(snakemake.log[0]):
    params = snakemake.params
    table = tabulate_two_bin(stream(params.seed, "two bins"), **params.two_bin)
    write_csv(table, snakemake.output.two_bin)
    write_csv(tabulate_tau(), snakemake.output.tau)
    statements = tabulate_statements(
        stream(params.seed, "congenial", "statements"), params.sex_by_age
    )
    write_csv(statements, snakemake.output.statements)
