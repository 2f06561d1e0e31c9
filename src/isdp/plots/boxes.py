"""Box plots of noise, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path

from isdp.plots.style import (
    BOX,
    DRAW,
    FAINT,
    INK,
    finish,
    legend_above,
    message,
    panels,
    strokes,
    styled,
)

MARKS_HIGH = 45  # marks of draws beyond the whiskers that have room, one above the other
ONE_DRAW = {"one_draw": ("projecting", DRAW, "one draw")}
SHAPES = {"projecting": "s", "round": "o"}  # what a stroke of no length looks like, by its ends
WIDEST = 11.5  # of a figure, in inches: shrunk to a page, a wider one could not be read
LEGEND = 10.6  # of a figure whose legend, in one line, has all marks
NAME_ROOM = 0.15  # that the name of a box takes


def boxes_width(number: int) -> float:
    """Width in inches of a figure of so many boxes side by side."""
    return min(WIDEST, max(LEGEND, 1.5 + 0.125 * number))


def name_boxes(axis: Axes, named: pd.DataFrame) -> None:
    """Name the boxes, or every second, third, ... up to the last, where there is no room for all.

    Parameters
    ----------
    axis : Axes
    named : DataFrame
        Columns position and label, a row a box.
    """
    room = 0.92 * axis.get_figure().get_figwidth() / len(named)
    step = math.ceil(NAME_ROOM / room)
    shown = named.sort_values("position").iloc[::-1].iloc[::step].iloc[::-1]
    axis.set_xticks(shown["position"], shown["label"], rotation=90, fontsize=8)
    axis.tick_params(axis="x", bottom=step > 1, length=3 if step > 1 else 0, pad=1)


def box_handles(marks: Mapping[str, tuple[str, str, str]] = ONE_DRAW) -> list:
    """Legend entries of a box plot; `marks` as in `draw_boxes`."""
    return [
        Patch(facecolor=BOX, edgecolor=INK, label="middle half and median"),
        Line2D([], [], color=INK, lw=0.8, label="whiskers: 1.5 interquartile ranges"),
        Line2D([], [], color=FAINT, lw=1, label="draws beyond (joined)"),
        *(
            Line2D([], [], color=colour, marker=SHAPES[ends], ms=4, ls="", label=words)
            for ends, colour, words in marks.values()
        ),
    ]


def draw_boxes(
    axis: Axes,
    boxes: pd.DataFrame,
    *,
    colour: str = BOX,
    width: float = 0.62,
    marks: Mapping[str, tuple[str, str, str]] | None = ONE_DRAW,
) -> None:
    """Draw box plots.

    Parameters
    ----------
    axis : Axes
    boxes : DataFrame
        Columns position (on the x axis), label, series and value (in the noise's units); the
        series are those of `isdp.diagnostics.summaries.boxes`, and those of `marks`.
    colour : str
        Of the boxes.
    width : float
        Of a box, in positions.
    marks : mapping, optional
        Shape ("projecting" for squares, "round" for dots), colour and words of each series to show
        as marks, such as a draw. None also leaves out what lies beyond the whiskers.
    """
    beyond = boxes["series"] == "extreme"
    wide = boxes[~beyond].pivot(index="position", columns="series", values="value")
    draw_box_shapes(axis, wide, colour=colour, width=width)
    if marks is not None:
        draw_beyond(axis, boxes[beyond])
        for series, (ends, shade, _) in marks.items():
            if series in wide:
                _draw_marks(axis, wide[series], ends, shade)
    axis.axhline(0, color=INK, lw=0.6, zorder=0)
    name_boxes(axis, boxes.drop_duplicates("position"))
    axis.grid(False, axis="x")


def draw_box_shapes(axis: Axes, boxes: pd.DataFrame, *, colour: str, width: float) -> None:
    """Draw boxes with their medians and whiskers.

    Parameters
    ----------
    axis : Axes
    boxes : DataFrame
        Columns q1, median, q3, whisker_low and whisker_high; the index is the position of each box
        on the x axis.
    colour, width
        As in `draw_boxes`.
    """
    x, half = boxes.index.to_numpy(dtype=float), width / 2
    strokes(
        axis, (x, boxes["whisker_low"]), (x, boxes["whisker_high"]), color=INK, lw=0.6, zorder=1
    )
    axis.add_patch(
        PathPatch(
            _rectangles(x - half, x + half, boxes["q1"].to_numpy(), boxes["q3"].to_numpy()),
            facecolor=colour,
            edgecolor=INK,
            lw=0.6,
            zorder=2,
        )
    )
    middle = boxes["median"]
    strokes(axis, (x - half, middle), (x + half, middle), color=INK, lw=1.1, zorder=2.5)


def draw_beyond(axis: Axes, beyond: pd.DataFrame) -> None:
    """Mark the draws beyond the whiskers; marks that would touch are joined to one stroke.

    Parameters
    ----------
    axis : Axes
    beyond : DataFrame
        Columns position and value, a row a distinct value.
    """
    if beyond.empty:
        return
    beyond = beyond.sort_values(["position", "value"], kind="stable")
    position, value = (beyond[column].to_numpy(dtype=float) for column in ("position", "value"))
    apart = max(np.ptp(value) / MARKS_HIGH, 1.0)
    parted = (np.diff(position) > 0) | (np.diff(value) > apart)
    first, last = np.r_[True, parted], np.r_[parted, True]
    strokes(
        axis,
        (position[first], value[first] - apart / 4),
        (position[last], value[last] + apart / 4),
        color=FAINT,
        lw=0.9,
        zorder=1,
    )


def _draw_marks(axis: Axes, values: pd.Series, ends: str, colour: str) -> None:
    """Mark a value at each position: as strokes, marks take a fifth of the bytes in an SVG."""
    x, half = values.index.to_numpy(dtype=float), 0.01
    # snapped to whole pixels, many would have no length, and a PNG would not show them
    look = {"color": colour, "lw": 3, "solid_capstyle": ends, "zorder": 3, "snap": False}
    strokes(axis, (x - half, values), (x + half, values), **look)


def _rectangles(left: np.ndarray, right: np.ndarray, low: np.ndarray, high: np.ndarray) -> Path:
    """One path of many rectangles, five points each."""
    x = np.column_stack([left, right, right, left, left])
    y = np.column_stack([low, low, high, high, low])
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    return Path(np.column_stack([x.ravel(), y.ravel()]), codes * len(left))


@styled
def cell_boxes(boxes: pd.DataFrame, title: str, laws: dict[str, str]) -> Figure:
    """Noise of each cell as box plots, a panel a law (ISDP, Figures 5 and 7).

    Parameters
    ----------
    boxes : DataFrame
        Columns cell, name, law, series and value (persons).
    title : str
    laws : dict
        A description of each law, by its name in the column law; those without boxes are left
        out.
    """
    laws = {law: words for law, words in laws.items() if (boxes["law"] == law).any()}
    if not laws:
        return message(title, "No perfect sampler is practical here: see the table of agreement.")
    boxes = boxes.assign(position=boxes["cell"] + 1, label=boxes["name"])
    cells = int(boxes["position"].max())
    size = max(9.5, 2 + 0.3 * cells), 1.6 + 2.4 * len(laws)
    figure, axes = panels(len(laws), 1, size, sharex=True)
    for axis, (law, words) in zip(axes[:, 0], laws.items(), strict=True):
        draw_boxes(axis, boxes[boxes["law"] == law])
        axis.set_xlim(0.3, cells + 0.7)
        axis.set_ylabel(f"noise (persons)\n{words}", fontsize=8)
    axes[-1, 0].tick_params(axis="x", labelsize=8)
    axes[-1, 0].set_xlabel("cell")
    axes[0, 0].set_title(title, loc="left", pad=26)
    legend_above(axes[0, 0], box_handles())
    return finish(figure)
