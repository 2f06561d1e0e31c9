"""Print the confidential counts as a table with their margins."""

from isdp.experiment import build
from isdp.files import write_table
from isdp.lattices import cross_table
from isdp.logs import job_log

with job_log(snakemake.log[0]):
    experiment = build(snakemake.params.entry)
    table = cross_table(experiment.counts, experiment.axes)
    write_table(table, snakemake.output.csv, "Confidential counts")
