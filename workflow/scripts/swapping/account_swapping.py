"""Budgets, exact losses, flavours, attacks and integer noise: all that is computed of swapping."""

from isdp.io.files import write_csv
from isdp.seeds import stream
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_table
from reproduction.swapping.printed import read_budgets, read_massachusetts
from reproduction.swapping.tables import (
    attack_tables,
    budget_tables,
    figure_tables,
    flavour_tables,
)

with job_log(snakemake.log[0]):
    params, output, settings = snakemake.params, snakemake.output, snakemake.params.settings
    printed = read_budgets(snakemake.input.budgets)
    table = read_massachusetts(snakemake.input.massachusetts)
    law, located = stream(params.seed, "swapping", "computed").spawn(2)
    tables = (
        budget_tables(law, printed, table, settings)
        | flavour_tables(printed, table)
        | attack_tables(located, table, settings["rates"], settings["located"])
    )
    for name, title in params.titles.items():
        write_table(tables[name], output[f"{name}_csv"], title)
    for name, shown in figure_tables(tables, table, settings).items():
        write_csv(shown, output[f"{name}_figure"])
