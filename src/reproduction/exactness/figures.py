"""Figures that lay the laws of Markov chains and of exact draws on top of each other."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from isdp.plots.style import DRAW, FAINT, INK, styled

STATES_IN_A_ROW = 4


@styled
def county_laws(pooled: pd.DataFrame, agreement: pd.DataFrame, title: str) -> Figure:
    """Lay the noise of all counties of a state over exact draws and the exact law, a panel a state.

    Parameters
    ----------
    pooled : DataFrame
        Columns state, sampler (mcmc, exact, law), value and share.
    agreement : DataFrame
        From `isdp.diagnostics.agreement.agreement_rows`, with states in the column unit.
    title : str
    """
    states = list(dict.fromkeys(pooled["state"]))
    columns = min(STATES_IN_A_ROW, len(states))
    rows = math.ceil(len(states) / columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(2.9 * columns, 0.9 + 2.3 * rows), squeeze=False, sharey=True
    )
    for axis, state in zip(axes.flat, states, strict=False):
        part = pooled[pooled["state"] == state]
        for name, words, style in (
            ("law", "exact law", {"color": INK, "lw": 1}),
            ("exact", "exact draws", {"color": FAINT, "marker": "x", "ls": "", "ms": 3}),
            ("mcmc", "Markov chains", {"color": DRAW, "marker": ".", "ls": "", "ms": 3}),
        ):
            own = part[part["sampler"] == name]
            axis.plot(own["value"], own["share"], label=words, **style)
        axis.set_yscale("log")
        axis.set_xlim(-60, 60)
        axis.set_xticks([-40, 0, 40])
        axis.set_ylim(bottom=1e-6)
        worst = agreement[agreement["unit"] == state].set_index("statistic")
        axis.set_title(
            f"{state}: distance of the norm {worst.loc['norm', 'distance']:.3f} "
            f"(bound {worst.loc['norm', 'bound']:.3f}),\nof the worst county "
            f"{worst.loc['cells', 'distance']:.3f} ({worst.loc['cells', 'bound']:.3f})",
            fontsize=7.5,
            loc="left",
        )
    for axis in axes[:, 0]:
        axis.set_ylabel("share of the draws")
    for axis in axes[-1]:
        axis.set_xlabel("noise of a county (persons)")
    for axis in axes.flat[len(states) :]:
        axis.set_axis_off()
    axes[0, 0].legend(frameon=True, fontsize=7, loc="lower center")
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    figure.tight_layout()
    return figure


@styled
def county_distances(curves: pd.DataFrame, title: str) -> Figure:
    """Show how fast chains forget their over-dispersed starts, a line a state.

    Parameters
    ----------
    curves : DataFrame
        Columns state, t, distance and error.
    title : str
    """
    figure, axis = plt.subplots(figsize=(7.5, 4))
    states = list(curves.groupby("state", sort=False))
    for colour, (state, part) in zip(sns.husl_palette(len(states), l=0.5), states, strict=True):
        axis.plot(
            part["t"] + 1, part["distance"], lw=1, marker=".", ms=4, color=colour, label=state
        )
    axis.plot(part["t"] + 1, part["error"], color=INK, lw=1, ls="--", label="sampling error")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("sweeps + 1 at the experiment's epsilon")
    axis.set_ylabel("distance of the norm from exact draws\n(Kolmogorov)")
    axis.legend(ncols=3, fontsize=7.5, frameon=True)
    axis.set_title(title, loc="left")
    figure.tight_layout()
    return figure
