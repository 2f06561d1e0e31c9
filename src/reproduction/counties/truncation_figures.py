"""The figure of what it takes for truncation at zero to bite."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from isdp.plots.style import DARK, DAS, FAINT, INK, finish, panels, styled

NAMED_STATES = 6


@styled
def truncation(
    curves: pd.DataFrame, needed: pd.DataFrame, landmarks: pd.DataFrame, epsilon: float
) -> Figure:
    """Show what it takes for truncation at zero to bite.

    Parameters
    ----------
    curves : DataFrame
        From `reproduction.counties.truncation.truncation_curves`.
    needed : DataFrame
        From `reproduction.counties.truncation.needed_populations`.
    landmarks : DataFrame
        A few counties to mark: columns county, state and population.
    epsilon : float
        The experiment's.
    """
    figure, ((left, right),) = panels(1, 2, (10.5, 4.4))
    order = curves.groupby("state")["expected"].max().sort_values(ascending=False)
    first = curves[curves["expected"] >= 1e-3].groupby("state")["epsilon"].max()
    named = first.sort_values(ascending=False).index[:NAMED_STATES]
    for state in order.index.difference(named):
        part = curves[(curves["state"] == state) & (curves["expected"] > 0)]
        left.plot(part["epsilon"], 1000 * part["expected"], color="#cccccc", lw=0.7, zorder=1)
    for state, colour in zip(named, DARK, strict=False):
        part = curves[(curves["state"] == state) & (curves["expected"] > 0)]
        left.plot(part["epsilon"], 1000 * part["expected"], color=colour, lw=1.4, label=state)
    left.axhline(1, color=FAINT, lw=0.8)
    left.set_ylim(1e-6, 1e6)
    left.set_ylabel("counties truncated in 1000 releases (expected)")
    left.set_title("each state, under its total", loc="left", fontsize=9)
    left.legend(title="first to bite (others grey)", title_fontsize=8, frameon=True, ncols=2)
    for chance, part in needed.groupby("chance"):
        style = "-" if chance == needed["chance"].max() else "--"
        right.plot(
            part["epsilon"],
            np.maximum(part["population"], 0.5),
            style,
            color=INK,
            label=f"chance of truncation {chance:g}",
        )
    for _, mark in landmarks.iterrows():
        right.axhline(mark["population"], color=FAINT, lw=0.7)
        right.annotate(
            f"{mark['county']}, {mark['state']}: {mark['population']:,}",
            (1.0, mark["population"]),
            xycoords=("axes fraction", "data"),
            xytext=(-3, 2),
            textcoords="offset points",
            fontsize=7.5,
            ha="right",
            va="bottom",
            color="#555555",
        )
    right.set_ylabel("population of the county")
    right.set_title("one county: below the line, truncation bites", loc="left", fontsize=9)
    right.legend(loc="lower left", frameon=True)
    for axis in (left, right):
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.axvline(epsilon, color=DAS, lw=1, ls=":")
        axis.set_xlabel("epsilon, per unit of the l1 norm")
        axis.annotate(
            f"paper: {epsilon:g}",
            (epsilon, 1.0),
            xycoords=("data", "axes fraction"),
            ha="center",
            va="bottom",
            color=DAS,
            fontsize=8,
        )
    return finish(
        figure,
        "Truncating released county counts at zero (exact law of the l1 generalized Laplace "
        "mechanism)",
    )
