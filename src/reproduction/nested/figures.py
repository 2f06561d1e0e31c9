"""Figures that compare nested and crossing noise with TopDown at the published budget."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from isdp.plots.style import DARK, DAS, DRAW, FAINT, INK, finish, panels, styled
from reproduction.nested.systems import (
    CROSSING,
    DEMONSTRATION,
    NESTED,
    PLAIN,
    PRODUCTION,
    PROJECTED,
    SAME_QUERIES,
    published_rho,
)
from reproduction.nested.tables import CURVE, SHOWN_QUERIES

GREEN = "#3f8f4f"
# The colour and the marker of each system. Systems without negative counts have hollow markers.
STYLES = {
    PLAIN: (FAINT, "s"),
    NESTED: (DRAW, "o"),
    CROSSING: (DARK[4], "D"),
    PROJECTED: (DARK[4], "d"),
    SAME_QUERIES: (GREEN, "^"),
    PRODUCTION: (GREEN, "v"),
    DEMONSTRATION: (DAS, "P"),
}
HOLLOW = (PROJECTED, SAME_QUERIES, PRODUCTION, DEMONSTRATION)
LABELLED_SHARES = (0.02, 0.1, 0.3, 0.6, 0.9)
BAR_ERRORS = 3  # Half the length of an error bar, in standard errors.
BARS = "bars: three standard errors; hollow: no negative counts"
BUDGET = f"at rho = {float(published_rho()):.4g} per person"


@styled
def plot_frontier(points: pd.DataFrame) -> Figure:
    """Plot the error of a county's total against the error of a cell, by the share of the total.

    `points` is the table of `reproduction.nested.tables.trace_frontier`.
    """
    figure, axes = panels(1, 1, (7.2, 5.0))
    axis, curve = axes[0, 0], points[points["system"] == CURVE]
    axis.plot(curve["cell"], curve["total"], color=DRAW, lw=1.2, label=f"{CURVE} (closed form)")
    for share in LABELLED_SHARES:
        row = curve.iloc[int((curve["share"] - share).abs().argmin())]
        axis.annotate(
            f"{row['share']:.0%}",
            (row["cell"], row["total"]),
            xytext=(-3, -4),
            textcoords="offset points",
            color=DRAW,
            fontsize=8,
            ha="right",
            va="top",
        )
    for system, rows in _by_system(points):
        axis.plot(rows["cell"], rows["total"], ls="", ms=7, label=system, **_look(system))
    for side in (axis.xaxis, axis.yaxis):
        _logarithmic(side)
    axis.set_xlabel("error of a county's cell (persons, logarithmic axis)")
    axis.set_ylabel("error of a county's population (persons, logarithmic axis)")
    title = "percentages on the curve:\nbudget share of the county's total"
    axis.legend(frameon=True, fontsize=8, title=title, title_fontsize=8)
    return finish(figure, f"Root mean square errors {BUDGET} (hollow: no negative counts)")


@styled
def plot_errors(points: pd.DataFrame) -> Figure:
    """Plot the root mean square error of each query by system (table nested_errors)."""
    figure, axes = panels(1, 1, (7.2, 4.8))
    axis, queries = axes[0, 0], list(SHOWN_QUERIES)
    for place, (system, rows) in enumerate(_by_system(points)):
        x = rows["query"].map(queries.index) + 0.1 * (place - 3)
        bars = BAR_ERRORS * rows["rmse_error"].fillna(0)
        axis.errorbar(x, rows["rmse"], bars, ls="", ms=6, label=system, **_look(system))
    axis.set_xticks(range(len(queries)), [query.replace(" ", "\n") for query in queries])
    _stripes(axis, len(queries))
    _logarithmic(axis.yaxis)
    axis.set_ylabel("root mean square error (persons, logarithmic axis)")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, frameon=False, fontsize=8)
    return finish(figure, f"Errors by query {BUDGET} ({BARS})")


@styled
def plot_sizes(points: pd.DataFrame) -> Figure:
    """Plot the mean and the root mean square error of county cells by true size."""
    figure, axes = panels(2, 1, (7.2, 6.6), sharex=True)
    sizes = list(dict.fromkeys(points["size"]))
    for place, (system, rows) in enumerate(_by_system(points)):
        x = rows["size"].map(sizes.index) + 0.1 * (place - 3)
        for axis, column in zip(axes[:, 0], ("mean", "rmse"), strict=True):
            bars = BAR_ERRORS * rows[f"{column}_error"].fillna(0)
            axis.errorbar(x, rows[column], bars, ls="", ms=5, label=system, **_look(system))
    mean, root = axes[:, 0]
    mean.axhline(0, color=INK, lw=0.8)
    mean.set_yscale("symlog", linthresh=0.1, linscale=0.5)
    mean.yaxis.set_major_formatter("{x:g}")
    mean.margins(y=0.08)
    mean.set_ylabel("mean error (persons,\nlogarithmic beyond 0.1)")
    root.set_ylabel("root mean square error\n(persons, logarithmic)")
    _logarithmic(root.yaxis)
    for axis in (mean, root):
        axis.set_xticks(range(len(sizes)), sizes)
        _stripes(axis, len(sizes))
    root.set_xlabel("true size of the cell (persons)")
    root.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, frameon=False, fontsize=8)
    return finish(figure, f"Errors of county cells by true size {BUDGET}\n({BARS})")


def _by_system(points: pd.DataFrame):
    for system in STYLES:
        rows = points[points["system"] == system]
        if len(rows):
            yield system, rows


def _look(system: str) -> dict:
    colour, marker = STYLES[system]
    face = "white" if system in HOLLOW else colour
    return {"color": colour, "marker": marker, "mfc": face, "mec": colour}


def _stripes(axis: Axes, number: int) -> None:
    """Shade every second group, and leave no margin at the sides."""
    for place in np.arange(0, number, 2):
        axis.axvspan(place - 0.5, place + 0.5, color="#f3f3f3", lw=0, zorder=0)
    axis.set_xlim(-0.5, number - 0.5)
    axis.grid(False, axis="x")


def _logarithmic(side) -> None:
    side.axes.set(**{f"{side.axis_name}scale": "log"})
    side.set_major_locator(LogLocator(subs=(1, 2, 3, 5, 7)))
    side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    side.set_minor_formatter(NullFormatter())
