"""Check the invariants of every draw once more, from the files."""

from isdp.drawfile import verification_table
from isdp.files import write_table
from isdp.logs import job_log

with job_log(snakemake.log[0]):
    kinds = ("counties", "lattices", "sex_by_age", "exact_counties", "exact_lattices")
    table = verification_table([file for kind in kinds for file in snakemake.input[kind]])
    write_table(table, snakemake.output.csv, "Invariants of every draw")
