"""Put all scenarios of a sweep in one table and one figure."""

from isdp.io.files import write_csv
from isdp.plots.style import save
from reproduction.counties.sweep import figure_table
from reproduction.counties.sweep_figures import scenarios
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csvs, write_table

with job_log(snakemake.log[0]):
    output, name = snakemake.output, snakemake.wildcards.sweep
    table = read_csvs(snakemake.input.scenarios)
    write_table(table, output.csv, f"Sweep {name}: scenarios side by side")
    shown = figure_table(table)
    write_csv(shown, output.data)
    title = f"Noise of county populations under each state's total: sweep {name}"
    save(scenarios(shown, title), output.svg, output.png)
