"""Put all scenarios of a sweep in one table and one figure."""

from isdp import plots_sweep, plotting
from isdp.files import read_csvs, write_csv, write_table
from isdp.logs import job_log
from isdp.sweep import figure_table

with job_log(snakemake.log[0]):
    output, name = snakemake.output, snakemake.wildcards.sweep
    table = read_csvs(snakemake.input.scenarios)
    write_table(table, output.csv, f"Sweep {name}: scenarios side by side")
    shown = figure_table(table)
    write_csv(shown, output.data)
    title = f"Noise of county populations under each state's total: sweep {name}"
    plotting.save(plots_sweep.scenarios(shown, title), output.svg, output.png)
