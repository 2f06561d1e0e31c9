"""Check the invariants of every draw once more, from the files."""

from isdp.io.draws import verification_table
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_table

with job_log(snakemake.log[0]):
    kinds = ("counties", "lattices", "sex_by_age", "exact_counties", "exact_lattices")
    table = verification_table([file for kind in kinds for file in snakemake.input[kind]])
    write_table(table, snakemake.output.csv, "Invariants of every draw")
