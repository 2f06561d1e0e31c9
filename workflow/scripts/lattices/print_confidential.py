"""Tabulate the confidential counts with their margins."""

from isdp.io.files import write_csv
from reproduction.lattices.entry import build_experiment
from reproduction.lattices.noise import tabulate_counts
from reproduction.running.jobs import job_log

with job_log(snakemake.log[0]):
    experiment = build_experiment(snakemake.params.entry)
    write_csv(tabulate_counts(experiment.counts, experiment.axes), snakemake.output.confidential)
