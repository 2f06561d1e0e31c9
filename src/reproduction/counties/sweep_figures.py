"""The figure that compares the scenarios of a sweep."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from isdp.plots.style import DAS, DRAW, FAINT, INK, panels, styled
from reproduction.counties.sweep import RHAT

NORMS = {"l1": DRAW, "l2": "#b8741a"}
LINES = {"exact law": "-", "continuous law": "--"}
SHAPES = {"l1": ("o", 7), "l2": ("D", 4.4)}  # one within the other where they coincide
MARKS = {"yes": "full", "no": "none", "frozen": "none"}
COLUMNS = 4
LOWEST = 1e-3  # an R-hat closer to 1 is drawn here


@styled
def scenarios(shown: pd.DataFrame, title: str) -> Figure:
    """Compare scenarios against epsilon: a column of panels a state, a colour a norm.

    Parameters
    ----------
    shown : DataFrame
        From `sweep.figure_table`. What a logarithmic axis cannot show is marked at its lower
        edge: noise that is zero in every draw. With the DAS errors of several vintages there is a
        panel of them; with one vintage's a line beside the noise.
    title : str
    """
    states = list(dict.fromkeys(shown["state"]))
    vintages = sorted(shown.loc[shown["series"] == "das", "vintage"].astype(str).unique())
    kinds = [(_draw_sd, 2.7), (_draw_share, 1.7), (_draw_rhat, 1.5)]
    if len(vintages) > 1:
        kinds.append((_draw_das, 1.5))
    columns = min(COLUMNS, len(states))
    blocks = -(-len(states) // columns)
    heights = [height for _, height in kinds] * blocks
    size = max(6.5, 1.2 + 3.3 * columns), 1.3 + 1.12 * sum(heights)
    figure, axes = panels(len(heights), columns, size, height_ratios=heights)
    figure.set_layout_engine("constrained")
    chains = shown[shown["series"] == "chains"]
    least, most = chains["epsilon"].min(), chains["epsilon"].max()
    room = max(1.3, (most / least) ** 0.06)
    ends = least / room, most * room
    for place in range(blocks * columns):
        block, column = divmod(place, columns)
        block_axes = axes[block * len(kinds) : (block + 1) * len(kinds), column]
        if place >= len(states):
            for axis in block_axes:
                axis.set_axis_off()
            continue
        part = shown[shown["state"] == states[place]]
        for axis, (draw, _) in zip(block_axes, kinds, strict=True):
            if draw is not _draw_das:
                axis.set_xscale("log")
                axis.set_xlim(ends)
                _tick_epsilons(axis, chains["epsilon"], draw is _draw_rhat)
            draw(axis, part, column == 0, len(vintages) == 1)
        block_axes[0].set_title(states[place], loc="left", weight="bold")
    _scale_sd(axes[:: len(kinds)], shown)
    for kind in range(1, len(kinds)):
        _share_y(axes[kind :: len(kinds)])
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    legend = {"loc": "outside lower left", "ncols": 3 if columns > 1 else 2, "frameon": False}
    figure.legend(handles=_handles(shown, vintages), **legend)
    figure.align_ylabels()
    return figure


def _tick_epsilons(axis, epsilons: pd.Series, named: bool) -> None:
    """Put a tick at each epsilon, and its number where there is room for it."""
    values = np.sort(epsilons.unique())
    apart = np.log(values.max() / values.min()) / 9 if len(values) > 1 else 0
    labels, last = [], -np.inf
    for value in values:
        room = np.log(value) - last >= apart
        labels.append(f"{value:g}" if named and room else "")
        last = np.log(value) if room else last
    axis.set_xticks(values, labels)
    axis.minorticks_off()
    if named:
        axis.set_xlabel("epsilon, per unit of the norm")


def _scale_sd(axes, shown: pd.DataFrame) -> None:
    """One scale for all, from what was drawn or measured: a law may fall far below it."""
    values = shown.loc[shown["series"].isin(["chains", "das"]) & (shown["sd"] > 0), "sd"]
    low, high = (values.min() / 2.5, values.max() * 2.5) if len(values) else (0.1, 10)
    narrow = high / low < 300
    for axis in axes.ravel():
        axis.set_ylim(low, high)
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if narrow else (1,), numticks=12))


def _share_y(axes) -> None:
    used = [axis for axis in axes.ravel() if axis.axison]
    low = min(axis.get_ylim()[0] for axis in used)
    high = max(axis.get_ylim()[1] for axis in used)
    for axis in used:
        axis.set_ylim(low, high)


def _points(axis, part: pd.DataFrame, values: pd.Series) -> None:
    chains = part["series"] == "chains"
    for (norm, convergence), own in part[chains].groupby(["norm", "convergence"]):
        axis.plot(
            own["epsilon"],
            values[own.index],
            SHAPES[norm][0],
            ms=SHAPES[norm][1],
            color=NORMS[norm],
            fillstyle=MARKS[convergence],
            zorder=3,
        )


def _laws(axis, part: pd.DataFrame, column: str) -> None:
    for (norm, series), own in part[part["series"].isin(LINES)].groupby(["norm", "series"]):
        axis.plot(own["epsilon"], own[column], LINES[series], color=NORMS[norm], lw=1.1)


def _draw_sd(axis, part: pd.DataFrame, first: bool, one_vintage: bool) -> None:
    axis.set_yscale("log")
    seen = part.where(part["sd"] > 0)
    _laws(axis, seen.dropna(subset=["series"]), "sd")
    _points(axis, part, seen["sd"])
    still = part[(part["series"] == "chains") & (part["sd"] == 0)]
    for norm, own in still.groupby("norm"):
        axis.plot(
            own["epsilon"],
            np.full(len(own), 0.03),
            "v",
            color=NORMS[norm],
            ms=SHAPES[norm][1] + 1,
            transform=axis.get_xaxis_transform(),
            clip_on=False,
        )
    das = part.loc[(part["series"] == "das") & (part["sd"] > 0), "sd"]
    for value in das if one_vintage else ():
        axis.axhline(value, color=DAS, lw=1.1, ls=":")
    axis.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
    if first:
        axis.set_ylabel("sd of the noise\n(persons)")


def _draw_share(axis, part: pd.DataFrame, first: bool, one_vintage: bool) -> None:
    _laws(axis, part, "p_abs_le_30")
    _points(axis, part, part["p_abs_le_30"])
    axis.set_ylim(-0.06, 1.06)
    axis.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    if first:
        axis.set_ylabel("share within\n[-30, 30]")


def _draw_rhat(axis, part: pd.DataFrame, first: bool, one_vintage: bool) -> None:
    axis.set_yscale("log")
    _points(axis, part, (part["rhat_max"] - 1).clip(lower=LOWEST))
    axis.axhline(RHAT - 1, color=INK, lw=0.9, ls=":")
    axis.set_ylim(LOWEST / 1.6, max(0.03, 1.6 * (part["rhat_max"].max() - 1)))
    ticks = [LOWEST, 0.01, 0.1, 1, 10, 100]
    axis.set_yticks(ticks, ["≤ 1.001", "1.01", "1.1", "2", "11", "101"])
    axis.minorticks_off()
    axis.set_ylim(LOWEST / 1.6, max(0.03, 1.6 * (part["rhat_max"].max() - 1)))
    if part["rhat_max"].notna().sum() == 0:
        words = "no R-hat: nothing moves"
        axis.text(0.5, 0.6, words, transform=axis.transAxes, ha="center", color=FAINT)
    if first:
        axis.set_ylabel("worst R-hat\nof a county")


def _draw_das(axis, part: pd.DataFrame, first: bool, one_vintage: bool) -> None:
    own = part[part["series"] == "das"].sort_values("vintage")
    axis.plot(own["vintage"].astype(str), own["sd"], "o", color=DAS, ms=5, clip_on=False)
    axis.set_ylim(bottom=0)
    axis.margins(x=0.25)
    axis.set_xlabel("vintage of the DAS errors")
    if first:
        axis.set_ylabel("DAS errors,\nroot mean square\n(persons)")


def _handles(shown: pd.DataFrame, vintages: list[str]) -> list[Line2D]:
    """Legend entries of what the figure holds, and of nothing else."""
    chains = shown[shown["series"] == "chains"]
    words = {"exact law": "exact law of a county", "continuous law": "law without rounding"}
    handles = []
    for norm, (shape, size) in SHAPES.items():
        if (chains["norm"] == norm).any():
            look = {"color": NORMS[norm], "marker": shape, "ms": size, "ls": ""}
            handles.append(Line2D([], [], **look, label=f"{norm} norm, chains"))
    for (series, norm), _ in shown[shown["series"].isin(LINES)].groupby(["series", "norm"]):
        label = f"{norm}: {words[series]}"
        handles.append(Line2D([], [], color=NORMS[norm], ls=LINES[series], lw=1.1, label=label))
    if (chains["convergence"] != "yes").any():
        label = "not converged, or frozen"
        handles.append(
            Line2D([], [], color=INK, marker="o", fillstyle="none", ls="", ms=6, label=label)
        )
    if (chains["sd"] == 0).any():
        label = "zero in every draw (off the scale)"
        handles.append(Line2D([], [], color=INK, marker="v", ls="", ms=6, label=label))
    handles.append(Line2D([], [], color=INK, ls=":", lw=0.9, label=f"bar for R-hat: {RHAT}"))
    if len(vintages) == 1:
        label = f"errors of the Census DAS, {vintages[0]} (root mean square)"
        handles.append(Line2D([], [], color=DAS, ls=":", lw=1.1, label=label))
    return handles
