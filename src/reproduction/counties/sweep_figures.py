"""Plot the figure that compares the scenarios of a sweep."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from isdp.plots.style import DAS, DRAW, INK, WIDTH, panels, styled
from reproduction.counties.sweep_tables import MAX_RHAT

NORM_COLOURS = {"l1": DRAW, "l2": "#b8741a"}
MARKERS = {"l1": {"marker": "o", "ms": 7}, "l2": {"marker": "D", "ms": 4.4}}
LINE_STYLES = {"exact law": "-", "continuous law": "--"}
QUANTITY_LABELS = {
    "sd": "sd of noise (persons)",
    "p_abs_le_30": "share within [-30, 30]",
    "rhat_excess": "largest R-hat, minus 1",
}
MIN_EXCESS = 1e-3  # smallest value of R-hat - 1 on the log axis


@styled
def plot_scenarios(shown: pd.DataFrame, title: str) -> Figure:
    """Plot scenarios by epsilon, with one row of panels per state and one colour per norm.

    Hollow markers show scenarios whose chains have not converged or are frozen. Triangles at the
    lower edge show scenarios whose noise is zero in every draw, because a log axis omits zero.
    """
    shown = shown.assign(rhat_excess=(shown["rhat_max"] - 1).clip(lower=MIN_EXCESS))
    rows = shown["state"].nunique()
    figure, axes = panels(rows, 3, (WIDTH, 1.6 + 2.2 * rows), sharex=True, sharey="col")
    figure.set_layout_engine("constrained")
    for row, (state, part) in zip(axes, shown.groupby("state", sort=False), strict=True):
        for axis, column in zip(row, QUANTITY_LABELS, strict=True):
            _draw(axis, part, column)
        row[0].set_ylabel(state, weight="bold")
        for rms in part.loc[(part["series"] == "das") & (part["sd"] > 0), "sd"]:
            label = "Census DAS, root mean square error of each vintage"
            row[0].axhline(rms, color=DAS, lw=1.1, ls=":", label=label)
        row[2].axhline(
            MAX_RHAT - 1, color=INK, lw=0.9, ls=":", label=f"criterion: R-hat of {MAX_RHAT}"
        )
    measured = shown.loc[shown["series"].isin(["chains", "das"]) & (shown["sd"] > 0), "sd"]
    if len(measured):
        axes[0, 0].set_ylim(measured.min() / 2.5, measured.max() * 2.5)
    axes[0, 1].set_ylim(-0.06, 1.06)
    for axis, heading in zip(axes[0], QUANTITY_LABELS.values(), strict=True):
        axis.set_title(heading, loc="left", fontsize=9)
    for axis in axes[-1]:
        axis.set_xlabel("epsilon, per unit of the norm")
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    lines = [line for axis in axes.flat for line in axis.lines if len(line.get_xdata())]
    labels = {line.get_label(): line for line in lines}
    handles = [labels[label] for label in sorted(labels)]
    figure.legend(handles=handles, loc="outside lower left", ncols=2, frameon=False)
    return figure


def _draw(axis: Axes, part: pd.DataFrame, column: str) -> None:
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    if column != "p_abs_le_30":
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter("{x:g}")
    for (norm, series), own in part[part["series"].isin(LINE_STYLES)].groupby(["norm", "series"]):
        label = f"{norm} norm: {series}"
        look = {"ls": LINE_STYLES[series], "color": NORM_COLOURS[norm], "lw": 1.1}
        axis.plot(own["epsilon"], own[column], label=label, **look)
    chains = part[part["series"] == "chains"]
    for (norm, converged), own in chains.groupby(["norm", chains["convergence"] == "yes"]):
        look = {"color": NORM_COLOURS[norm], "ls": "", "zorder": 3, **MARKERS[norm]}
        label = f"{norm} norm: chains" + ("" if converged else ", not converged")
        moving = own[own["sd"] > 0]
        style = "full" if converged else "none"
        axis.plot(moving["epsilon"], moving[column], fillstyle=style, label=label, **look)
        still = own.loc[own["sd"] == 0, "epsilon"]
        if len(still):
            look |= {"marker": "v", "transform": axis.get_xaxis_transform(), "clip_on": False}
            label = f"{norm} norm: zero in every draw"
            axis.plot(still, np.full(len(still), 0.03), label=label, **look)
