"""All that is computed of swapping: budgets, losses, attacks; and Massachusetts, swapped."""

from reproduction.running.jobs import job_log
from isdp.io.files import write_csv
from isdp.seeds import stream
from reproduction.running.tables import write_table
from reproduction.swapping.households import scenarios
from reproduction.swapping.massachusetts import all_runs
from reproduction.swapping.printed import read_budgets, read_massachusetts
from reproduction.swapping.tables import (
    attack_tables,
    budget_tables,
    figure_tables,
    flavour_tables,
    massachusetts_tables,
)

with job_log(snakemake.log[0]):
    params, output, settings = snakemake.params, snakemake.output, snakemake.params.settings
    printed = read_budgets(snakemake.input.budgets)
    table = read_massachusetts(snakemake.input.massachusetts)
    households = scenarios(table, settings["households"])
    law, located = stream(params.seed, "swapping", "computed").spawn(2)
    swaps = stream(params.seed, "swapping", "runs")
    runs = all_runs(swaps, households, settings["rates"], settings["runs"])
    tables = (
        budget_tables(law, printed, table, settings)
        | flavour_tables(printed, table)
        | attack_tables(located, table, settings["rates"], settings["located"])
        | massachusetts_tables(table, households, runs)
    )
    for name, title in params.titles.items():
        write_table(tables[name], output[f"{name}_csv"], title)
    shown = figure_tables(tables, table, households, settings) | {"mape": runs}
    for name, points in shown.items():
        write_csv(points, output[f"{name}_figure"])
