"""Check the invariants of every draw in the files of draws."""

from isdp.io.files import write_csv
from reproduction.jobs.draws import verify_draws
from reproduction.jobs.job_log import job_log

with job_log(snakemake.log[0]):
    write_csv(verify_draws(snakemake.input), snakemake.output.verified)
