"""Figures of the study of TopDown."""

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from isdp.plots.style import BOX, DAS, DRAW, FAINT, INK, finish, panels, styled
from reproduction.topdown.experiment import ALPHA

GREEN, PURPLE = "#3f8f4f", "#7a5195"
BUREAU_LABEL = "Bureau, 2021-06-08"
# The colour and the marker of each system in the figures of bias and of swapping.
STYLES = {
    "Bureau": (DAS, "o"),
    "production": (DRAW, "s"),
    "production, detail with group quarters": (BOX, "X"),
    "identity 4": (GREEN, "^"),
    "identity 4, negatives allowed": (FAINT, "v"),
    "integer noise, state cells held": (PURPLE, "D"),
}
# The systems in the figure of slopes, from top to bottom.
SLOPE_SYSTEMS = (
    *("identity 4", "identity 4, negatives allowed", "identity 4, four cells"),
    *("slides", "slides, negatives allowed", "slides, total first"),
    *("production", "production, detail with group quarters", "Bureau"),
    "integer noise of county totals",
)
COUNTY_SYSTEMS = (
    *("slides", "slides, total first", "production", "identity 4", "Bureau"),
    "integer noise of county totals",
)
MAX_LABEL_LENGTH = 24  # The maximum number of characters in a line of an axis label.


def _format_label(system: str) -> str:
    if system == "Bureau":
        return BUREAU_LABEL
    return system if system.startswith("integer noise") else f"TopDown, {system}"


def _runs(number: float) -> str:
    return f"{number:.0f} run{'s' if number > 1 else ''}"


def _draw_by_class(
    axis: Axes,
    table: pd.DataFrame,
    labels: Mapping[str, str],
    columns: tuple[str, str],
    error: str = "",
    **options,
) -> None:
    """Plot a value of each system by class. Error bars are three standard errors."""
    by, value = columns
    classes = list(dict.fromkeys(table[by]))
    for place, (name, label) in enumerate(labels.items()):
        colour, marker = STYLES[name]
        part = table[table["system"] == name].set_index(by).reindex(classes)
        x = np.arange(len(classes)) + 0.1 * (place - (len(labels) - 1) / 2)
        reach = 3 * part[error].fillna(0) if error else None
        axis.errorbar(x, part[value], reach, color=colour, marker=marker, label=label, **options)
    axis.set_xticks(range(len(classes)), classes)


@styled
def plot_bias(table: pd.DataFrame) -> Figure:
    """Plot the mean and the root mean square errors of county cells by true count.

    The legend gives the number of runs. A single run has no standard error and no error bar.
    """
    figure, (axes,) = panels(1, 2, (11, 4.4))
    runs = table.groupby("system")["runs"].max()
    labels = {
        name: f"{_format_label(name)} ({_runs(runs[name])})" for name in STYLES if name in runs
    }
    if "Bureau" in labels:
        labels["Bureau"] = BUREAU_LABEL
    style = {"ms": 4.5, "lw": 0.9, "elinewidth": 1}
    _draw_by_class(axes[0], table, labels, ("cell_class", "mean"), "mean_error", **style)
    _draw_by_class(axes[1], table, labels, ("cell_class", "rmse"), "rmse_error", **style)
    for axis in axes:
        axis.tick_params("x", rotation=30)
        axis.grid(axis="x", visible=False)
    figure.supxlabel("true size of the cell (persons)", fontsize=9)
    axes[0].axhline(0, color=INK, lw=0.8)
    axes[0].set_ylabel("mean error (persons);\nbars: three standard errors over the runs")
    axes[0].set_title("Mean error: non-negative counts are biased", loc="left")
    axes[1].set(yscale="log", ylabel="root mean square error (persons)")
    axes[1].set_ylim(top=4 * table[table["system"].isin(labels)]["rmse"].max())
    axes[1].set_title("Root mean square error: smaller for small cells", loc="left")
    axes[1].legend(frameon=False, loc="upper left", fontsize=8)
    return finish(figure)


@styled
def plot_slopes(table: pd.DataFrame, trend: pd.DataFrame) -> Figure:
    """Plot the slopes of county errors on log population, with one dot per state.

    The dots are the slopes of one run. The text on the right gives means over all runs.
    """
    shown = [name for name in SLOPE_SYSTEMS if name in set(table["system"])]
    figure, ((axis,),) = panels(1, 1, (9.5, 1.2 + 0.62 * len(shown)))
    means = trend.set_index("system")
    for place, name in enumerate(shown):
        part = table[table["system"] == name].sort_values("slope")
        strong, negative = part["p"] < ALPHA, part["slope"] < 0
        height = place + np.linspace(-0.28, 0.28, len(part))
        colours = np.select([strong & negative, strong], [DAS, INK], BOX)
        axis.scatter(part["slope"], height, s=13, color=colours, lw=0, zorder=3)
        row = means.loc[name]
        axis.plot([row["pooled_slope"]] * 2, [place - 0.4, place + 0.4], color=INK, lw=1.6)
        words = f"{row['negative_slopes']:.3g} negative, {row['significant_slopes']:.3g} of them"
        words += f" significant\npooled slope {row['pooled_slope']:.3g}"
        words += f", z = {row['pooled_z_robust']:.1f}\n({_runs(row['runs'])})"
        right = axis.get_yaxis_transform()
        axis.text(1.01, place, words, transform=right, va="center", fontsize=7.5)
    axis.axvline(0, color=INK, lw=0.8)
    axis.set_xscale("symlog", linthresh=1)
    limit = 1.3 * table[table["system"].isin(shown)]["slope"].abs().max()
    unit = "persons per unit; linear within 1, log beyond"
    xlabel = f"slope of county errors on log population ({unit})"
    axis.set(xlim=(-limit, limit), ylim=(len(shown) - 0.4, -0.6), xlabel=xlabel)
    labels = [textwrap.fill(_format_label(name), MAX_LABEL_LENGTH) for name in shown]
    axis.set_yticks(range(len(shown)), labels)
    axis.grid(axis="y", visible=False)
    axis.set_title(
        f"Slopes in {int(means['states'].max())} states, one dot per state, sorted, of the "
        "first run\n"
        f"red: negative with p < {ALPHA}; black: positive with p < {ALPHA}\n"
        "bars and numbers: means of runs; z: pooled slope over its robust standard error",
        loc="left",
    )
    return finish(figure)


@styled
def plot_counties(table: pd.DataFrame, state: str) -> Figure:
    """Plot the errors of one state's county populations, with one panel per system."""
    part = table[table["state"] == state]
    shown = [name for name in COUNTY_SYSTEMS if name in set(part["system"])]
    rows = -(-len(shown) // 2)
    figure, axes = panels(rows, 2, (10.5, 2.5 * rows), sharex=True)
    for axis, name in zip(axes.flat, shown, strict=False):
        some = part[part["system"] == name]
        colour = DAS if name == "Bureau" else DRAW
        axis.scatter(some["population"], some["error"], s=14, color=colour, alpha=0.7, lw=0)
        axis.axhline(0, color=INK, lw=0.8)
        slope, at_zero = np.polyfit(np.log(some["population"]), some["error"], 1)
        ends = some["population"].agg(["min", "max"])
        line = at_zero + slope * np.log(ends)
        axis.plot(ends, line, color=INK, lw=1, ls="--", label=f"slope {slope:+.2f}")
        axis.set(xscale="log", ylabel="error (persons)")
        axis.set_title(_format_label(name), loc="left", fontsize=9)
        axis.margins(y=0.15)
        axis.legend(frameon=False, loc="best", fontsize=8)
    for axis in axes.flat[len(shown) :]:
        axis.set_axis_off()
    for axis in axes.flat[max(0, len(shown) - 2) : len(shown)]:
        axis.set_xlabel("population of the county")
        axis.tick_params(labelbottom=True)
    return finish(
        figure, f"Errors of the county populations of {state}: each panel has its own scale"
    )


@styled
def plot_swapping(trace: pd.DataFrame, sizes: pd.DataFrame) -> Figure:
    """Plot the trace of swapping in the errors of the demonstration data and of TopDown."""
    ran = set(trace["system"])
    ours = [name for name in STYLES if name.startswith("production") and name in ran]
    shown = [*(["Bureau"] if "Bureau" in ran else []), *(ours or ["identity 4"])]
    labels = {name: _format_label(name) for name in shown}
    figure, (axes,) = panels(1, 2, (11, 4))
    per_thousand = trace.assign(**1000 * trace[["slope", "robust_error"]])
    _draw_by_class(axes[0], per_thousand, labels, ("group", "slope"), "robust_error", ls="")
    sizes = sizes.assign(from_population=sizes["from_population"].map("{:,}".format))
    lines = {"hispanic": "-", "adult": ":"}
    for group, line in lines.items():
        some = sizes[sizes["group"] == group]
        _draw_by_class(axes[1], some, labels, ("from_population", "rmse"), ls=line, ms=4, lw=1)
    axes[0].axhline(0, color=INK, lw=0.8)
    ylabel = "slope: persons of error per 1000 persons\nbeyond the state's share"
    axes[0].set(xlabel="group of persons", ylabel=ylabel)
    axes[0].set_title("Errors against distance from the state's share (bars: ±3 s.e.)", loc="left")
    axes[0].legend(frameon=False, fontsize=8)
    axes[1].tick_params("x", rotation=30)
    axes[1].set(yscale="log", ylabel="root mean square error (persons)")
    axes[1].set_xlabel("population of the county, from")
    axes[1].set_title("Hispanic and adult counts, by size of the county", loc="left")
    kinds = [Line2D([], [], color=INK, ls=line, label=group) for group, line in lines.items()]
    axes[1].legend(handles=kinds, frameon=False, fontsize=8, loc="upper left")
    return finish(figure)


@styled
def plot_noise(table: pd.DataFrame, conversions: Sequence[str]) -> Figure:
    """Plot the ratio of the Gaussian to the Laplace variance, by epsilon and conversion."""
    deltas = table.groupby("delta", sort=False)
    figure, (axes,) = panels(1, len(deltas), (10.5, 3.6), sharey=True)
    looks = dict(zip(conversions, ((DAS, "o"), (DRAW, "s"), (GREEN, "^")), strict=True))
    for axis, (delta, part) in zip(axes, deltas, strict=True):
        for name, (colour, marker) in looks.items():
            ratio = part[name] / part["laplace"]
            axis.plot(part["epsilon"], ratio, color=colour, marker=marker, ms=4, lw=1, label=name)
        ratio = part["printed_gaussian"] / part["printed_laplace"]
        axis.plot(part["epsilon"], ratio, "x", color=INK, ms=7, label="printed")
        axis.axhline(1, color=INK, lw=0.8, ls="--")
        axis.set_title(f"delta = {delta:g}", loc="left")
        axis.set(xlabel="epsilon", xticks=part["epsilon"])
    axes[0].set_ylabel("Gaussian variance / Laplace variance")
    axes[0].set_ylim(bottom=0.6)
    axes[-1].legend(frameon=False, loc="upper right", fontsize=8)
    axes[0].text(1, 0.97, "below this line the Gaussian variance is smaller", va="top", fontsize=8)
    return finish(figure)
