"""Figures that compare Markov chains with exact draws."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from isdp.plots.distributions import plot_distribution_distances
from isdp.plots.style import DRAW, FAINT, INK, WIDTH, finish, panels, styled

SHOWN_STATE = "IL"


def plot_exact_figures(read: Mapping[str, pd.DataFrame], params: Mapping) -> dict[str, Figure]:
    """Plot the figures of this study."""
    settings = f"{params['norm']}, epsilon = {params['epsilon']:g}"
    return {
        "counties": plot_county_distributions(
            read["shares"],
            read["agreement"],
            f"noise of all counties ({settings}) by Markov chains and exact draws",
        ),
        "distances": plot_county_distances(
            read["distances"],
            f"{params['chains']} chains of each state from over-dispersed starts ({settings})",
        ),
        "sex_by_age": plot_distribution_distances(
            read["sex_by_age_agreement"],
            "Sex by age: distance of the lattice walk from exact draws",
            {"conditional": f"conditional, epsilon = {params['sex_by_age_epsilon']:g}"},
            {"mcmc": "lattice walk"},
        ),
    }


@styled
def plot_county_distributions(pooled: pd.DataFrame, agreement: pd.DataFrame, title: str) -> Figure:
    """Plot the distribution of the noise of the counties of one state, by sampler.

    The state is `SHOWN_STATE`, or the first state if the run does not have it.
    """
    states = list(pooled["state"].unique())
    state = SHOWN_STATE if SHOWN_STATE in states else states[0]
    figure, ((axis,),) = panels(1, 1, (WIDTH, 4))
    own = dict(list(pooled[pooled["state"] == state].groupby("sampler")))
    axis.plot("value", "share", data=own["law"], color=INK, lw=1, label="exact distribution")
    for name, words, reach, look in (
        ("exact", "exact draws", 0.9, {"color": FAINT, "lw": 1.2}),
        ("mcmc", "Markov chains", 0.5, {"color": DRAW, "lw": 2}),
    ):
        value, share = own[name]["value"], own[name]["share"]
        axis.hlines(share, value - reach, value + reach, label=words, rasterized=True, **look)
    axis.set(yscale="log", xlim=(-60, 60), xlabel="noise of a county (persons)")
    axis.set(ylim=(1e-6, None), ylabel="share of the draws")
    axis.legend(frameon=True, loc="lower center")
    worst = agreement.loc[(agreement["distance"] / agreement["bound"]).idxmax()]
    words = f"largest distance of all {len(states)} states, relative to its bound: {worst['unit']},"
    words += f" {worst['distance']:.3f} (bound {worst['bound']:.3f})"
    return finish(figure, f"{state}: {title}\n{words}")


@styled
def plot_county_distances(curves: pd.DataFrame, title: str) -> Figure:
    """Plot the distance of each state's chains from exact draws after over-dispersed starts.

    The state whose chains need the most sweeps is named, and the other states are grey.
    """
    figure, ((axis,),) = panels(1, 1, (WIDTH, 4.2))
    error = curves.groupby("t")["error"].max()
    above = curves[curves["distance"] > curves["error"]]
    slowest = above.loc[above["t"].idxmax(), "state"] if len(above) else curves["state"].iloc[0]
    for state, part in curves.groupby("state", sort=False):
        named = state == slowest
        look = {"color": DRAW, "lw": 1.6, "zorder": 3} if named else {"color": FAINT, "lw": 0.8}
        label = f"{state}, the slowest state" if named else "_"
        axis.plot(part["t"] + 1, part["distance"], ".-", ms=4, label=label, **look)
    axis.plot([], [], ".-", color=FAINT, lw=0.8, label="the other states")
    label = "sampling error (two samples of one distribution)"
    axis.plot(error.index + 1, error, color=INK, lw=1, ls="--", label=label)
    axis.set(
        xscale="log",
        yscale="log",
        xlabel="number of sweeps after the start (+1)",
        ylabel="Kolmogorov distance of the norm\nfrom exact draws",
    )
    axis.yaxis.set_major_formatter("{x:g}")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.legend(frameon=True, loc="lower left")
    return finish(figure, title)
