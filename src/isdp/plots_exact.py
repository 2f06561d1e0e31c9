"""Figures that lay the laws of Markov chains and of exact draws on top of each other."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from isdp.plotting import DAS, DRAW, FAINT, INK, styled

STATES_IN_A_ROW = 4
EXACT = "exact"


@styled
def laws(
    norms: pd.DataFrame,
    quantiles: pd.DataFrame,
    agreement: pd.DataFrame,
    title: str,
    descriptions: dict[str, str],
    samplers: dict[str, str],
) -> Figure:
    """Lay norm and cells of several samplers over exact draws, a row a law.

    Parameters
    ----------
    norms, quantiles : DataFrame
        From `isdp.agreement.norm_histogram` and `quantile_table`, with the column norm.
    agreement : DataFrame
        From `isdp.agreement.agreement_rows`, with the columns norm and sampler.
    title : str
    descriptions : dict
        Words for each law, by its name in the column norm.
    samplers : dict
        Words for each sampler but the exact one, which is "exact".
    """
    figure, axes = plt.subplots(
        len(descriptions),
        2,
        figsize=(11, 0.8 + 2.9 * len(descriptions)),
        squeeze=False,
        width_ratios=(1, 1.6),
    )
    colours = dict(zip(samplers, (DRAW, DAS, "#3a7d44"), strict=False))
    for (left, right), (law, words) in zip(axes, descriptions.items(), strict=True):
        _draw_norms(left, norms[norms["norm"] == law], samplers, colours)
        _draw_quantiles(right, quantiles[quantiles["norm"] == law], samplers, colours)
        left.set_ylabel(f"share of the draws\n{words}", fontsize=8)
        right.set_ylabel("noise (persons)")
        rows = agreement[agreement["norm"] == law]
        for axis, statistic in ((left, "norm"), (right, "cells")):
            axis.set_title(_distances(rows, statistic, samplers), loc="left", fontsize=8)
    axes[-1, 0].set_xlabel("norm of the noise")
    axes[-1, 1].set_xlabel("cell (5, 25, 50, 75 and 95 % quantiles)")
    axes[0, 0].legend(frameon=False)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    figure.tight_layout()
    return figure


def _distances(rows: pd.DataFrame, statistic: str, samplers: dict[str, str]) -> str:
    """Say each sampler's distance from the exact draws, and what chance would leave."""
    parts = []
    for name, words in samplers.items():
        row = rows[(rows["sampler"] == name) & (rows["statistic"] == statistic)]
        if len(row):
            own = row.iloc[0]
            parts.append(f"{words}: {own['distance']:.3f} (bound {own['bound']:.3f})")
    what = "distance of the norm" if statistic == "norm" else "distance of the worst cell"
    return f"{what} from exact draws\n{'; '.join(parts)}"


def _draw_norms(axis, norms: pd.DataFrame, samplers: dict[str, str], colours: dict) -> None:
    exact = norms[norms["sampler"] == EXACT]
    axis.bar(
        exact["low"],
        exact["share"],
        width=exact["high"] - exact["low"],
        align="edge",
        color="#d5d5d5",
        edgecolor="white",
        linewidth=0.3,
        label="exact draws",
    )
    for name, words in samplers.items():
        part = norms[norms["sampler"] == name]
        if len(part):
            edges = [*part["low"], part["high"].iloc[-1]]
            axis.stairs(part["share"], edges, color=colours[name], lw=1.1, label=words)
    axis.set_ylim(bottom=0)
    axis.grid(False, axis="x")


def _draw_quantiles(axis, quantiles: pd.DataFrame, samplers: dict[str, str], colours: dict) -> None:
    levels = [column for column in quantiles if column.startswith("q")]
    exact = quantiles[quantiles["sampler"] == EXACT]
    position = exact["cell"] + 1
    axis.bar(
        position,
        exact["q75"] - exact["q25"],
        bottom=exact["q25"],
        width=0.8,
        color="#d5d5d5",
        linewidth=0,
    )
    for level in levels:
        axis.hlines(exact[level], position - 0.4, position + 0.4, color=INK, lw=0.8)
    shifts = np.linspace(-0.2, 0.2, len(samplers)) if len(samplers) > 1 else [0.0]
    for (name, _), shift in zip(samplers.items(), shifts, strict=True):
        part = quantiles[quantiles["sampler"] == name]
        for level in levels:
            axis.plot(part["cell"] + 1 + shift, part[level], ".", color=colours[name], ms=3.5)
    names = exact["name"].astype(str)
    turned = len(exact) > 20 or names.str.len().max() > 3
    axis.set_xticks(position, names, rotation=90 if turned else 0, fontsize=6.5)
    axis.set_xlim(0.3, len(exact) + 0.7)
    axis.grid(False, axis="x")


@styled
def county_laws(pooled: pd.DataFrame, agreement: pd.DataFrame, title: str) -> Figure:
    """Lay the noise of all counties of a state over exact draws and the exact law, a panel a state.

    Parameters
    ----------
    pooled : DataFrame
        Columns state, sampler (mcmc, exact, law), value and share.
    agreement : DataFrame
        From `isdp.agreement.agreement_rows`, with states in the column norm.
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
        worst = agreement[agreement["norm"] == state].set_index("statistic")
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
