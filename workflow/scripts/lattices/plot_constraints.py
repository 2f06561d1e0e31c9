"""Draw the records that each constraint counts."""

from isdp.plots.style import save
from reproduction.lattices.figures import constraints_figure
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    figure = constraints_figure(snakemake.params.entry, read_csv(snakemake.input.pairs))
    save(figure, snakemake.output.constraints, snakemake.output.constraints_png)
