"""Figure of coupling bounds on the distance between a chain and its target."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from isdp.diagnostics.kolmogorov import CELLS, FULL, NORM
from isdp.plots.style import CREST, DARK, DAS, FAINT, INK, finish, panels, styled

VARIANTS = {
    "paper": "paper: Smith basis, joint acceptance",
    "reduced": "reduced: LLL basis, by coordinate",
}


@styled
def tv_bounds(
    curves: pd.DataFrame, trails: pd.DataFrame, distances: pd.DataFrame, title: str, laws: dict
) -> Figure:
    """Draw coupling bounds by iteration (ISDP, Figures 1, 4 and 6).

    Each distribution has a row of panels. The first panels show the variants, with the chain's
    actual distance. The last panel shows the choice of the lag. If runs were censored, the bound
    with these runs at the cap is dashed. `laws` describes each distribution by its name in the
    column `law`. `curves` has the columns `law`, variant, lag, t, bound, low, high, at_least and
    censored. `trails` has `law`, variant, lag, bound_at_0, censored and chosen. `distances`, from
    `reproduction.exactness.chain_distance`, has `law`, variant, t, statistic, distance and error. A
    band up to the largest error marks distances that are consistent with zero.
    """
    variants = list(dict.fromkeys(curves["variant"]))
    columns = len(variants) + 1
    figure, axes = panels(len(laws), columns, (4.1 * columns, 0.6 + 3.5 * len(laws)))
    for row, (law, words) in zip(axes, laws.items(), strict=True):
        for axis, variant in zip(row, variants, strict=False):
            part = curves[(curves["law"] == law) & (curves["variant"] == variant)]
            chosen = trails.loc[
                (trails["law"] == law) & (trails["variant"] == variant) & trails["chosen"], "lag"
            ]
            actual = distances[(distances["law"] == law) & (distances["variant"] == variant)]
            _draw_bounds(axis, part, int(chosen.iloc[0]), actual)
            axis.set_title(f"{VARIANTS.get(variant, variant)}", fontsize=9, loc="left")
        row[0].set_ylabel(f"bound on total variation\n{words}", fontsize=8)
        _draw_lags(row[-1], trails[trails["law"] == law], variants)
    for row in axes:
        for axis in row[:-1]:
            axis.set_xlabel("iterations t + 1")
        row[-1].set_xlabel("lag L (iterations)")
    return finish(figure, title)


ACTUAL = {
    FULL: ("actual, total variation", "o", INK),
    NORM: ("actual, the norm", ".", INK),
    CELLS: ("actual, worst cell", "+", FAINT),
}
LEGEND = "lag, with its 99 % band, not drawn above 1"
SAMPLING_NOTE = "\ngrey: sampling error of the norm and the cells"


def _draw_bounds(axis: Axes, curves: pd.DataFrame, chosen: int, actual: pd.DataFrame) -> None:
    lags = sorted(curves["lag"].unique())
    shades = CREST(np.linspace(0, 1, len(lags) + 2)[1:-1])  # without the palest and the darkest
    for colour, lag in zip(shades, lags, strict=True):
        part = curves[curves["lag"] == lag]
        censored = int(part["censored"].iloc[0])
        axis.plot(
            part["t"] + 1,
            part["at_least"],  # the bound itself without censored runs
            color=colour,
            lw=1.4,
            ls="--" if censored else "-",
            label=f"L = {lag:,}" + (f" ({censored} runs censored)" if censored else ""),
        )
        band = part[np.isfinite(part["high"])]
        axis.fill_between(band["t"] + 1, band["low"], band["high"], color=colour, alpha=0.18, lw=0)
    sampled = actual.loc[actual["statistic"] != FULL, "error"]
    if len(sampled):
        reach = sampled.max()
        axis.axhspan(
            0, reach, color=FAINT, alpha=0.25, lw=0, zorder=0.5, label=f"up to {reach:.2f}"
        )
    for statistic, (label, marker, colour) in ACTUAL.items():
        part = actual[actual["statistic"] == statistic]
        if len(part):
            axis.plot(
                part["t"] + 1,
                part["distance"],
                marker,
                color=colour,
                ms=4,
                ls=":",
                lw=0.7,
                label=label,
            )
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
    ringed = curves[curves["lag"] == chosen]
    cut = int(ringed["censored"].max())
    first = ringed.loc[ringed["bound"] < 0.01, "t"].min()
    words = f"L = {chosen:,}: below 0.01 from t = {first:,.0f}"
    if cut:
        words = f"not converged:\n{cut} runs never met\nor never moved"
    axis.text(
        0.97,
        0.95,
        words,
        transform=axis.transAxes,
        ha="right",
        va="top",
        color=DAS if cut else INK,
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
    axis.set_title("choice of the lag (ring)", fontsize=9, loc="left")
    axis.set_ylabel("bound at t = 0", fontsize=8)
    axis.legend(loc="upper right", frameon=False)
