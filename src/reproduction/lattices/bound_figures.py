"""Plot coupling bounds on the distance between a chain and its target distribution.

ISDP is *Integer Subspace Differential Privacy*.
"""

from collections.abc import Mapping
from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from isdp.diagnostics.kolmogorov import CELLS, FULL, NORM
from isdp.plots.style import CREST, DARK, DAS, FAINT, INK, finish, panels, styled
from reproduction.lattices.entry import describe_mechanism

VARIANTS = {
    "paper": "paper: Smith basis, joint acceptance",
    "reduced": "reduced: LLL basis, acceptance by coordinate",
}
ACTUAL = {
    FULL: ("actual, total variation", "o", INK),
    NORM: ("actual, the norm", ".", INK),
    CELLS: ("actual, worst cell", "+", FAINT),
}
LEGEND = "lag L, with a 99 % band; not drawn above 1"
SAMPLING_NOTE = "\ngrey: sampling error of the norm and the cells"


@styled
def plot_bound(
    experiment: str, laws: Mapping[str, Mapping], read: Mapping[str, pd.DataFrame], *, runs: int
) -> Figure:
    """Plot the coupling bounds of some distributions by iteration (ISDP, Figures 1, 4 and 6).

    Each distribution has one row of panels. The first panels show the bounds of each variant of the
    walk, and the actual distance of the chain. The last panel shows the choice of the lag. If some
    pairs of chains are censored, a dashed line shows the bound that treats the cap as their meeting
    time. A grey band marks distances that sampling error alone could cause.

    `laws` maps distributions to their entries in the configuration. `read` contains the tables
    curves, trails and distances. `runs` is the number of pairs of chains for each lag.
    """
    variants = list(dict.fromkeys(read["curves"]["variant"]))
    columns = len(variants) + 1
    figure, axes = panels(len(laws), columns, (4.1 * columns, 0.6 + 3.5 * len(laws)))
    for row, (law, entry) in zip(axes, laws.items(), strict=True):
        curves, trails, distances = (
            read[name][read[name]["law"] == law] for name in ("curves", "trails", "distances")
        )
        for axis, variant in zip(row, variants, strict=False):
            part = curves[curves["variant"] == variant]
            chosen = trails.loc[(trails["variant"] == variant) & trails["chosen"], "lag"]
            actual = distances[distances["variant"] == variant]
            _draw_bounds(axis, part, int(chosen.iloc[0]), actual)
            axis.set_title(VARIANTS.get(variant, variant), fontsize=9, loc="left")
            axis.set_xlabel("iterations t + 1")
        row[0].set_ylabel(f"bound on total variation\n{describe_mechanism(entry)}", fontsize=8)
        _draw_lags(row[-1], trails, variants)
        row[-1].set_xlabel("lag L (iterations)")
    title = f"{experiment.capitalize()} experiment: distance of the chain from its target"
    return finish(figure, f"{title}, {runs} coupled chains for each lag")


def _draw_bounds(axis: Axes, curves: pd.DataFrame, chosen: int, actual: pd.DataFrame) -> None:
    lags = sorted(curves["lag"].unique())
    # the lightest and the darkest shade are omitted
    shades = CREST(np.linspace(0, 1, len(lags) + 2)[1:-1])
    for colour, lag in zip(shades, lags, strict=True):
        part = curves[curves["lag"] == lag]
        censored = int(part["censored"].iloc[0])
        axis.plot(
            part["t"] + 1,
            part["at_least"],  # equal to the bound if no run is censored
            color=colour,
            lw=1.4,
            ls="--" if censored else "-",
            label=f"L = {lag:,}" + (f" ({censored} runs censored)" if censored else ""),
        )
        band = part[np.isfinite(part["high"])]
        axis.fill_between(band["t"] + 1, band["low"], band["high"], color=colour, alpha=0.18, lw=0)
    sampled = actual.loc[actual["statistic"] != FULL, "error"]
    if len(sampled):
        error = sampled.max()
        look = {"color": FAINT, "alpha": 0.25, "lw": 0, "zorder": 0.5}
        axis.axhspan(0, error, label=f"up to {error:.2f}", **look)
    for statistic, (label, marker, colour) in ACTUAL.items():
        part = actual[actual["statistic"] == statistic]
        if len(part):
            look = {"color": colour, "ms": 4, "ls": ":", "lw": 0.7}
            axis.plot(part["t"] + 1, part["distance"], marker, label=label, **look)
    axis.set_xscale("log")
    axis.set_ylim(0, 1.15)
    axis.axhline(1, color=FAINT, lw=0.7)
    axis.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.2),
        ncols=3,
        frameon=False,
        fontsize=7.5,
        columnspacing=1.2,
        title=LEGEND + SAMPLING_NOTE if len(sampled) else LEGEND,
        title_fontsize=7.5,
    )
    shown = curves[curves["lag"] == chosen]
    censored = int(shown["censored"].max())
    first = shown.loc[shown["bound"] < 0.01, "t"].min()
    words = f"L = {chosen:,}: below 0.01 from t = {first:,.0f}"
    if censored:
        words = f"not converged:\n{censored} runs never met\nor never moved"
    axis.text(
        0.97,
        0.95,
        words,
        transform=axis.transAxes,
        ha="right",
        va="top",
        color=DAS if censored else INK,
        fontsize=8,
        bbox={"facecolor": "white", "alpha": 0.8, "lw": 0, "pad": 1.5},
    )


def _draw_lags(axis: Axes, trails: pd.DataFrame, variants: list[str]) -> None:
    for colour, variant in zip(cycle(DARK), variants, strict=False):
        part = trails[trails["variant"] == variant]
        axis.plot(part["lag"], part["bound_at_0"], "o-", color=colour, ms=3, lw=1, label=variant)
        chosen = part[part["chosen"].astype(bool)]
        axis.plot(chosen["lag"], chosen["bound_at_0"], "o", mfc="none", mec=colour, ms=10)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.axhline(1, color=FAINT, lw=0.7)
    axis.set_title("chosen lag (ring)", fontsize=9, loc="left")
    axis.set_ylabel("bound at t = 0", fontsize=8)
    axis.legend(loc="upper right", frameon=False)
