"""Combine all scenarios of a sweep in one table, and plot a figure that compares them."""

from reproduction.counties.sweep_figures import plot_scenarios
from reproduction.counties.sweep_tables import tabulate_figure
from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csvs, write_tables

with job_log(snakemake.log[0]):
    name, output = snakemake.wildcards.sweep, snakemake.output
    table = read_csvs(snakemake.input.scenarios)
    curves = tabulate_figure(table)
    write_tables({"table": table, "curves": curves}, output)
    title = f"Noise of county populations under each state's total: sweep {name}"
    save_figures({"figure": plot_scenarios(curves, title)}, output)
