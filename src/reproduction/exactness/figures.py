"""Figures that lay the laws of Markov chains and of exact draws on top of each other."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.figure import Figure

from isdp.plots.style import DARK, DRAW, FAINT, INK, finish, panels, styled

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
    figure, axes = panels(rows, columns, (2.9 * columns, 0.9 + 2.3 * rows), sharey=True)
    for axis, state in zip(axes.flat, states, strict=False):
        part = pooled[pooled["state"] == state]
        own = dict(list(part.groupby("sampler")))
        axis.plot(own["law"]["value"], own["law"]["share"], color=INK, lw=1, label="exact law")
        for name, words, reach, look in (
            ("exact", "exact draws", 0.9, {"color": FAINT, "lw": 1}),
            ("mcmc", "Markov chains", 0.5, {"color": DRAW, "lw": 1.6}),
        ):
            value, share = own[name]["value"], own[name]["share"]
            axis.hlines(share, value - reach, value + reach, label=words, rasterized=True, **look)
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
    return finish(figure, title)


@styled
def county_distances(curves: pd.DataFrame, title: str) -> Figure:
    """Show how fast chains forget their over-dispersed starts, a line a state.

    Parameters
    ----------
    curves : DataFrame
        Columns state, t, distance and error.
    title : str
    """
    figure, ((axis,),) = panels(1, 1, (7.5, 4))
    for place, (state, part) in enumerate(curves.groupby("state", sort=False)):
        again, colour = divmod(place, len(DARK))
        axis.plot(
            part["t"] + 1,
            part["distance"],
            "x:" if again else ".-",
            color=DARK[colour],
            lw=1,
            ms=4,
            label=state,
        )
    axis.plot(part["t"] + 1, part["error"], color=INK, lw=1, ls="--", label="sampling error")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("sweeps + 1 at the experiment's epsilon")
    axis.set_ylabel("distance of the norm from exact draws\n(Kolmogorov)")
    axis.legend(ncols=3, fontsize=7.5, frameon=True)
    axis.set_title(title, loc="left")
    return finish(figure)
