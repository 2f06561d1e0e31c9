"""The figure that compares the draws of several samplers with exact draws."""

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from isdp.plots.style import DAS, DRAW, INK, finish, panels, styled

EXACT = "exact"
BOUND_NOTE = (
    "bound: two samples of one distribution have a larger distance with a probability of at most "
    "1e-6"
)


@styled
def plot_overlaid_distributions(
    norms: pd.DataFrame,
    quantiles: pd.DataFrame,
    agreement: pd.DataFrame,
    title: str,
    descriptions: dict[str, str],
    samplers: dict[str, str],
) -> Figure:
    """Plot the norms and the cell quantiles of several samplers on top of those of exact draws.

    There is one row of panels for each distribution.

    Parameters
    ----------
    norms, quantiles : DataFrame
        The results of `norm_histogram` and `quantile_table` of `isdp.diagnostics.kolmogorov`, with
        the column `law`.
    agreement : DataFrame
        The result of `isdp.diagnostics.kolmogorov.agreement_rows`, with the columns `law` and
        `sampler`.
    descriptions : dict
        Description of each distribution by its name in the column `law`.
    samplers : dict
        Label of each sampler by its name. Omit the exact sampler, whose name is "exact".
    """
    size = 11, 1 + 2.9 * len(descriptions)
    figure, axes = panels(len(descriptions), 2, size, width_ratios=(1, 1.6))
    colours = dict(zip(samplers, (DRAW, DAS, "#3a7d44", "#7b3294"), strict=False))
    for (left, right), (law, words) in zip(axes, descriptions.items(), strict=True):
        _draw_norms(left, norms[norms["law"] == law], samplers, colours)
        _draw_quantiles(right, quantiles[quantiles["law"] == law], samplers, colours)
        left.set_ylabel(f"share of the draws\n{words}", fontsize=8)
        right.set_ylabel("noise (persons)")
        rows = agreement[agreement["law"] == law]
        for axis, statistic in ((left, "norm"), (right, "cells")):
            axis.set_title(_distances(rows, statistic, samplers), loc="left", fontsize=8)
    axes[-1, 0].set_xlabel("norm of the noise (persons)")
    axes[-1, 1].set_xlabel("cell (5, 25, 50, 75 and 95 % quantiles)")
    shown: dict[str, Artist] = {}
    for left in axes[:, 0]:
        handles, words = left.get_legend_handles_labels()
        shown |= dict(zip(words, handles, strict=True))
    axes[0, 0].legend(shown.values(), shown.keys(), frameon=False, fontsize=7.5)
    return finish(figure, f"{title}\n{BOUND_NOTE}")


def _distances(rows: pd.DataFrame, statistic: str, samplers: dict[str, str]) -> str:
    parts = []
    for name, words in samplers.items():
        row = rows[(rows["sampler"] == name) & (rows["statistic"] == statistic)]
        if len(row):
            own = row.iloc[0]
            parts.append(f"{words}: {own['distance']:.3f} (bound {own['bound']:.3f})")
    if not parts:
        return "no exact draws: no exact sampler is practical here"
    name = "distance of the norm" if statistic == "norm" else "distance of the worst cell"
    return "\n".join([f"{name} from exact draws", *parts])


def _draw_norms(
    axis: Axes, norms: pd.DataFrame, samplers: dict[str, str], colours: dict[str, str]
) -> None:
    exact = norms[norms["sampler"] == EXACT]
    axis.bar(
        exact["low"],
        exact["share"],
        width=exact["high"] - exact["low"],
        align="edge",
        color="#d5d5d5",
        edgecolor="white",
        linewidth=0.3,
        label="exact draws" if len(exact) else None,
    )
    for name, words in samplers.items():
        part = norms[norms["sampler"] == name]
        if len(part):
            edges = [*part["low"], part["high"].iloc[-1]]
            axis.stairs(part["share"], edges, color=colours[name], lw=1.1, label=words)
    axis.set_ylim(bottom=0)
    axis.grid(False, axis="x")


def _draw_quantiles(
    axis: Axes, quantiles: pd.DataFrame, samplers: dict[str, str], colours: dict[str, str]
) -> None:
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
    cells = quantiles.drop_duplicates("cell")
    names = cells["name"].astype(str)
    turned = len(cells) > 20 or names.str.len().max() > 3
    axis.set_xticks(cells["cell"] + 1, names, rotation=90 if turned else 0, fontsize=6.5)
    axis.set_xlim(0.3, len(cells) + 0.7)
    axis.grid(False, axis="x")
