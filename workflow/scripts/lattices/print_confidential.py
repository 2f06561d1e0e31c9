"""Print the confidential counts as a table with their margins."""

from reproduction.running.jobs import job_log
from reproduction.lattices.entry import build
from reproduction.lattices.noise import cross_table
from reproduction.running.tables import write_table

with job_log(snakemake.log[0]):
    experiment = build(snakemake.params.entry)
    table = cross_table(experiment.counts, experiment.axes)
    write_table(table, snakemake.output.csv, "Confidential counts")
