"""Check the invariants of every draw once more, from the files."""

from isdp.io.files import write_csv
from reproduction.jobs.draws import verification_table
from reproduction.jobs.job_log import job_log

with job_log(snakemake.log[0]):
    write_csv(verification_table(snakemake.input), snakemake.output.verified)
