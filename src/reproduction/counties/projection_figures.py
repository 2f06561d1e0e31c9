"""Figures of the projected discrete Laplace noise."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from isdp.plots.boxes import boxes_width, draw_boxes, name_boxes
from isdp.plots.style import BOX, DAS, INK, finish, legend_above, panels, styled
from reproduction.counties.figures import (
    COUNTY_AXIS,
    county_labels,
    frame_counties,
    rows_of_counties,
)
from reproduction.data.differences import other_state, titled

# ways to take one vector among the nearest
CHOICES = {
    "solver": "the vertex that HiGHS returns: one county, always the same, takes the correction",
    "random": "a random vertex: one county, another in each release, takes the correction",
    "even": "the correction is shared out evenly",
}
PROJECTED = "#8fc7a0"
SHOWN = ("solver", "even")  # of the choices: the paper's kind, and the gentlest


def projection_title(state: str, rule: str, *, norm: str, epsilon: float, simulations: int) -> str:
    """Title of the figure of one state's projected noise; parameters as in `county_title`."""
    return titled(
        f"{state}: projected discrete Laplace noise and {norm} generalized Laplace noise, "
        f"epsilon = {epsilon:g}, {simulations} simulations",
        other_state(state, rule),
    )


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
    size = boxes_width(parts[0]["rank"].max()), 1.2 + 4.9 * len(parts)
    figure, axes = panels(len(parts) * len(SHOWN), 1, size, together=len(SHOWN))
    reach = _usual_reach(boxes)
    far = {choice: _far_boxes(boxes[boxes["law"] == choice], reach) for choice in SHOWN}
    for pair, part in zip(axes.reshape(-1, len(SHOWN)), parts, strict=True):
        for axis, choice in zip(pair, SHOWN, strict=True):
            for law, colour, shift in (("generalized", BOX, -0.2), (choice, PROJECTED, 0.2)):
                own = part[part["law"] == law]
                own = own.assign(position=own["rank"] + shift)
                draw_boxes(axis, own, colour=colour, width=0.36, marks=None)
            _label_boxes(axis, far[choice][far[choice]["rank"].isin(part["rank"])], reach)
            frame_counties(axis, part)
            axis.set_xticks([])
            words = f"projected: {CHOICES[choice]}"
            if len(parts) > 1:
                words = f"counties {part['rank'].min()} to {part['rank'].max()}, {words}"
                if len(far[choice]) and not far[choice]["rank"].isin(part["rank"]).any():
                    words += " (none of these)"
            axis.set_title(words, loc="left", fontsize=9, pad=24 if axis is axes[0, 0] else None)
            axis.set_ylim(-reach, reach)
        named = part.drop_duplicates("rank")
        name_boxes(pair[-1], named.assign(position=named["rank"]))
    axes[-1, 0].set_xlabel(COUNTY_AXIS)
    handles = [
        Patch(facecolor=BOX, edgecolor=INK, label="generalized Laplace"),
        Patch(facecolor=PROJECTED, edgecolor=INK, label="projected discrete Laplace"),
        Line2D([], [], color=INK, lw=0.8, label="whiskers: 1.5 interquartile ranges"),
    ]
    legend_above(axes[0, 0], handles)
    return finish(figure, title)


def _usual_reach(boxes: pd.DataFrame) -> float:
    """Height (persons) that holds all boxes but those far larger than the rest."""
    whiskers = boxes[boxes["series"].isin(["whisker_low", "whisker_high"])]
    largest = whiskers["value"].abs()
    return 1.15 * float(largest[largest <= 2.5 * largest.median()].max())


def _far_boxes(boxes: pd.DataFrame, reach: float) -> pd.DataFrame:
    """Quartiles and whiskers of the boxes that run out of a panel, with rank and county."""
    wide = boxes[boxes["series"].isin(["q1", "q3", "whisker_low", "whisker_high"])].pivot(
        index=["rank", "county"], columns="series", values="value"
    )
    return wide[wide[["whisker_low", "whisker_high"]].abs().max(axis=1) > reach].reset_index()


def _label_boxes(axis: Axes, far: pd.DataFrame, reach: float) -> None:
    for _, row in far.iterrows():
        axis.annotate(
            f"{row['county']} runs off the scale: quartiles {row['q1']:.0f} and {row['q3']:.0f}, "
            f"whiskers {row['whisker_low']:.0f} and {row['whisker_high']:.0f}",
            (row["rank"] + 0.4, 0.9 * reach),
            xytext=(8, 0),
            textcoords="offset points",
            fontsize=7.5,
            color=DAS,
            va="center",
            bbox={"facecolor": "white", "alpha": 0.85, "lw": 0, "pad": 1},
        )
