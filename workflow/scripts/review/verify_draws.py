"""Check the invariants of every draw once more, from the files."""

from reproduction.running.jobs import job_log
from reproduction.running.draws import verification_table
from reproduction.running.tables import write_table

with job_log(snakemake.log[0]):
    table = verification_table(snakemake.input.draws)
    write_table(table, snakemake.output.csv, "Invariants of every draw")
