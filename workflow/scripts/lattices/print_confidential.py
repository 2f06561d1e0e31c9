"""Tabulate the confidential counts with their margins."""

from isdp.io.files import write_csv
from reproduction.jobs.job_log import job_log
from reproduction.lattices.entry import build
from reproduction.lattices.noise import cross_table

with job_log(snakemake.log[0]):
    experiment = build(snakemake.params.entry)
    write_csv(cross_table(experiment.counts, experiment.axes), snakemake.output.confidential)
