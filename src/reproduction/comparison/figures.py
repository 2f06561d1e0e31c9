"""Figures of the comparison. Each figure has one group of systems per budget parameter."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from isdp.plots.style import DARK, DAS, DRAW, FAINT, INK, WIDTH, finish, panels, styled
from reproduction.comparison.experiment import (
    DEMONSTRATION_SYSTEM,
    POPULATION_CLASSES,
    SWAPPED_STATES,
)

GREEN, PURPLE, BROWN, ORANGE = DARK[2], DARK[4], DARK[8], DARK[1]
MAGENTA, TEAL = DARK[6], DARK[9]
# The colour, marker and line style of each system, in the order of the legend.
STYLES = {
    "integer noise": (DRAW, "o", "-"),
    "K-norm noise": (ORANGE, "s", "-"),
    "projected Laplace noise": (FAINT, "p", "--"),
    "conditioned noise, no count below zero": (PURPLE, "D", "-"),
    "TopDown, one pass": (GREEN, "^", "-"),
    "integer Gaussian noise": (DRAW, "s", "--"),
    "projected Gaussian noise": (FAINT, "p", "--"),
    "nested noise": (MAGENTA, "o", "--"),
    "crossing noise": (TEAL, "D", "--"),
    "TopDown, production": (GREEN, "v", "--"),
    DEMONSTRATION_SYSTEM: (DAS, "P", "none"),
    "permutation swapping": (BROWN, "h", "-"),
}
# Systems with more constraints than the others in their group have hollow markers.
MORE_CONSTRAINED = ("conditioned noise, no count below zero", DEMONSTRATION_SYSTEM)
# The words for a budget of each kind, by its value.
GROUPS = {
    "epsilon": "pure guarantee, epsilon {:.3g} for one person",
    "rho": "zero-concentrated privacy, rho {:.3g} for one person",
    "rate": "records swapped, rate {:.3g} (no budget for one person)",
}
# The labels of the horizontal axis in the figure of errors, by query or share.
ERROR_COLUMNS = {
    "detail": "cells\n(persons)",
    "total": "county totals\n(persons)",
    "Hispanic": "Hispanic share\n(percentage points)",
}
BIAS_COLUMNS = {
    "bias": "mean error of a cell\n(persons; linear within 1)",
    "rmse": "root mean square error\nof a cell (persons)",
}
SHOWN_SHARES = ("Hispanic", "Black alone")
BAR_ERRORS = 3  # Half the length of an error bar, in standard errors.
DODGE = 0.11  # The horizontal distance between systems in one class.
TITLE_NOTE = f"{SWAPPED_STATES}; bars: three standard errors; hollow: more constraints"


@styled
def plot_errors(points: pd.DataFrame, budgets: Mapping[str, float]) -> Figure:
    """Plot the errors of every system at one budget of each kind, which `budgets` gives."""
    shown = points[points["budget"] == points["parameter"].map(budgets)]
    labels, places, headers = [], {}, []
    for parameter, words in GROUPS.items():
        systems = [name for name, *_ in _in_order(shown[shown["parameter"] == parameter])]
        headers += [len(labels)] * bool(systems)
        labels += [words.format(budgets[parameter])] * bool(systems)
        for system in systems:
            places[system] = len(labels)
            labels.append(system)
    size = WIDTH, 1.7 + 0.27 * len(labels)
    figure, (axes,) = panels(1, len(ERROR_COLUMNS), size, sharey=True)
    for axis, (query, words) in zip(axes, ERROR_COLUMNS.items(), strict=True):
        for system, place in places.items():
            part = shown[(shown["system"] == system) & (shown["query"] == query)]
            bars = BAR_ERRORS * part["error"].fillna(0)
            y = [place] * len(part)
            axis.errorbar(part["value"], y, xerr=bars, ls="", label=system, **_look(system))
            if part.empty:
                transform = axis.get_yaxis_transform()
                axis.text(0.5, place, "exact", transform=transform, ha="center", va="center")
        for header in headers:
            axis.axhspan(header - 0.5, header + 0.5, color="#ececec", lw=0, zorder=0)
        axis.set_xscale("log")
        axis.xaxis.set_major_locator(LogLocator(subs=(1,) if query == "total" else (1, 3)))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.10g}"))
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.set_xlabel(words)
        axis.grid(False, axis="y")
    names = ["" if place in headers else label for place, label in enumerate(labels)]
    axes[0].set_yticks(range(len(labels)), names, fontsize=8)
    for header in headers:
        look = {"fontsize": 8, "weight": "bold", "va": "center", "ha": "left", "zorder": 5}
        axes[0].annotate(
            labels[header], (-1.35, header), xycoords=("axes fraction", "data"), **look
        )
    axes[0].set_ylim(len(labels) - 0.5, -0.5)
    axes[0].tick_params(axis="y", length=0)
    title = "Root mean square errors (share: mean absolute); compare within a group only"
    return finish(figure, f"{title}\n{TITLE_NOTE}")


def _logarithmic(axis: Axes) -> None:
    """Set a logarithmic vertical axis that covers at least a factor of ten."""
    axis.set_yscale("log")
    if not axis.has_data():
        axis.set_yticks([])
        return
    low, high = axis.get_ylim()
    if high < 10 * low:
        middle = (low * high) ** 0.5
        axis.set_ylim(middle / 10**0.5, middle * 10**0.5)
    if high < 100 * low:
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.10g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())


def _look(system: str) -> dict:
    colour, marker, _ = STYLES[system]
    face = "white" if system in MORE_CONSTRAINED else colour
    return {"color": colour, "marker": marker, "mfc": face, "ms": 5, "elinewidth": 1.1}


@styled
def plot_bias(points: pd.DataFrame) -> Figure:
    """Plot the errors of cells by true count, at one budget for each system."""
    classes = list(points["size"].unique())
    figure, axes = _by_class({name: (points, name) for name in BIAS_COLUMNS}, classes)
    for axis in axes[-1]:
        axis.set_xlabel("true size of the cell (persons)")
    for row in axes:
        for axis, words in zip(row, BIAS_COLUMNS.values(), strict=True):
            axis.set_ylabel(words)
        row[0].axhline(0, color=INK, lw=0.8)
        row[0].margins(y=0.1)
        row[0].set_yscale("symlog", linthresh=1)
        row[0].yaxis.set_major_formatter("{x:g}")
        _logarithmic(row[1])
    return finish(figure, f"Errors of cells by their true size; {TITLE_NOTE}")


@styled
def plot_shares(points: pd.DataFrame) -> Figure:
    """Plot the mean absolute error of shares by population, at one budget for each system."""
    classes = [name for name in POPULATION_CLASSES if name in set(points["size"])]
    shares = [name for name in SHOWN_SHARES if name in set(points["share"])]
    parts = {name: (points[points["share"] == name], "mae") for name in shares}
    figure, axes = _by_class(parts, classes)
    for axis in axes[-1]:
        axis.set_xlabel("population of the county")
    for row in axes:
        for axis, name in zip(row, shares, strict=True):
            _logarithmic(axis)
            axis.set_ylabel(f"{name}: mean absolute\nerror (percentage points)")
    title = "Errors of shares of a county's persons, by its population"
    return finish(figure, f"{title}\n{TITLE_NOTE}")


def _by_class(
    parts: Mapping[str, tuple[pd.DataFrame, str]], classes: Sequence[str]
) -> tuple[Figure, np.ndarray]:
    """Plot values by class, with one row of panels for each kind of budget.

    The panels of a column have the same axes. `parts` maps columns to their rows and the column of
    their values.
    """
    known = pd.concat([rows for rows, _ in parts.values()])
    kinds = [parameter for parameter in GROUPS if parameter in set(known["parameter"])]
    size = WIDTH, 1.2 + 2.9 * len(kinds)
    figure, axes = panels(len(kinds), len(parts), size, sharex=True, sharey="col")
    for row, parameter in zip(axes, kinds, strict=True):
        for axis, (rows, column) in zip(row, parts.values(), strict=True):
            own = rows[rows["parameter"] == parameter]
            for system, offset, points in _in_order(own):
                points = points.set_index("size").reindex(classes)
                x = [number + DODGE * offset for number in range(len(classes))]
                bars = BAR_ERRORS * points[f"{column}_error"].fillna(0)
                look = {"ls": STYLES[system][2], "lw": 0.8, "label": system, **_look(system)}
                axis.errorbar(x, points[column], yerr=bars, **look)
            axis.set_xticks(range(len(classes)), classes, rotation=35, ha="right")
            axis.set_xlim(-0.5, len(classes) - 0.5)
            axis.grid(axis="x", visible=False)
            for number in range(0, len(classes), 2):
                axis.axvspan(number - 0.5, number + 0.5, color="#f3f3f3", lw=0, zorder=0)
        budget = known.loc[known["parameter"] == parameter, "budget"].iloc[0]
        row[0].legend(
            title=GROUPS[parameter].format(budget),
            alignment="left",
            loc="lower left",
            bbox_to_anchor=(-0.2, 1),
            ncols=2,
            frameon=False,
            fontsize=8,
        )
        row[0].get_legend().set_in_layout(False)
        row[0].set_title("\n" * (2 + len(own["system"].unique()) // 2), fontsize=9)
    return figure, axes


def _in_order(rows: pd.DataFrame):
    """Yield the name, the horizontal offset and the rows of each system."""
    shown = [system for system in STYLES if system in set(rows["system"])]
    for place, system in enumerate(shown):
        yield system, place - (len(shown) - 1) / 2, rows[rows["system"] == system]
