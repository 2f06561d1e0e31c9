"""Figures of the projected discrete Laplace noise."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from isdp.plots.boxes import draw_boxes
from isdp.plots.style import BOX, DAS, INK, finish, legend_above, panels, styled
from reproduction.counties.choices import CHOICES
from reproduction.counties.figures import (
    COUNTY_AXIS,
    county_labels,
    frame_counties,
    row_width,
    rows_of_counties,
)

PROJECTED = "#8fc7a0"
SHOWN = ("solver", "even")  # of the choices: the paper's kind, and the gentlest


@styled
def projected_boxes(boxes: pd.DataFrame, title: str) -> Figure:
    """Projected noise beside the generalized Laplace's, county by county (ISDP, Figs 9, 10).

    Parameters
    ----------
    boxes : DataFrame
        From `projection.projected_box_table`. A panel a choice of the nearest vector, one above
        the other; above 130 counties both go on in a next row. A box that is far larger than all
        others runs out of the panel and is labelled with its quartiles.
    title : str
    """
    boxes = boxes.assign(label=county_labels(boxes))
    parts = list(rows_of_counties(boxes))
    size = row_width(parts), 1.2 + 4.9 * len(parts)
    figure, axes = panels(len(parts) * len(SHOWN), 1, size, together=len(SHOWN))
    reach = _usual_reach(boxes)
    for pair, part in zip(axes.reshape(-1, len(SHOWN)), parts, strict=True):
        for axis, choice in zip(pair, SHOWN, strict=True):
            for law, colour, shift in (("generalized", BOX, -0.2), (choice, PROJECTED, 0.2)):
                own = part[part["law"] == law]
                own = own.assign(position=own["rank"] + shift)
                draw_boxes(axis, own, colour=colour, width=0.36, marks=None)
            _label_far_boxes(axis, part[part["law"] == choice], reach)
            frame_counties(axis, part)
            axis.set_xticks([])
            axis.set_title(f"projected: {CHOICES[choice]}", loc="right", fontsize=9)
            axis.set_ylim(-reach, reach)
        named = part.drop_duplicates("rank")
        pair[-1].set_xticks(named["rank"], named["label"], rotation=90, fontsize=6.2)
    axes[-1, 0].set_xlabel(COUNTY_AXIS)
    axes[0, 0].set_title(title, loc="left", pad=26)
    handles = [
        Patch(facecolor=BOX, edgecolor=INK, label="generalized Laplace"),
        Patch(facecolor=PROJECTED, edgecolor=INK, label="projected discrete Laplace"),
        Line2D([], [], color=INK, lw=0.8, label="whiskers: 1.5 interquartile ranges"),
    ]
    legend_above(axes[0, 0], handles)
    return finish(figure)


def _usual_reach(boxes: pd.DataFrame) -> float:
    """Height (persons) that holds all boxes but those far larger than the rest."""
    whiskers = boxes[boxes["series"].isin(["whisker_low", "whisker_high"])]
    largest = whiskers["value"].abs()
    return 1.15 * float(largest[largest <= 2.5 * largest.median()].max())


def _label_far_boxes(axis: Axes, boxes: pd.DataFrame, reach: float) -> None:
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
