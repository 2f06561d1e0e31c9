"""The comparison of a sweep's scenarios, from their tables to one table and one figure."""

from __future__ import annotations

from collections.abc import Iterable

from isdp.io.files import write_csv
from isdp.plots.style import save
from reproduction.counties.sweep import figure_table
from reproduction.counties.sweep_figures import scenarios
from reproduction.running.tables import read_csvs, write_table


def compare_scenarios(name: str, tables: Iterable, *, csv, data, svg, png) -> None:
    """Put scenarios in one table and one figure.

    Parameters
    ----------
    name : str
        The sweep's.
    tables : iterable of path
        The table of each scenario.
    csv, data, svg, png : path
        Where the table, the figure's numbers and the figure go.
    """
    table = read_csvs(tables)
    write_table(table, csv, f"Sweep {name}: scenarios side by side")
    shown = figure_table(table)
    write_csv(shown, data)
    title = f"Noise of county populations under each state's total: sweep {name}"
    save(scenarios(shown, title), svg, png)
