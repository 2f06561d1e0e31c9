"""Figures of TopDown: bias by size of cell, slopes, a state's counties, swapping, noise."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from isdp.plots.style import BOX, DAS, DRAW, FAINT, INK, finish, panels, styled
from reproduction.topdown.experiment import ALPHA

GREEN, PURPLE = "#3f8f4f", "#7a5195"
BUREAU_LABEL = "Bureau, 2021-06-08"
# colour and marker of each system in the figures of bias and swapping
STYLES = {
    "Bureau": (DAS, "o"),
    "production": (DRAW, "s"),
    "production, detail with group quarters": (BOX, "X"),
    "identity 4": (GREEN, "^"),
    "identity 4, negatives allowed": (FAINT, "v"),
    "integer noise, state cells held": (PURPLE, "D"),
}
# systems in the figure of slopes, from the top down
SLOPES = (
    "identity 4",
    "identity 4, negatives allowed",
    "identity 4, four cells",
    "slides",
    "slides, negatives allowed",
    "slides, total first",
    "production",
    "production, detail with group quarters",
    "Bureau",
    "integer noise of county totals",
)
COUNTIES = (
    "slides",
    "slides, total first",
    "production",
    "identity 4",
    "Bureau",
    "integer noise of county totals",
)
MAX_LETTERS = 24  # of a line beside the vertical axis


def label_of(system: str) -> str:
    """Name a system of the tables in legends and titles."""
    if system == "Bureau":
        return BUREAU_LABEL
    return system if system.startswith("integer noise") else f"TopDown, {system}"


@styled
def bias(table: pd.DataFrame) -> Figure:
    """Show mean and root mean square errors of county cells by their true size.

    The legend says of how many runs; of one there is no standard error, and no bar.

    Parameters
    ----------
    table : DataFrame
        From `reproduction.topdown.tables.bias_table`.
    """
    figure, (axes,) = panels(1, 2, (11, 4.4))
    classes = list(dict.fromkeys(table["cell_class"]))
    shown = [name for name in STYLES if name in set(table["system"])]
    for place, name in enumerate(shown):
        (colour, marker), words = STYLES[name], label_of(name)
        part = table[table["system"] == name].set_index("cell_class").reindex(classes)
        x = np.arange(len(classes)) + 0.09 * (place - (len(shown) - 1) / 2)
        label = words if name == "Bureau" else f"{words} ({_runs(part['runs'].max())})"
        style = {"color": colour, "marker": marker, "ms": 4.5, "lw": 0.9, "label": label}
        reach = 3 * part["mean_error"].fillna(0)
        axes[0].errorbar(x, part["mean"], yerr=reach, elinewidth=1, **style)
        axes[1].plot(x, part["rmse"], **style)
    for axis in axes:
        axis.set_xticks(range(len(classes)), classes, rotation=30, ha="right")
        axis.set_xlabel("true size of the cell (persons)")
        axis.grid(axis="x", visible=False)
    axes[0].axhline(0, color=INK, lw=0.8)
    axes[0].set_ylabel("mean error (persons);\nbars: three standard errors over the runs")
    axes[0].set_title("Non-negative counts are biased, cell by cell", loc="left")
    axes[1].set_yscale("log")
    axes[1].set_ylabel("root mean square error (persons)")
    axes[1].set_title("and nearer to the truth where cells are small", loc="left")
    axes[1].legend(frameon=False, loc="upper left", fontsize=8)
    axes[1].set_ylim(top=4 * table[table["system"].isin(shown)]["rmse"].max())
    return finish(figure)


def _runs(number: float) -> str:
    return f"{number:.0f} run{'s' if number > 1 else ''}"


@styled
def slopes(table: pd.DataFrame, trend: pd.DataFrame) -> Figure:
    """Show the states' slopes of county errors on log population, system by system.

    Dots, and the counts beside them, are of one run; the means of all runs stand under the counts,
    the pooled slope with its distance from zero in robust standard errors, z.

    Parameters
    ----------
    table, trend : DataFrame
        From `reproduction.topdown.tables.collected`.
    """
    shown = [name for name in SLOPES if name in set(table["system"])]
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
        words = f"{negative.sum()} negative, {(strong & negative).sum()} of them significant"
        pooled = f"pooled slope {row['pooled_slope']:.3g}, z = {row['pooled_z_robust']:.1f}"
        if row["runs"] > 1:
            words += (
                f"\n(means of {row['runs']:.0f} runs: {row['negative_slopes']:.1f}, "
                f"{row['significant_slopes']:.1f};\n{pooled})"
            )
        else:
            words += f"\n({pooled}; one run)"
        beside = axis.get_yaxis_transform()
        axis.text(1.01, place, words, transform=beside, va="center", fontsize=7.5)
    axis.axvline(0, color=INK, lw=0.8)
    axis.set_xscale("symlog", linthresh=1)
    limit = 1.3 * table[table["system"].isin(shown)]["slope"].abs().max()
    axis.set_xlim(-limit, limit)
    axis.set_yticks(
        range(len(shown)), [textwrap.fill(label_of(name), MAX_LETTERS) for name in shown]
    )
    axis.set_ylim(len(shown) - 0.4, -0.6)
    axis.grid(axis="y", visible=False)
    axis.set_xlabel(
        "slope of county errors on log population (persons per unit; linear within 1, log beyond)"
    )
    axis.set_title(
        f"Slopes in {int(means['states'].max())} states, one dot per state, sorted downwards: "
        f"first run\nred: negative with p < {ALPHA:g}; black: positive with p < {ALPHA:g}\n"
        "bars: pooled slope, mean of runs; z: over its robust standard error",
        loc="left",
    )
    return finish(figure)


@styled
def counties(table: pd.DataFrame, state: str) -> Figure:
    """Show the errors of one state's county populations, a panel a system.

    Parameters
    ----------
    table : DataFrame
        Columns system, state, population and error (persons).
    state : str
    """
    part = table[table["state"] == state]
    shown = [name for name in COUNTIES if name in set(part["system"])]
    rows = -(-len(shown) // 2)
    figure, axes = panels(rows, 2, (10.5, 2.5 * rows), sharex=True)
    for axis, name in zip(axes.flat, shown, strict=False):
        some = part[part["system"] == name]
        colour = DAS if name == "Bureau" else DRAW
        axis.scatter(some["population"], some["error"], s=14, color=colour, alpha=0.7, lw=0)
        axis.axhline(0, color=INK, lw=0.8)
        x = np.log(some["population"])
        slope, at_zero = np.polyfit(x, some["error"], 1)
        ends = np.array([some["population"].min(), some["population"].max()])
        line = at_zero + slope * np.log(ends)
        axis.plot(ends, line, color=INK, lw=1, ls="--", label=f"slope {slope:+.2f}")
        axis.set_xscale("log")
        axis.set_title(label_of(name), loc="left", fontsize=9)
        axis.set_ylabel("error (persons)")
        axis.margins(y=0.15)
        axis.legend(frameon=False, loc="best", fontsize=8)
    for axis in axes.flat[len(shown) :]:
        axis.set_axis_off()
    for column in (0, 1):
        used = [axis for axis in axes[:, column] if axis.axison]
        if used:
            used[-1].set_xlabel("population of the county")
            used[-1].tick_params(labelbottom=True)
    return finish(
        figure, f"Errors of the county populations of {state}: each panel has its own scale"
    )


@styled
def swapping(trace: pd.DataFrame, sizes: pd.DataFrame) -> Figure:
    """Show the trace that swapping would leave in the Bureau's errors, and TopDown's beside it.

    Parameters
    ----------
    trace, sizes : DataFrame
        Of `reproduction.topdown.fingerprint.fingerprint` and `rmse_by_size`, with column system.
    """
    ran = set(trace["system"])
    ours = [name for name in STYLES if name.startswith("production") and name in ran]
    shown = [*(["Bureau"] if "Bureau" in ran else []), *(ours or ["identity 4"])]
    figure, (axes,) = panels(1, 2, (11, 4))
    groups = list(dict.fromkeys(trace["group"]))
    for place, name in enumerate(shown):
        (colour, marker), words = STYLES[name], label_of(name)
        part = trace[trace["system"] == name].set_index("group").reindex(groups)
        x = np.arange(len(groups)) + 0.12 * (place - (len(shown) - 1) / 2)
        slope = 1000 * part["slope"]
        reach = 3 * np.abs(slope / part["z_robust"])
        axes[0].errorbar(x, slope, yerr=reach, color=colour, marker=marker, ls="", label=words)
        for group, line in (("hispanic", "-"), ("adult", ":")):
            some = sizes[(sizes["system"] == name) & (sizes["group"] == group)]
            axes[1].plot(
                range(len(some)), some["rmse"], color=colour, marker=marker, ms=4, lw=1, ls=line
            )
            ticks = some["from_population"]
    axes[0].axhline(0, color=INK, lw=0.8)
    axes[0].set_xticks(range(len(groups)), groups)
    axes[0].set_xlabel("group of persons")
    axes[0].set_ylabel("slope: persons of error per 1000 persons\nbeyond the state's share")
    axes[0].set_title("Errors against distance from the state's share (bars: ±3 s.e.)", loc="left")
    axes[0].legend(frameon=False, fontsize=8)
    axes[1].set_xticks(range(len(ticks)), [f"{n:,}" for n in ticks], rotation=30, ha="right")
    axes[1].set_yscale("log")
    axes[1].set_xlabel("population of the county, from")
    axes[1].set_ylabel("root mean square error (persons)")
    axes[1].set_title("Hispanic and adult counts, by size of the county", loc="left")
    kinds = [Line2D([], [], color=INK, ls="-"), Line2D([], [], color=INK, ls=":")]
    axes[1].legend(kinds, ["hispanic", "adult"], frameon=False, fontsize=8, loc="upper left")
    return finish(figure)


@styled
def noise(table: pd.DataFrame, conversions: Sequence[str]) -> Figure:
    """Show the Gaussian variance over the Laplace one, by epsilon, delta and conversion.

    Parameters
    ----------
    table : DataFrame
        From `reproduction.topdown.noise.noise_table`.
    conversions : sequence of str
        Columns with Gaussian variances.
    """
    deltas = list(dict.fromkeys(table["delta"]))
    figure, (axes,) = panels(1, len(deltas), (10.5, 3.6), sharey=True)
    looks = dict(zip(conversions, ((DAS, "o"), (DRAW, "s"), (GREEN, "^")), strict=True))
    for axis, delta in zip(axes, deltas, strict=True):
        part = table[table["delta"] == delta]
        for name, (colour, marker) in looks.items():
            ratio = part[name] / part["laplace"]
            axis.plot(part["epsilon"], ratio, color=colour, marker=marker, ms=4, lw=1, label=name)
        ratio = part["printed_gaussian"] / part["printed_laplace"]
        axis.plot(part["epsilon"], ratio, "x", color=INK, ms=7, label="printed")
        axis.axhline(1, color=INK, lw=0.8, ls="--")
        axis.set_title(f"delta = {delta:g}", loc="left")
        axis.set_xlabel("epsilon")
        axis.set_xticks(part["epsilon"])
    axes[0].set_ylabel("Gaussian variance / Laplace variance")
    axes[0].set_ylim(bottom=0.6)
    axes[-1].legend(frameon=False, loc="upper right", fontsize=8)
    axes[0].text(1, 0.97, "below this line the Gaussian is smaller", va="top", fontsize=8)
    return finish(figure)
