"""Figures of the comparison. Each figure has one column per budget parameter."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from isdp.plots.style import DARK, DAS, DRAW, FAINT, INK, finish, panels, styled
from reproduction.comparison.experiment import (
    DEMONSTRATION_SYSTEM,
    POPULATION_CLASSES,
    SWAPPED_STATES,
)

GREEN, PURPLE, BROWN, ORANGE = "#3f8f4f", "#7a5195", "#8a6d1c", DARK[1]
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
# Systems with more constraints than the others in their column have hollow markers.
MORE_CONSTRAINED = ("conditioned noise, no count below zero", DEMONSTRATION_SYSTEM)
CONVERTED_SYSTEMS = ("integer noise", "TopDown, one pass")
PANELS = {
    "epsilon": ("pure: epsilon for one person", "systems with a pure guarantee"),
    "rho": ("zCDP: rho for one person", "systems with zero-concentrated privacy"),
    "rate": ("swap rate (no budget for one person)", "records swapped"),
}
# The labels of the vertical axis in the figure of errors, by query or share.
ERROR_ROWS = {
    "detail": "cells: root mean square\nerror (persons)",
    "total": "county totals: root mean\nsquare error (persons)",
    "Hispanic": "Hispanic share: mean absolute\nerror (percentage points)",
}
BIAS_ROWS = {
    "bias": "mean error of a cell\n(persons; linear within 1)",
    "rmse": "root mean square error\nof a cell (persons)",
}
BAR_ERRORS = 3  # Half the length of an error bar, in standard errors.
DODGE = 0.02  # The horizontal distance between systems with equal budgets, in powers of ten.
TITLE_NOTE = f"({SWAPPED_STATES}; bars: three standard errors; hollow: more constraints)"


@styled
def plot_errors(points: pd.DataFrame) -> Figure:
    """Plot the errors of every system against its budget."""
    figure, axes = panels(len(ERROR_ROWS), len(PANELS), (11.5, 9.4), sharex="col")
    for row, (name, words) in enumerate(ERROR_ROWS.items()):
        drawn = points[points["query"] == name]
        converted = drawn[drawn["system"].isin(CONVERTED_SYSTEMS)]
        converted = converted.assign(budget=converted["budget"] ** 2 / 2)
        for axis, parameter in zip(axes[row], PANELS, strict=True):
            part = drawn[drawn["parameter"] == parameter]
            for system, offset, each in _in_order(part):
                each = each.sort_values("budget")
                _line(axis, each["budget"] * 10 ** (DODGE * offset), each, "value", "error", system)
            axis.set_xscale("log")
            _budgets(axis, part, converted if parameter == "rho" else converted[:0])
            _logarithmic(axis)
        axes[row, 0].set_ylabel(words)
    _name_columns(axes, [words for words, _ in PANELS.values()], 7)
    axes[1, 2].text(
        0.5, 0.5, "invariant: no error", transform=axes[1, 2].transAxes, ha="center", color=INK
    )
    return finish(figure, f"Errors by budget; compare within one column {TITLE_NOTE}")


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


def _line(
    axis: Axes, x, points: pd.DataFrame, value: str, error: str, system: str, label: str = ""
) -> None:
    colour, marker, line = STYLES[system]
    axis.errorbar(
        x,
        points[value],
        yerr=BAR_ERRORS * points[error].fillna(0),
        color=colour,
        marker=marker,
        mfc="white" if system in MORE_CONSTRAINED else colour,
        ls=line,
        ms=5,
        lw=0.8,
        elinewidth=1.1,
        label=label or system,
    )


def _budgets(axis: Axes, part: pd.DataFrame, converted: pd.DataFrame) -> None:
    """Label the budgets, and plot systems with an epsilon at rho = epsilon^2 / 2."""
    for system, _, points in _in_order(converted):
        points = points.sort_values("budget")
        look = {"color": STYLES[system][0], "marker": STYLES[system][1], "ms": 3}
        label = f"{system}, by Bun and Steinke 2016"
        axis.plot(points["budget"], points["value"], ls=":", lw=0.9, label=label, **look)
    # Converted budgets get a second line of labels, because they may be close to other budgets.
    ticks = {budget: f"\n{budget:.3g}" for budget in sorted(set(converted["budget"]))}
    ticks |= {budget: f"{budget:.3g}" for budget in sorted(set(part["budget"]))}
    axis.set_xticks(list(ticks), list(ticks.values()))
    axis.xaxis.set_minor_formatter(NullFormatter())
    if ticks:
        margin = max(1.2, (max(ticks) / min(ticks)) ** 0.06)
        axis.set_xlim(min(ticks) / margin, max(ticks) * margin)


def _name_columns(axes, words: list[str], legend_offset: float) -> None:
    """Add a title, an axis label and a legend to each column.

    The legend is `legend_offset` font sizes below the axis.
    """
    for column, (_, title) in enumerate(PANELS.values()):
        axis = axes[-1, column]
        axes[0, column].set_title(title, loc="left")
        axis.set_xlabel(words[column])
        handles = {line.get_label(): line.lines[0] for line in axis.containers}
        named = {line.get_label(): line for line in axis.get_lines()}
        handles |= {label: line for label, line in named.items() if label[0] != "_"}
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "borderaxespad": legend_offset}
        axis.legend(handles.values(), handles, frameon=False, fontsize=7.6, **place)


@styled
def plot_bias(points: pd.DataFrame) -> Figure:
    """Plot the errors of cells by true count, at one budget for each system."""
    classes = list(points["size"].unique())
    figure, axes = panels(len(BIAS_ROWS), len(PANELS), (11.5, 7.4), sharex="col")
    for row, (column, words) in zip(axes, BIAS_ROWS.items(), strict=True):
        _by_class(row, points, column, classes)
        row[0].set_ylabel(words)
    for axis in axes[0]:
        axis.axhline(0, color=INK, lw=0.8)
        axis.set_yscale("symlog", linthresh=1)
        axis.yaxis.set_major_formatter("{x:g}")
        axis.margins(y=0.08)
    for axis in axes[1]:
        _logarithmic(axis)
    _name_columns(axes, ["true size of the cell (persons)"] * len(PANELS), 9)
    return finish(figure, f"Errors of cells by their true size {TITLE_NOTE}")


@styled
def plot_shares(points: pd.DataFrame) -> Figure:
    """Plot the mean absolute error of shares by population, at one budget for each system."""
    shown = points.groupby("share", sort=False)
    classes = [name for name in POPULATION_CLASSES if name in set(points["size"])]
    figure, axes = panels(len(shown), len(PANELS), (11.5, 2.2 + 2.3 * len(shown)), sharex="col")
    for row, (name, part) in zip(axes, shown, strict=True):
        _by_class(row, part, "mae", classes)
        row[0].set_ylabel(f"{name}\n(percentage points)")
        for axis in row:
            _logarithmic(axis)
    _name_columns(axes, ["population of the county"] * len(PANELS), 11)
    return finish(figure, f"Mean absolute errors of shares of a county's persons {TITLE_NOTE}")


def _by_class(axes, drawn: pd.DataFrame, column: str, classes: list[str]) -> None:
    for axis, parameter in zip(axes, PANELS, strict=True):
        part = drawn[drawn["parameter"] == parameter]
        for system, offset, points in _in_order(part):
            label = f"{system} ({parameter} {points['budget'].iloc[0]:.3g})"
            points = points.set_index("size").reindex(classes)
            x = [number + 0.11 * offset for number in range(len(classes))]
            _line(axis, x, points, column, f"{column}_error", system, label)
        axis.set_xticks(range(len(classes)), classes, rotation=35, ha="right")
        axis.set_xlim(-0.5, len(classes) - 0.5)
        axis.grid(axis="x", visible=False)
        for number in range(0, len(classes), 2):
            axis.axvspan(number - 0.5, number + 0.5, color="#f3f3f3", lw=0, zorder=0)


def _in_order(rows: pd.DataFrame):
    """Yield the name, the horizontal offset and the rows of each system."""
    shown = [system for system in STYLES if system in set(rows["system"])]
    for place, system in enumerate(shown):
        yield system, place - (len(shown) - 1) / 2, rows[rows["system"] == system]
