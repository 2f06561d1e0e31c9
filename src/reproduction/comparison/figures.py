"""Figures of the comparison: error against each budget in its own panel, bias, and shares."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from isdp.plots.style import DAS, DRAW, FAINT, INK, finish, panels, styled
from reproduction.comparison.experiment import BUREAU, POPULATIONS

GREEN, PURPLE, BROWN = "#3f8f4f", "#7a5195", "#8a6d1c"
# colour, marker and line of each system, in the order in which readers see them
STYLES = {
    "integer noise": (DRAW, "o", "-"),
    "K-norm noise": (FAINT, "x", "-"),
    "projected Laplace noise": (FAINT, "+", "--"),
    "conditioned noise, no count below zero": (PURPLE, "D", "-"),
    "TopDown, one pass": (GREEN, "^", "-"),
    "integer Gaussian noise": (DRAW, "s", "--"),
    "projected Gaussian noise": (FAINT, "*", "--"),
    "TopDown, production": (GREEN, "v", "--"),
    BUREAU: (DAS, "P", "none"),
    "permutation swapping": (BROWN, "h", "-"),
}
BY_THEOREM = ("integer noise", "TopDown, one pass")
PANELS = {
    "epsilon": ("pure: epsilon for one person", "systems with a pure guarantee"),
    "rho": ("zCDP: rho for one person", "systems with zero-concentrated privacy"),
    "rate": ("swap rate (no budget for one person)", "records swapped"),
}
# what is drawn in each row: table, query or share, column, and the axis' words
ROWS = {
    "detail": ("errors", "rmse", "cells: root mean square\nerror (persons)"),
    "total": ("errors", "rmse", "county totals: root mean\nsquare error (persons)"),
    "Hispanic": ("shares", "mae", "Hispanic share: mean absolute\nerror (percentage points)"),
}


@styled
def errors(errors: pd.DataFrame, shares: pd.DataFrame, scope: str) -> Figure:
    """Draw error against each system's own budget, a column for each flavour.

    Parameters
    ----------
    errors, shares : DataFrame
        From `reproduction.comparison.tables.collected`.
    scope : str
        Of the counties in which errors are measured.
    """
    figure, axes = panels(len(ROWS), len(PANELS), (11.5, 9.4), sharey="row", sharex="col")
    drawn = error_points(errors, shares, scope)
    for row, name in enumerate(ROWS):
        for column, (parameter, (axis_words, title)) in enumerate(PANELS.items()):
            axis = axes[row, column]
            part = drawn[(drawn["query"] == name) & (drawn["parameter"] == parameter)]
            _curves(axis, part)
            if parameter == "rho":
                _by_theorem(axis, drawn[drawn["query"] == name])
            if row == 0:
                axis.set_title(title, loc="left")
            if row == len(ROWS) - 1:
                axis.set_xlabel(axis_words)
        axes[row, 0].set_ylabel(ROWS[name][2])
    for axis in axes[-1]:
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2), "borderpad": 0}
        axis.legend(frameon=False, fontsize=7.6, **place)
    axes[1, 2].text(
        0.5, 0.5, "held: no error", transform=axes[1, 2].transAxes, ha="center", color=INK
    )
    return finish(figure, "Three flavours, three scales: a point may be compared within its panel")


def error_points(errors: pd.DataFrame, shares: pd.DataFrame, scope: str) -> pd.DataFrame:
    """List the points of `errors`: query, system, parameter, budget, value.

    Errors of 0 are left out, as no logarithmic axis shows them.
    """
    tables = {
        "errors": errors.rename(columns={"query": "of"}),
        "shares": shares.rename(columns={"share": "of"}),
    }
    parts = []
    for name, (table, column, _) in ROWS.items():
        rows = tables[table]
        rows = rows[(rows["scope"] == scope) & (rows["of"] == name) & (rows["size"] == "all")]
        part = rows[["system", "parameter", "budget"]].assign(query=name, value=rows[column])
        parts.append(part[part["value"] > 1e-9])
    return pd.concat(parts, ignore_index=True)


def _curves(axis: Axes, part: pd.DataFrame) -> None:
    for system, (colour, marker, line) in STYLES.items():
        points = part[part["system"] == system].sort_values("budget")
        if len(points):
            axis.plot(
                points["budget"],
                points["value"],
                color=colour,
                marker=marker,
                ls=line,
                ms=5,
                lw=1.1,
                label=system,
            )
    axis.set_xscale("log")
    axis.set_yscale("log")
    budgets = sorted(set(part["budget"]))
    axis.set_xticks(budgets, [f"{budget:.3g}" for budget in budgets])
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.yaxis.set_major_formatter("{x:g}")


def _by_theorem(axis: Axes, part: pd.DataFrame) -> None:
    """Draw pure systems where their epsilon puts them as zCDP: rho = epsilon^2 / 2."""
    for system in BY_THEOREM:
        points = part[part["system"] == system].sort_values("budget")
        if len(points):
            look = {
                "color": STYLES[system][0],
                "marker": STYLES[system][1],
                "ms": 3.5,
                "mfc": "none",
            }
            label = f"{system}, by Bun and Steinke 2016"
            axis.plot(
                points["budget"] ** 2 / 2, points["value"], ls=":", lw=0.9, label=label, **look
            )


@styled
def bias(errors: pd.DataFrame, chosen: Mapping[str, float], scope: str) -> Figure:
    """Draw the mean error of cells by their true size, one budget a system.

    Parameters
    ----------
    errors : DataFrame
        From `reproduction.comparison.tables.error_table`.
    chosen : mapping from parameter to budget
    scope : str
    """
    drawn = bias_points(errors, chosen, scope)
    classes = list(dict.fromkeys(drawn["size"]))
    figure, axes = panels(1, 2, (11.5, 5.6))
    for axis, column in zip(axes[0], ("bias", "rmse"), strict=True):
        for place, (system, points) in enumerate(_in_order(drawn)):
            colour, marker, _ = STYLES[system]
            points = points.set_index("size").reindex(classes)
            x = [number + 0.07 * (place - 4) for number in range(len(classes))]
            look = {"color": colour, "marker": marker, "ms": 4.5, "lw": 0.8}
            reach = 3 * points[f"{column}_error"].fillna(0)
            label = f"{system}{_at(points)}"
            axis.errorbar(x, points[column], yerr=reach, elinewidth=0.9, label=label, **look)
        axis.set_xticks(range(len(classes)), classes, rotation=30, ha="right")
        axis.set_xlabel("true size of the cell (persons)")
        axis.grid(axis="x", visible=False)
    axes[0, 0].axhline(0, color=INK, lw=0.8)
    axes[0, 0].set_yscale("symlog", linthresh=1)
    axes[0, 0].set_ylabel("mean error (persons; linear within 1)\nwith three standard errors")
    axes[0, 1].set_yscale("log")
    axes[0, 1].set_ylabel("root mean square error (persons)")
    axes[0, 0].margins(y=0.08)
    title = "Counts that are never below zero are biased; noise that may fall below zero is not"
    return _over_legend(figure, title, 0.34)


def bias_points(errors: pd.DataFrame, chosen: Mapping[str, float], scope: str) -> pd.DataFrame:
    """List the rows of `bias`: cells by true size, at the budget chosen for each parameter."""
    rows = errors[
        (errors["scope"] == scope) & (errors["query"] == "detail") & (errors["size"] != "all")
    ]
    return _at_budgets(rows, chosen)


@styled
def shares(shares: pd.DataFrame, chosen: Mapping[str, float], scope: str) -> Figure:
    """Draw the mean error of shares by the county's population, one budget a system.

    Parameters
    ----------
    shares : DataFrame
        From `reproduction.comparison.tables.share_table`.
    chosen : mapping from parameter to budget
    scope : str
    """
    drawn = share_points(shares, chosen, scope)
    names = list(dict.fromkeys(drawn["share"]))
    classes = [name for name in POPULATIONS if name in set(drawn["size"])]
    figure, axes = panels(1, len(names), (11.5, 5.4), sharey=True)
    for axis, name in zip(axes[0], names, strict=True):
        for system, points in _in_order(drawn[drawn["share"] == name]):
            colour, marker, _ = STYLES[system]
            points = points.set_index("size").reindex(classes)
            label = f"{system}{_at(points)}"
            look = {"color": colour, "marker": marker, "ms": 4.5, "lw": 0.9}
            axis.plot(range(len(classes)), points["mae"], label=label, **look)
        axis.set_xticks(range(len(classes)), classes, rotation=35, ha="right")
        axis.set_title(name, loc="left")
        axis.set_yscale("log")
        axis.grid(axis="x", visible=False)
    axes[0, 0].yaxis.set_major_formatter("{x:g}")
    axes[0, 0].set_ylabel("mean absolute error of the share\n(percentage points)")
    return _over_legend(figure, "Shares of a county's people, by the county's population", 0.36)


def _over_legend(figure: Figure, title: str, below: float) -> Figure:
    """Finish a figure over one legend of all its panels, which takes that share of the height."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, fontsize=8, loc="lower center", ncols=3)
    finish(figure, title)
    figure.subplots_adjust(bottom=below)
    return figure


def share_points(shares: pd.DataFrame, chosen: Mapping[str, float], scope: str) -> pd.DataFrame:
    """List the rows of `shares`: by population, at the budget chosen for each parameter."""
    return _at_budgets(shares[(shares["scope"] == scope) & (shares["size"] != "all")], chosen)


def _at_budgets(rows: pd.DataFrame, chosen: Mapping[str, float]) -> pd.DataFrame:
    return rows[rows["budget"] == rows["parameter"].map(chosen)].reset_index(drop=True)


def _in_order(rows: pd.DataFrame):
    """Give each system with its rows, in the order of `STYLES`."""
    for system in STYLES:
        part = rows[rows["system"] == system]
        if len(part):
            yield system, part


def _at(points: pd.DataFrame) -> str:
    """Say at which budget a system was run."""
    row = points.dropna(subset="budget").iloc[0]
    return f" ({row['parameter']} {row['budget']:.3g})"
