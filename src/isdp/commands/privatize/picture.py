"""The figure of a noisy table: for which counts the margin of error is large.

The figure depends on the noisy table and on the distribution of the noise only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from isdp.arrays import FloatArray, IntArray
from isdp.io.wording import counted
from isdp.plots.style import DAS, DRAW, FAINT, INK, finish, message_figure, panels, styled

MAX_POINTS = 2000
MIN_RATIO = 1.5  # minimum ratio of the counts of two labelled sums
THRESHOLDS = (1.0, 0.5, 0.1)  # margins of error as shares of the count
MAX_SHARE = 10.0  # the upper end of the axis of shares
TITLE = "For which counts is the margin of error large?"


class NoisySum(NamedTuple):
    """The name of a sum, its noisy total, and the 95 % limit of its noise (nan if unknown)."""

    name: str
    total: int
    limit: float


@styled
def plot_relative_margins(
    noisy: IntArray,
    limits: FloatArray | None,
    sums: Sequence[NoisySum],
    held: IntArray,
    warning: str = "",
) -> Figure:
    """Plot the 95 % margin of error as a share of the count against the count.

    Parameters
    ----------
    noisy : int array, shape (cells,)
    limits : float array, shape (cells,), or None
        The 95 % limit of the noise of each cell, or None if it is unknown. The limit of a
        determined cell is 0.
    held : int array
        The exact totals, which are marked on the lower edge.
    warning : str
        Text before the title.
    """
    title = f"{warning}\n{TITLE}" if warning else TITLE
    if limits is None or not limits.any():
        return message_figure(title, "The size of the noise is not known.")
    figure, ((axis,),) = panels(1, 1, (7.0, 4.8))
    largest = limits.max()
    right = max(noisy.max(), held.max(initial=1), *(s.total for s in sums), largest / 0.1)
    left = max(1.0, largest / MAX_SHARE)
    axis.set(xscale="log", yscale="log", xlim=(left, right * 2))
    _draw_cells(axis, noisy, limits)
    lowest = _draw_sums(axis, sums)
    bottom = min(0.03, 0.6 * lowest, 0.6 * largest / max(1, noisy.max()))
    axis.set_ylim(bottom, MAX_SHARE)
    _draw_exact(axis, held)
    _draw_thresholds(axis, noisy, limits)
    axis.set_yticks([x for x in (0.001, 0.01, 0.1, 0.5, 1, 10) if x >= bottom], minor=False)
    axis.yaxis.set_major_formatter(lambda share, _: f"{100 * share:,.10g} %")
    axis.xaxis.set_major_formatter(lambda count, _: f"{count:,.0f}")
    axis.minorticks_off()
    axis.set_xlabel("noisy count or sum (persons)")
    axis.set_ylabel("95 % margin of error / count")
    axis.set_title(title, loc="left")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False)
    return finish(figure)


def _draw_cells(axis: Axes, noisy: IntArray, limits: FloatArray) -> None:
    """Plot the lines of constant margins, and cells at evenly spaced ranks of their counts."""
    for limit in (limits[limits > 0].min(), limits.max()):
        axis.axline((limit, 1), (10 * limit, 0.1), color=DRAW, lw=0.8, alpha=0.6)
    rows = np.flatnonzero((noisy > 0) & (limits > 0))
    rows = rows[np.argsort(noisy[rows], kind="stable")]
    kept = rows[np.linspace(0, len(rows) - 1, min(len(rows), MAX_POINTS)).round().astype(int)]
    label = "cell with a count above 0"
    if len(kept) < len(rows):
        label += f" ({len(kept):,} of {len(rows):,} shown)"
    shares = limits[kept] / noisy[kept]
    axis.scatter(noisy[kept], shares, s=26, color=DRAW, alpha=0.7, lw=0, zorder=3, label=label)


def _draw_sums(axis: Axes, sums: Sequence[NoisySum]) -> float:
    """Plot the sums with noise, label the largest, and return the smallest share."""
    shown = [each for each in sums if each.total > 0 and each.limit > 0]
    if not shown:
        return 1.0
    x, y = [each.total for each in shown], [each.limit / each.total for each in shown]
    axis.scatter(x, y, marker="D", s=34, color=DAS, lw=0, zorder=4, label="sum with noise")
    last = np.inf
    for each in sorted(shown, key=lambda one: -one.total):
        if each.total * MIN_RATIO < last:  # labels do not overlap
            last = each.total
            place = each.total, each.limit / each.total
            style: dict[str, Any] = {"color": DAS, "fontsize": 8}
            axis.annotate(each.name[:24], place, (5, 4), textcoords="offset points", **style)
    return min(y)


def _draw_exact(axis: Axes, held: IntArray) -> None:
    totals = np.unique(held[held > 0])
    kept = totals[np.linspace(0, len(totals) - 1, min(len(totals), MAX_POINTS)).round().astype(int)]
    if not len(kept):
        return
    low, place = np.full(len(kept), 0.025), axis.get_xaxis_transform()
    style: dict[str, Any] = {
        "marker": "^",
        "s": 32,
        "color": INK,
        "lw": 0,
        "label": "exact total: no error",
    }
    axis.scatter(kept, low, transform=place, **style)


def _draw_thresholds(axis: Axes, noisy: IntArray, limits: FloatArray) -> None:
    """Plot a line at each threshold, and state which counts and how many cells exceed it."""
    ends = dict.fromkeys((limits[limits > 0].min(), limits.max()))
    lines = ["The margin is over"]
    for share in THRESHOLDS:
        axis.axhline(share, color=FAINT, lw=1, ls="--")
        number = int((limits > share * np.maximum(noisy, 0)).sum())
        below = " to ".join(f"{limit / share:,.0f}" for limit in ends)
        cells = f"{number:,} of {counted(len(noisy), 'cell')}"
        lines.append(f"{100 * share:.0f} % below a count of {below} ({cells})")
    place: dict[str, Any] = {"transform": axis.transAxes, "ha": "right", "va": "top"}
    axis.text(0.985, 0.97, "\n".join(lines), color=INK, fontsize=9, linespacing=1.5, **place)
