"""Box plots of the noise of each cell."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from isdp.plots.style import (
    BOX,
    DRAW,
    INK,
    WIDTH,
    finish,
    message_figure,
    panels,
    styled,
)

ONE_DRAW = {"one_draw": ("s", DRAW, "one draw")}
MARK: dict[str, Any] = {"ls": "", "ms": 3.2, "mew": 0}
FLIER: dict[str, Any] = {"marker": ".", "color": "#b8b8b8", "ls": "", "ms": 2.5, "mew": 0}
MAX_VECTOR_BOXES = 50  # if a call plots more boxes, they are rasterised inside the SVG
LABEL_HEIGHT = 0.15  # height in inches of one line of text
MAX_UPRIGHT = 3  # characters of a label that is not turned


def name_boxes(axis: Axes, named: pd.DataFrame) -> None:
    """Label the last box and every k-th box before it, with the smallest k without overlaps.

    The table `named` has the columns position and label, with one row for each box.
    """
    space = 0.92 * axis.figure.bbox.width / axis.figure.dpi / len(named)
    step = math.ceil(LABEL_HEIGHT / space)
    shown = named.sort_values("position").iloc[::-1].iloc[::step].iloc[::-1]
    axis.set_xticks(shown["position"], shown["label"], rotation=90, fontsize=8)
    axis.set_xticks(named["position"], minor=True)
    axis.tick_params(axis="x", bottom=step > 1, length=5 if step > 1 else 0, pad=1)
    axis.tick_params(axis="x", which="minor", bottom=step > 1, length=2)


def box_handles(marks: Mapping[str, tuple[str, str, str]] = ONE_DRAW) -> list[Artist]:
    """Return the legend entries of a box plot with the `marks` of `draw_boxes`."""
    return [
        Patch(facecolor=BOX, edgecolor=INK, label="middle half and median"),
        Line2D([], [], color=INK, lw=0.8, label="whiskers: 1.5 interquartile ranges"),
        Line2D([], [], **FLIER | {"ms": 6}, label="draws beyond the whiskers"),
        *(
            Line2D([], [], color=colour, marker=marker, **MARK | {"ms": 4}, label=words)
            for marker, colour, words in marks.values()
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
    """Plot one box with whiskers for each position.

    Parameters
    ----------
    boxes : DataFrame
        The columns are position (on the x axis), label, series and value (persons). The series are
        those of `isdp.diagnostics.summaries.boxes` and the keys of `marks`.
    width : float
        Width of a box in units of the x axis.
    marks : mapping, optional
        Marker, colour and label of each series that is plotted as single marks. If it is None, the
        draws beyond the whiskers are not shown.
    """
    beyond = boxes[boxes["series"] == "extreme"]
    wide = boxes[boxes["series"] != "extreme"].pivot(
        index="position", columns="series", values="value"
    )
    draw_box_shapes(axis, wide, colour=colour, width=width)
    if marks is not None:
        # these may be thousands of points, so they are rasterised inside the SVG
        axis.plot(beyond["position"], beyond["value"], **FLIER, zorder=1, rasterized=True)
        for series, (marker, shade, _) in marks.items():
            if series in wide:
                axis.plot(wide.index, wide[series], color=shade, marker=marker, **MARK, zorder=3)
    axis.axhline(0, color=INK, lw=0.6, zorder=0)
    name_boxes(axis, boxes.drop_duplicates("position"))
    axis.grid(False, axis="x")


def draw_box_shapes(axis: Axes, boxes: pd.DataFrame, *, colour: str, width: float) -> None:
    """Plot boxes with their medians and whiskers.

    The table has the columns q1, median, q3, whisker_low and whisker_high. The index contains the
    positions on the x axis.
    """
    dense = {"rasterized": len(boxes) > MAX_VECTOR_BOXES}
    columns = {"median": "med", "whisker_low": "whislo", "whisker_high": "whishi"}
    axis.bxp(
        boxes.rename(columns=columns).to_dict("records"),
        positions=boxes.index,
        widths=width,
        patch_artist=True,
        showcaps=False,
        showfliers=False,
        manage_ticks=False,
        boxprops={"facecolor": colour, "edgecolor": INK, "lw": 0.6, **dense},
        whiskerprops={"color": INK, "lw": 0.6, **dense},
        medianprops={"color": INK, "lw": 1.1, **dense},
    )


@styled
def plot_cell_boxes(
    boxes: pd.DataFrame, title: str, descriptions: dict[str, str], unit: str = "cell"
) -> Figure:
    """Plot a box of the noise of each cell, with one panel per distribution.

    The figure has the form of Figures 5 and 7 of *Integer Subspace Differential Privacy* (ISDP).

    Parameters
    ----------
    boxes : DataFrame
        The columns are cell, name, `law`, series and value (persons).
    descriptions : dict
        Description of each distribution by its name in the column `law`. A distribution without
        boxes has no panel.
    unit : str
        Name of a cell on the horizontal axis, such as "record".
    """
    shown = {law: words for law, words in descriptions.items() if (boxes["law"] == law).any()}
    if not shown:
        text = "No exact sampler is practical here. See the table of agreement."
        return message_figure(title, text)
    boxes = boxes.assign(position=boxes["cell"] + 1, label=boxes["name"])
    cells = int(boxes["position"].max())
    figure, axes = panels(len(shown), 1, (WIDTH, 1.6 + 2 * len(shown)), sharex=True, sharey=True)
    for axis, (law, words) in zip(axes[:, 0], shown.items(), strict=True):
        draw_boxes(axis, boxes[boxes["law"] == law])
        axis.set_xlim(0.3, cells + 0.7)
        axis.set_ylabel("noise (persons)")
        axis.set_title(words, loc="left", fontsize=9)
    if boxes["name"].astype(str).str.len().max() <= MAX_UPRIGHT:
        axes[-1, 0].tick_params(axis="x", rotation=0)
    axes[-1, 0].set_xlabel(unit)
    return finish(figure, title, box_handles())
