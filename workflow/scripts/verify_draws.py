"""Check the invariants of every draw once more, from the files."""

from isdp.drawfile import verification_table
from isdp.files import write_table
from isdp.logs import job_log

with job_log(snakemake.log[0]):
    draws = snakemake.input
    table = verification_table([*draws.counties, *draws.lattices, draws.sex_by_age])
    write_table(table, snakemake.output.csv, "Invariants of every draw")
