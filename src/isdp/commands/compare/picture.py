"""The figure of a comparison, which shows the error of each query in one panel per unit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from isdp.commands.compare.report import format_budget
from isdp.commands.compare.run import ALL
from isdp.plots.style import DARK, FAINT, INK, finish, panels, styled

MARKERS = "osD^vP*X"
MAX_QUERIES = 12
MAX_NAME_LENGTH = 34  # maximum number of characters of a query's name
WIDE = 12  # minor ticks are labelled if the ratio of the ends of the axis is below this number
SPREAD = 0.55  # distance from the first to the last system of a query; queries have distance 1


@styled
def error_by_query(
    errors: pd.DataFrame, headings: dict[tuple[str, str], str], title: str
) -> Figure:
    """Plot the table `errors` of an `isdp.commands.compare.run.Comparison`.

    There is one panel for each flavour and unit in `headings`, below its heading.
    """
    queries = shown_queries(errors)
    height = 1.7 + 0.42 * len(queries)
    figure, axes = panels(
        1, len(headings), (1.8 + 4.0 * len(headings), height), sharex=True, sharey=True
    )
    colours = dict(zip(dict.fromkeys(errors["system"]), cycle(DARK), strict=False))
    smallest = errors.loc[errors["rmse"] > 0, "rmse"].min()
    for axis, (group, words) in zip(axes[0], headings.items(), strict=True):
        part = errors[(errors["flavour"] == group[0]) & (errors["unit"] == group[1])]
        _draw(axis, part, queries, colours, 0.5 * smallest)
        budgets = part[["parameter", "budget"]].drop_duplicates()
        if len(budgets) == 1:  # a single budget needs no legend
            words += f", {format_budget(*budgets.iloc[0])}"
        axis.set_title(words, loc="left", fontsize=9)
    _label_errors(axes[0])
    axes[0, 0].set_yticks(range(len(queries)), [_name(*query) for query in queries])
    axes[0, 0].invert_yaxis()
    return finish(figure, title)


def shown_queries(errors: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the first pairs of query and size class in which some system has an error above 0."""
    kept = errors.groupby(["query", "size"], sort=False)["rmse"].max()
    return list(kept[kept > 0].index)[:MAX_QUERIES]


def _name(query: str, size: str) -> str:
    words = query if size == ALL else f"{query} of {size}"
    return words if len(words) <= MAX_NAME_LENGTH else words[: MAX_NAME_LENGTH - 3] + "..."


def _draw(
    axis: Axes,
    part: pd.DataFrame,
    queries: list[tuple[str, str]],
    colours: dict[str, str],
    zero: float,
) -> None:
    """Plot one panel, with errors of 0 at the place `zero` on the logarithmic axis."""
    systems = list(dict.fromkeys(part["system"]))
    budgets = list(part[["parameter", "budget"]].drop_duplicates().itertuples(index=False))
    shifts = np.linspace(-SPREAD / 2, SPREAD / 2, len(systems)) if len(systems) > 1 else [0.0]
    drawn_at_zero = False
    place = {query: row for row, query in enumerate(queries)}
    for (system, budget), rows in part.groupby(["system", "budget"], sort=False):
        number = systems.index(system)
        marker = MARKERS[[each.budget for each in budgets].index(budget) % len(MARKERS)]
        rows = rows[[key in place for key in zip(rows["query"], rows["size"], strict=True)]]
        y = [place[key] for key in zip(rows["query"], rows["size"], strict=True)]
        held = rows["rmse"].to_numpy() == 0
        drawn_at_zero = drawn_at_zero or bool(held.any())
        x = np.where(held, zero, rows["rmse"])
        axis.errorbar(
            x,
            np.array(y) + shifts[number],
            xerr=rows["rmse_error"],
            ls="",
            marker=marker,
            ms=4.5,
            color=colours[system],
            elinewidth=1,
        )
    axis.set_xscale("log")
    if drawn_at_zero:
        axis.axvline(zero, color=FAINT, lw=0.8, ls=":")
        axis.annotate(
            "exact",
            (zero, 0),
            xycoords=("data", "axes fraction"),
            xytext=(2, 3),
            textcoords="offset points",
            color=FAINT,
            fontsize=7,
        )
    axis.set_xlabel("root mean square error (persons)")
    names = [_entry(name, marker="o", color=colours[name]) for name in systems]
    if len(budgets) > 1:
        # hollow marks in another colour distinguish budgets from systems
        shapes = [
            _entry(format_budget(*each), marker=MARKERS[i % len(MARKERS)], color=INK, mfc="none")
            for i, each in enumerate(budgets)
        ]
        names = [_entry("system (colour):"), *names, _entry("budget (shape):"), *shapes]
    axis.legend(
        handles=names,
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        borderaxespad=5,  # the legend is below the label of the axis
        frameon=False,
        fontsize=8,
        ncols=1,
    )


def _entry(label: str, **style: Any) -> Line2D:
    return Line2D([], [], ls="", label=label, **style)


def _label_errors(axes: Sequence[Axes]) -> None:
    low, high = axes[0].get_xlim()
    for axis in axes:
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        few = high / low < WIDE
        axis.xaxis.set_minor_formatter((lambda value, _: f"{value:g}") if few else NullFormatter())
