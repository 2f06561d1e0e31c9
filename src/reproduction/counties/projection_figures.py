"""Figures of the projected discrete Laplace noise, and of truncation at zero."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from isdp.plots.boxes import draw_boxes
from isdp.plots.style import BOX, DAS, FAINT, INK, legend_above, styled
from reproduction.counties.figures import COUNTIES_IN_A_ROW, county_labels
from reproduction.counties.projection import CHOICES

PROJECTED = "#8fc7a0"
SHOWN = ("solver", "even")  # of the choices: the paper's kind, and the gentlest
NAMED_STATES = 6


@styled
def projection_boxes(boxes: pd.DataFrame, title: str) -> Figure:
    """Projected noise beside the generalized Laplace's, county by county (ISDP, Figs 9, 10).

    Parameters
    ----------
    boxes : DataFrame
        From `projection.projection_boxes`. A panel a choice of the nearest vector; above 130
        counties the boxes go on in a next row. A box that is far larger than all others runs out
        of the panel and is labelled with its quartiles.
    title : str
    """
    boxes = boxes.assign(label=county_labels(boxes))
    last = int(boxes["rank"].max())
    rows = -(-last // COUNTIES_IN_A_ROW)
    width = -(-last // rows)
    figure, axes = plt.subplots(
        rows * len(SHOWN),
        1,
        figsize=(max(9.5, 1.5 + 0.135 * width), 1 + 2.9 * rows * len(SHOWN)),
        squeeze=False,
        sharey=True,
    )
    reach = _usual_reach(boxes)
    for panel, axis in enumerate(axes[:, 0]):
        choice, row = SHOWN[panel // rows], panel % rows
        low = 1 + row * width
        part = boxes[boxes["rank"].between(low, low + width - 1)]
        for law, colour, shift in (("generalized", BOX, -0.2), (choice, PROJECTED, 0.2)):
            own = part[part["law"] == law]
            draw_boxes(
                axis,
                own.assign(position=own["rank"] + shift),
                colour=colour,
                width=0.36,
                points=False,
            )
        _label_far_boxes(axis, part[part["law"] == choice], reach)
        named = part.drop_duplicates("rank")
        axis.set_xticks(named["rank"], named["label"], rotation=90, fontsize=6.2)
        axis.set_xlim(low - 0.8, low + width - 0.2)
        axis.set_ylim(-reach, reach)
        axis.set_ylabel("noise (persons)")
        if row == 0:
            axis.set_title(f"projected: {CHOICES[choice]}", loc="right", fontsize=9)
    axes[-1, 0].set_xlabel("county (2010 population), from the least populous to the most")
    axes[0, 0].set_title(title, loc="left", pad=26)
    handles = [
        Patch(facecolor=BOX, edgecolor=INK, label="generalized Laplace"),
        Patch(facecolor=PROJECTED, edgecolor=INK, label="projected discrete Laplace"),
        Line2D([], [], color=INK, lw=0.8, label="whiskers: 1.5 interquartile ranges"),
    ]
    legend_above(axes[0, 0], handles)
    figure.tight_layout()
    return figure


def _usual_reach(boxes: pd.DataFrame) -> float:
    """Give a height that holds all boxes but those far larger than the rest."""
    whiskers = boxes[boxes["series"].isin(["whisker_low", "whisker_high"])]
    largest = whiskers["value"].abs()
    return 1.15 * float(largest[largest <= 2.5 * largest.median()].max())


def _label_far_boxes(axis, boxes: pd.DataFrame, reach: float) -> None:
    wide = boxes[boxes["series"].isin(["q1", "q3", "whisker_low", "whisker_high"])].pivot(
        index=["rank", "county"], columns="series", values="value"
    )
    for (rank, county), row in wide.iterrows():
        if max(-row["whisker_low"], row["whisker_high"]) > reach:
            axis.annotate(
                f"{county} runs off the scale: quartiles {row['q1']:.0f} and {row['q3']:.0f}, "
                f"whiskers {row['whisker_low']:.0f} and {row['whisker_high']:.0f}",
                (rank + 0.4, 0.9 * reach),
                xytext=(8, 0),
                textcoords="offset points",
                fontsize=7.5,
                color=DAS,
                va="center",
                bbox={"facecolor": "white", "alpha": 0.85, "lw": 0, "pad": 1},
            )


@styled
def truncation(
    curves: pd.DataFrame, needed: pd.DataFrame, landmarks: pd.DataFrame, epsilon: float
) -> Figure:
    """Show what it takes for truncation at zero to bite.

    Parameters
    ----------
    curves : DataFrame
        From `reproduction.counties.truncation.truncation_curves`.
    needed : DataFrame
        From `reproduction.counties.truncation.needed_populations`.
    landmarks : DataFrame
        A few counties to mark: columns county, state and population.
    epsilon : float
        The experiment's.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4))
    order = curves.groupby("state")["expected"].max().sort_values(ascending=False)
    first = curves[curves["expected"] >= 1e-3].groupby("state")["epsilon"].max()
    named = first.sort_values(ascending=False).index[:NAMED_STATES]
    for state in order.index.difference(named):
        part = curves[(curves["state"] == state) & (curves["expected"] > 0)]
        left.plot(part["epsilon"], 1000 * part["expected"], color="#cccccc", lw=0.7, zorder=1)
    for state, colour in zip(named, sns.color_palette("dark", NAMED_STATES), strict=False):
        part = curves[(curves["state"] == state) & (curves["expected"] > 0)]
        left.plot(part["epsilon"], 1000 * part["expected"], color=colour, lw=1.4, label=state)
    left.axhline(1, color=FAINT, lw=0.8)
    left.set_ylim(1e-6, 1e6)
    left.set_ylabel("counties truncated in 1000 releases (expected)")
    left.set_title("each state, under its total", loc="left", fontsize=9)
    left.legend(title="first to bite (others grey)", title_fontsize=8, frameon=True, ncols=2)
    for chance, part in needed.groupby("chance"):
        style = "-" if chance == needed["chance"].max() else "--"
        right.plot(
            part["epsilon"],
            np.maximum(part["population"], 0.5),
            style,
            color=INK,
            label=f"chance of truncation {chance:g}",
        )
    for _, mark in landmarks.iterrows():
        right.axhline(mark["population"], color=FAINT, lw=0.7)
        right.annotate(
            f"{mark['county']}, {mark['state']}: {mark['population']:,}",
            (1.0, mark["population"]),
            xycoords=("axes fraction", "data"),
            xytext=(-3, 2),
            textcoords="offset points",
            fontsize=7.5,
            ha="right",
            va="bottom",
            color="#555555",
        )
    right.set_ylabel("population of the county")
    right.set_title("one county: below the line, truncation bites", loc="left", fontsize=9)
    right.legend(loc="lower left", frameon=True)
    for axis in (left, right):
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.axvline(epsilon, color=DAS, lw=1, ls=":")
        axis.set_xlabel("epsilon, per unit of the l1 norm")
        axis.annotate(
            f"paper: {epsilon:g}",
            (epsilon, 1.0),
            xycoords=("data", "axes fraction"),
            ha="center",
            va="bottom",
            color=DAS,
            fontsize=8,
        )
    figure.suptitle(
        "Truncating released county counts at zero (exact law of the l1 generalized Laplace "
        "mechanism)",
        x=0.01,
        ha="left",
        fontsize=10,
    )
    figure.tight_layout()
    return figure
