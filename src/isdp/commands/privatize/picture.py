"""The figure of a noisy table, which shows the counts and the spread of their noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

from isdp.arrays import IntArray
from isdp.commands.shared.margins import BOUNDED, EXACT, SIMULATED, NoiseSpread
from isdp.commands.shared.table import Table
from isdp.plots.style import BOX, DRAW, FAINT, INK, finish, panels, styled

MAX_POINTS = 2000
MAX_NAMES = 40
METHODS = {EXACT: "exact", BOUNDED: "at most", SIMULATED: "simulated"}


def picture_of(
    table: Table, noisy: IntArray, spread: Callable[[IntArray], NoiseSpread | None], title: str
) -> Figure:
    """Draw noisy counts with the spread of their noise, which ``spread(rows)`` returns."""
    rows = shown_rows(noisy)
    names = [table.name(row)[:40] for row in rows] if len(rows) <= MAX_NAMES else None
    return ranked_counts(noisy[rows], len(noisy), spread(rows), names, title)


def shown_rows(noisy: IntArray) -> IntArray:
    """Return the rows to show, every k-th row of a long table, sorted by their noisy counts."""
    picked = np.linspace(0, len(noisy) - 1, min(len(noisy), MAX_POINTS)).round().astype(int)
    rows: IntArray = np.argsort(noisy, kind="stable")[picked]
    return rows


@styled
def ranked_counts(
    noisy: IntArray, cells: int, spread: NoiseSpread | None, names: list[str] | None, title: str
) -> Figure:
    """Draw noisy counts in increasing order.

    Parameters
    ----------
    noisy : int array
        The noisy counts of the rows from `shown_rows`.
    names : list of str, optional
        Names of the shown cells, or None if they are too many to read.
    """
    ranks = np.linspace(1, cells, len(noisy))
    figure, ((axis,),) = panels(1, 1, (9.5, 4.8 if names else 4.2))
    few = len(noisy) <= MAX_NAMES
    if spread is not None:
        sd, label = spread.sd, f"2 standard deviations of the noise, {METHODS[spread.method]}"
        if few:
            axis.errorbar(ranks, noisy, 2 * sd, fmt="none", ecolor=BOX, lw=5, label=label)
        else:
            axis.fill_between(ranks, noisy - 2 * sd, noisy + 2 * sd, color=BOX, lw=0, label=label)
    style = {"marker": "o", "ms": 4, "ls": ""} if few else {"lw": 1.2}
    axis.plot(ranks, noisy, color=DRAW, label="noisy count", **style)
    axis.axhline(0, color=INK, lw=0.8)
    if noisy[-1] > 1000:
        axis.set_yscale("symlog", linthresh=100)
    axis.set_xlabel("cell, by rank of its noisy count")
    axis.set_ylabel("noisy count (persons)")
    if names:
        axis.set_xticks(ranks, names, rotation=90, fontsize=7)
        axis.grid(False, axis="x")
    if len(noisy) < cells:
        words = f"{len(noisy):,} of {cells:,} cells"
        axis.text(0.99, 0.03, words, transform=axis.transAxes, ha="right", color=FAINT)
    axis.set_title(title, loc="left")
    axis.legend(loc="upper left", frameon=False)
    return finish(figure)
