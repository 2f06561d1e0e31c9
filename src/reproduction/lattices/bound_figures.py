"""Plot coupling bounds on the distance between a chain and its target distribution.

ISDP is *Integer Subspace Differential Privacy*.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from isdp.diagnostics.kolmogorov import CELLS, FULL, NORM
from isdp.plots.style import CREST, DAS, DRAW, FAINT, INK, WIDTH, finish, panels, styled
from reproduction.lattices.entry import describe_mechanism

PAPER = "paper"  # the variant of the walk that the paper describes
NAMES = {PAPER: "the paper's chain", "reduced": "our chain"}
VARIANTS = {
    PAPER: "the paper's chain\n(Smith basis, joint acceptance)",
    "reduced": "our chain\n(LLL basis, acceptance by coordinate)",
}
MEASURED = {
    NORM: ("measured distance: norm of the noise", "o", INK),
    CELLS: ("measured distance: worst cell", "x", DAS),
}
MEASURED_FULL = {FULL: ("measured total variation distance", "o", INK)}
LINE_STYLES = ("-", "--", ":", "-.")


@styled
def plot_bound(
    experiment: str, laws: Mapping[str, Mapping], curves: pd.DataFrame, *, runs: int
) -> Figure:
    """Plot the coupling bounds of the paper's chain by iteration (ISDP, Figures 1, 4 and 6).

    Each distribution has one panel, and each lag one line. If some pairs of chains are censored, a
    dashed line shows the bound that treats the cap as their meeting time.

    `laws` maps distributions to their entries in the configuration. `runs` is the number of pairs
    of chains for each lag.
    """
    variant = PAPER if PAPER in set(curves["variant"]) else curves["variant"].iloc[0]
    size = WIDTH, 3.6
    figure, (axes,) = panels(1, len(laws), size, sharex=True, sharey=True)
    for axis, (law, entry) in zip(axes, laws.items(), strict=True):
        part = curves[(curves["law"] == law) & (curves["variant"] == variant)]
        lags = sorted(part["lag"].unique())
        # the lightest and the darkest shade are omitted
        shades = CREST(np.linspace(0, 1, len(lags) + 2)[1:-1])
        for colour, lag, style in zip(shades, lags, np.resize(LINE_STYLES, len(lags)), strict=True):
            own = part[part["lag"] == lag]
            censored = int(own["censored"].iloc[0])
            label = f"lag {lag:,}" + (f" ({censored} runs censored)" if censored else "")
            look = {"color": colour, "lw": 1.6, "ls": style, "label": label}
            # equal to the bound if no run is censored
            axis.plot(own["t"], own["at_least"], **look)
        axis.set_title(describe_mechanism(entry), fontsize=9, loc="left")
        axis.set_xlabel("iteration t")
        axis.xaxis.set_major_formatter("{x:,.0f}")
        axis.locator_params(axis="x", nbins=5)
        axis.legend(frameon=False)
    axes[0].set_ylabel("bound on the total variation distance")
    axes[0].set_ylim(0, 1.05)
    axes[0].set_xlim(left=0)
    title = f"{experiment.capitalize()} experiment: coupling bound of {NAMES.get(variant, variant)}"
    note = f"{runs} pairs of chains for each lag; epsilon, proposal and lags are ours"
    return finish(figure, f"{title}\n{note}")


@styled
def plot_distance(
    experiment: str,
    laws: Mapping[str, Mapping],
    curves: pd.DataFrame,
    distances: pd.DataFrame,
    *,
    runs: int,
) -> Figure:
    """Plot the bound of the chosen lag and the measured distance from exact draws.

    There is one row of panels for each distribution, and one column for each variant of the walk.
    A grey band marks distances that sampling error alone could cause. If the total variation
    distance itself is known, it is the only distance shown.
    """
    variants = list(dict.fromkeys(curves["variant"]))
    size = WIDTH, 1.6 + 2.1 * len(laws)
    figure, axes = panels(len(laws), len(variants), size, sharex=True, sharey=True)
    handles: dict[str, Artist] = {}
    for row, (law, entry) in zip(axes, laws.items(), strict=True):
        for axis, variant in zip(row, variants, strict=True):
            bound, measured = (
                table[(table["law"] == law) & (table["variant"] == variant)]
                for table in (curves[curves["chosen"].astype(bool)], distances)
            )
            handles |= _draw_distance(axis, bound, measured)
        row[0].set_ylabel(f"distance\n{describe_mechanism(entry)}", fontsize=8)
    axes[0, 0].set(xscale="log", ylim=(0, 1.05))
    for axis, variant in zip(axes[0], variants, strict=True):
        axis.set_title(VARIANTS.get(variant, variant), fontsize=9, loc="left")
    for axis in axes[-1]:
        axis.set_xlabel("iterations t + 1")
    title = f"{experiment.capitalize()} experiment: bound and measured distance"
    return finish(figure, f"{title}, {runs} pairs of chains", list(handles.values()))


def _draw_distance(axis: Axes, bound: pd.DataFrame, measured: pd.DataFrame) -> dict[str, Artist]:
    censored = int(bound["censored"].iloc[0])
    label = "coupling bound, with a 99 % band"
    if censored:
        label = "coupling bound, too small because runs are censored"
    style = "--" if censored else "-"
    (line,) = axis.plot(bound["t"] + 1, bound["at_least"], style, color=DRAW, lw=1.5, label=label)
    handles: dict[str, Artist] = {label: line}
    band = bound[np.isfinite(bound["high"])]
    axis.fill_between(band["t"] + 1, band["low"], band["high"], color=DRAW, alpha=0.18, lw=0)
    full = (measured["statistic"] == FULL).any()
    for statistic, (words, marker, colour) in (MEASURED_FULL if full else MEASURED).items():
        part = measured[measured["statistic"] == statistic]
        if len(part):
            look = {"color": colour, "ms": 4, "ls": ":", "lw": 0.7, "label": words}
            handles |= {words: axis.plot(part["t"] + 1, part["distance"], marker, **look)[0]}
    if len(measured) and not full:
        words, error = "sampling error of the measured distances", measured["error"].max()
        look = {"color": FAINT, "alpha": 0.25, "lw": 0, "zorder": 0.5, "label": words}
        handles |= {words: axis.axhspan(0, error, **look)}
    first = bound.loc[bound["bound"] < 0.01, "t"].min()
    words = f"bound below 0.01\nfrom t = {first:,.0f}"
    if censored:
        words = f"not converged:\n{censored} runs never met\nor never moved"
    axis.text(
        *(0.98, 0.94, words),
        transform=axis.transAxes,
        ha="right",
        va="top",
        color=DAS if censored else INK,
        fontsize=8,
        bbox={"facecolor": "white", "alpha": 0.8, "lw": 0, "pad": 1.5},
    )
    return handles
