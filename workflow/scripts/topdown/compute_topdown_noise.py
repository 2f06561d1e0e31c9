"""Compute the variances and the tails of the noise in the slides."""

from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import write_tables
from reproduction.topdown.noise import compute_noise_tables

with job_log(snakemake.log[0]):
    write_tables(compute_noise_tables(), snakemake.output)
