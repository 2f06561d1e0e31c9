"""Tabulate the confidential counts with their margins."""

from isdp.io.files import write_csv
from reproduction.jobs.job_log import job_log
from reproduction.lattices.entry import build_experiment
from reproduction.lattices.noise import tabulate_counts

with job_log(snakemake.log[0]):
    experiment = build_experiment(snakemake.params.entry)
    write_csv(tabulate_counts(experiment.counts, experiment.axes), snakemake.output.confidential)
