"""Check the statements of ISDP on small lattices by exact computation."""

from isdp.io.files import write_csv
from isdp.streams import stream
from reproduction.data.published import read_published
from reproduction.jobs.job_log import job_log
from reproduction.lattices.statements import tabulate_statements

with job_log(snakemake.log[0]):
    states = read_published(snakemake.input.published)["state"]
    statements = tabulate_statements(stream(snakemake.params.seed, "statements"), states)
    write_csv(statements, snakemake.output.statements)
