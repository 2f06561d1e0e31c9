"""Draw the comparison of the scenarios of a sweep."""

from isdp.plots.style import save
from reproduction.counties.sweep_figures import scenarios
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    name, output = snakemake.wildcards.sweep, snakemake.output
    title = f"Noise of county populations under each state's total: sweep {name}"
    save(scenarios(read_csv(snakemake.input.curves), title), output.figure, output.png)
