"""Figures of the study of TopDown."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from isdp.plots.style import DARK, DAS, DRAW, FAINT, INK, WIDTH, finish, panels, styled
from reproduction.topdown.experiment import ALPHA

GREEN, PURPLE, LIGHT = DARK[2], DARK[4], "#6f9fd0"
BUREAU_LABEL = "Bureau, 2021-06-08"
# The colour and the marker of each system in the figures of bias and of swapping.
STYLES = {
    "Bureau": (DAS, "o"),
    "production": (DRAW, "s"),
    "production, detail with group quarters": (LIGHT, "X"),
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
# The systems in each row of the figure of counties, which have one scale.
COUNTY_SYSTEMS = (
    ("slides", "slides, total first"),
    ("production", "Bureau"),
    ("identity 4", "integer noise of county totals"),
)
BAR_ERRORS = 3  # Half the length of an error bar, in standard errors.
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
    figure, axes = panels(2, 1, (WIDTH, 7), sharex=True)
    axes = axes[:, 0]
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
        axis.grid(axis="x", visible=False)
    axes[1].set_xlabel("true size of the cell (persons)")
    axes[0].axhline(0, color=INK, lw=0.8)
    axes[0].set_ylabel("mean error (persons)")
    axes[1].set(yscale="log", ylabel="root mean square error (persons)")
    axes[1].yaxis.set_major_formatter("{x:g}")
    title = "Errors of county cells by their true size (bars: three standard errors over the runs)"
    return finish(figure, title, axes[0].containers)


@styled
def plot_slopes(trend: pd.DataFrame) -> Figure:
    """Plot the pooled slope of county errors on log population for each system.

    The slopes are means over the runs. Error bars are three standard errors over the runs or, for a
    single run, three robust standard errors. The text on the right gives the mean number of states
    with a negative slope, and with a significant negative slope.
    """
    means = trend.set_index("system")
    means = means.loc[[name for name in SLOPE_SYSTEMS if name in means.index]]
    robust = (means["pooled_slope"] / means["pooled_z_robust"]).abs()
    reach = BAR_ERRORS * means["pooled_slope_error"].fillna(robust)
    figure, ((axis,),) = panels(1, 1, (WIDTH, 1.8 + 0.42 * len(means)))
    for place, (name, row) in enumerate(means.iterrows()):
        colour = DAS if name == "Bureau" else DRAW
        look = {"fmt": "o", "color": colour, "ms": 6, "capsize": 3}
        axis.errorbar(row["pooled_slope"], place, xerr=reach[name], **look)
        words = f"{row['negative_slopes']:.3g} ({row['significant_slopes']:.3g})"
        right = axis.get_yaxis_transform()
        axis.text(1.02, place, words, transform=right, va="center")
    axis.text(1.02, -0.6, "negative\n(significant)", transform=right, va="bottom", fontsize=8)
    axis.axvline(0, color=INK, lw=0.8)
    axis.set_xscale("symlog", linthresh=1)
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set_xlabel("pooled slope on log population\n(persons; linear within 1, log beyond)")
    axis.set(xlim=(min(-2, 1.5 * means["pooled_slope"].min()), 2), ylim=(len(means) - 0.4, -0.6))
    labels = [f"{_format_label(name)}\n({_runs(means['runs'][name])})" for name in means.index]
    axis.set_yticks(range(len(means)), labels, fontsize=8)
    axis.grid(axis="y", visible=False)
    states = int(means["states"].max())
    title = f"Slopes of the errors of county populations in {states} states\n"
    title += f"right: states with a negative slope (of them with p < {ALPHA}); bars: three s.e."
    return finish(figure, title)


@styled
def plot_counties(table: pd.DataFrame, state: str) -> Figure:
    """Plot the errors of one state's county populations, with one panel per system."""
    part = table[table["state"] == state]
    ran = set(part["system"])
    rows = [row for row in COUNTY_SYSTEMS if ran & set(row)]
    size = WIDTH, 0.6 + 2.3 * len(rows)
    figure, axes = panels(len(rows), 2, size, sharex=True, sharey="row")
    for axis, name in zip(axes.flat, [name for row in rows for name in row], strict=True):
        some = part[part["system"] == name]
        if some.empty:
            axis.set_axis_off()
            continue
        colour = DAS if name == "Bureau" else DRAW
        axis.scatter(some["population"], some["error"], s=14, color=colour, alpha=0.7, lw=0)
        axis.axhline(0, color=INK, lw=0.8)
        slope, at_zero = np.polyfit(np.log(some["population"]), some["error"], 1)
        ends = some["population"].agg(["min", "max"])
        line = at_zero + slope * np.log(ends)
        axis.plot(ends, line, color=INK, lw=1, ls="--", label=f"slope {slope:+.2f}")
        axis.set_xscale("log")
        axis.tick_params(labelleft=True)
        axis.set_title(_format_label(name), loc="left", fontsize=9)
        axis.margins(y=0.15)
        axis.legend(frameon=False, loc="best")
    for axis in axes[:, 0]:
        axis.set_ylabel("error (persons)")
    for axis in axes[-1]:
        axis.set_xlabel("population of the county")
    return finish(figure, f"Errors of the county populations of {state}: a row has one scale")


@styled
def plot_swapping(trace: pd.DataFrame, sizes: pd.DataFrame) -> Figure:
    """Plot the trace of swapping in the errors of the demonstration data and of TopDown."""
    ran = set(trace["system"])
    ours = [name for name in STYLES if name.startswith("production") and name in ran]
    shown = [*(["Bureau"] if "Bureau" in ran else []), *(ours or ["identity 4"])]
    labels = {name: _format_label(name) for name in shown}
    figure, (axes,) = panels(1, 2, (WIDTH, 4.2))
    trace = trace.assign(group=trace["group"].str.capitalize())
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
    axes[0].set_title("by distance from the state's share", loc="left", fontsize=9)
    axes[0].tick_params("x", rotation=30)
    axes[1].tick_params("x", rotation=40)
    axes[1].set(yscale="log", ylabel="root mean square error (persons)")
    axes[1].set_xlabel("population of the county, from")
    axes[1].set_title("by size of the county", loc="left", fontsize=9)
    words = {"hispanic": "Hispanic counts", "adult": "counts of adults"}
    kinds = [
        Line2D([], [], color=INK, ls=line, label=words[group]) for group, line in lines.items()
    ]
    axes[1].legend(handles=kinds, frameon=False, loc="upper left")
    title = "Errors of groups of persons (left: bars of three robust standard errors)"
    return finish(figure, title, axes[0].containers)


@styled
def plot_noise(table: pd.DataFrame, conversions: Sequence[str]) -> Figure:
    """Plot the ratio of the Gaussian to the Laplace variance, by epsilon and conversion."""
    deltas = table.groupby("delta", sort=False)
    figure, (axes,) = panels(1, len(deltas), (WIDTH, 4), sharey=True)
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
    axes[0].text(0.9, 0.97, "below: Gaussian smaller", va="top", fontsize=8)
    title = "Variance of an identity query: Gaussian divided by Laplace noise"
    return finish(figure, title, axes[-1].get_lines()[: len(looks) + 1])
