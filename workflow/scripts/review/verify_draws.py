"""Check the invariants of every draw again, from the files."""

from isdp.io.files import write_csv
from reproduction.jobs.draws import verify_draws
from reproduction.jobs.job_log import job_log

with job_log(snakemake.log[0]):
    write_csv(verify_draws(snakemake.input), snakemake.output.verified)
