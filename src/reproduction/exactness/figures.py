"""Figures that compare Markov chains with exact draws."""

import math
from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from isdp.plots.distributions import plot_overlaid_distributions
from isdp.plots.style import DARK, DRAW, FAINT, INK, finish, panels, styled

MAX_PANELS_PER_ROW = 4


def plot_exact_figures(read: Mapping[str, pd.DataFrame], params: Mapping) -> dict[str, Figure]:
    """Plot the figures of this study."""
    settings = f"{params['norm']}, epsilon = {params['epsilon']:g}"
    series = dict(list(read["sex_by_age"].groupby("series")))
    return {
        "counties": plot_county_distributions(
            read["shares"],
            read["agreement"],
            f"Noise of all counties of each state ({settings}): Markov chains and exact draws",
        ),
        "distances": plot_county_distances(
            read["distances"],
            f"{params['chains']} chains of each state from over-dispersed starts ({settings})",
        ),
        "sex_by_age": plot_overlaid_distributions(
            series["norm"],
            series["cells"],
            read["sex_by_age_agreement"],
            "Sex by age: noise of the lattice walk and of exact draws",
            {"conditional": f"conditional, epsilon = {params['sex_by_age_epsilon']:g}"},
            {"mcmc": "lattice walk"},
        ),
    }


@styled
def plot_county_distributions(pooled: pd.DataFrame, agreement: pd.DataFrame, title: str) -> Figure:
    """Plot the distribution of the noise of each state's counties, by sampler."""
    states = pooled["state"].unique()
    columns = min(MAX_PANELS_PER_ROW, len(states))
    rows = math.ceil(len(states) / columns)
    size = (2.9 * columns, 0.9 + 2.3 * rows)
    figure, axes = panels(rows, columns, size, sharey=True)
    distances = agreement.set_index(["unit", "statistic"])[["distance", "bound"]]
    for axis, state in zip(axes.flat, states, strict=False):
        own = dict(list(pooled[pooled["state"] == state].groupby("sampler")))
        axis.plot("value", "share", data=own["law"], color=INK, lw=1, label="exact distribution")
        for name, words, reach, look in (
            ("exact", "exact draws", 0.9, {"color": FAINT, "lw": 1}),
            ("mcmc", "Markov chains", 0.5, {"color": DRAW, "lw": 1.6}),
        ):
            value, share = own[name]["value"], own[name]["share"]
            axis.hlines(share, value - reach, value + reach, label=words, rasterized=True, **look)
        axis.set(yscale="log", xlim=(-60, 60), xticks=[-40, 0, 40])
        axis.set_ylim(bottom=1e-6)
        norm, cells = distances.loc[(state, "norm")], distances.loc[(state, "cells")]
        axis.set_title(
            f"{state}: distance of the norm {norm['distance']:.3f} (bound {norm['bound']:.3f}),\n"
            f"of the worst county {cells['distance']:.3f} ({cells['bound']:.3f})",
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
def plot_county_distances(curves: pd.DataFrame, title: str) -> Figure:
    """Plot the distance of each state's chains from exact draws after over-dispersed starts."""
    figure, ((axis,),) = panels(1, 1, (7.5, 4))
    for place, (state, part) in enumerate(curves.groupby("state", sort=False)):
        repeated, colour = divmod(place, len(DARK))
        look = {"color": DARK[colour], "lw": 1, "ms": 4}
        axis.plot(part["t"] + 1, part["distance"], "x:" if repeated else ".-", label=state, **look)
    axis.plot(part["t"] + 1, part["error"], color=INK, lw=1, ls="--", label="sampling error")
    axis.set(
        xscale="log",
        yscale="log",
        xlabel="sweeps + 1 at the experiment's epsilon",
        ylabel="distance of the norm from exact draws\n(Kolmogorov)",
    )
    axis.legend(ncols=3, fontsize=7.5, frameon=True)
    axis.set_title(title, loc="left")
    return finish(figure)
