"""Figures of the county experiment."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from isdp.plots.boxes import ONE_DRAW, box_handles, boxes_width, draw_boxes
from isdp.plots.style import (
    DAS,
    DRAW,
    FAINT,
    INK,
    finish,
    legend_above,
    message,
    panels,
    styled,
)
from reproduction.data.differences import other_state, other_vintage, titled

COUNTIES_IN_A_ROW = 130


def county_title(
    state: str, rule: str, vintage: str, *, norm: str, epsilon: float, made: str
) -> str:
    """Title of the figure of one state's noise.

    Parameters
    ----------
    state, rule : str
        A row of the table of selected states.
    vintage : str
        Of the demonstration data; "" where there are none.
    norm, epsilon
        Of the generalized Laplace mechanism.
    made : str
        The number and kind of the draws.
    """
    return titled(
        f"{state}: noise in county populations under the state's total, {norm} generalized "
        f"Laplace, epsilon = {epsilon:g}, {made}",
        other_state(state, rule),
        other_vintage(vintage),
    )


def slopes_title(vintage: str) -> str:
    """Title of the figure of the slopes; `vintage` is that of the demonstration data, or ""."""
    title = "Regression of the error of the Census DAS on log population, by state"
    own = f"errors of the Census DAS: vintage {vintage}" if vintage else ""
    return titled(title, other_vintage(vintage) or own)


@styled
def county_boxes(boxes: pd.DataFrame, title: str, vintage: str) -> Figure:
    """Noise of each county of a state as box plots, in increasing population.

    Parameters
    ----------
    boxes : DataFrame
        From `experiment.box_table`. Above 130 counties the boxes go on in a next row.
    title : str
    vintage : str
        Of the demonstration data; "" where there are none.
    """
    boxes = boxes.assign(position=boxes["rank"], label=county_labels(boxes))
    parts = list(rows_of_counties(boxes))
    size = boxes_width(parts[0]["rank"].max()), 1 + 3.3 * len(parts)
    figure, axes = panels(len(parts), 1, size, sharey=True)
    marks = dict(ONE_DRAW)
    if (boxes["series"] == "das_error").any():
        marks |= das_marks(vintage)
    for axis, part in zip(axes[:, 0], parts, strict=True):
        draw_boxes(axis, part, marks=marks)
        frame_counties(axis, part)
    axes[-1, 0].set_xlabel(COUNTY_AXIS)
    axes[0, 0].set_title(title, loc="left", pad=26)
    legend_above(axes[0, 0], box_handles(marks))
    return finish(figure)


def das_marks(vintage: str) -> dict[str, tuple[str, str, str]]:
    """Name the marks of the Census DAS's errors in a box plot, with their vintage."""
    return {"das_error": ("o", DAS, f"error of the Census DAS, vintage {vintage}")}


COUNTY_AXIS = "county (2010 population), from the least populous to the most"


def rows_of_counties(boxes: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Part a state's counties by rank into rows of panels, of at most 130 counties each."""
    last = int(boxes["rank"].max())
    width = -(-last // -(-last // COUNTIES_IN_A_ROW))
    for low in range(1, last + 1, width):
        yield boxes[boxes["rank"].between(low, low + width - 1)]


def frame_counties(axis: Axes, part: pd.DataFrame) -> None:
    """Fit an axis to its counties, and name its values."""
    axis.set_xlim(part["rank"].min() - 0.8, part["rank"].max() + 0.8)
    axis.set_ylabel("noise (persons)")


def county_labels(boxes: pd.DataFrame) -> pd.Series:
    """Labels of name and population, without the word that all names of a state share."""
    words = r" (?:County|Parish|Municipio|Census Area|Borough)$"
    names = boxes["county"].str.replace(words, "", regex=True)
    return names + " (" + boxes["population"].map("{:,}".format) + ")"


@styled
def slopes(regressions: pd.DataFrame, title: str, level: float = 0.99) -> Figure:
    """Slopes of all states with their confidence intervals (SDP, Figure 1, left).

    Parameters
    ----------
    regressions : DataFrame
        From `das_regressions`, with columns low and high for the interval.
        Where all slopes are missing the figure says that there is nothing to show.
    title : str
    level : float
        Level of the interval, for the legend.
    """
    known = regressions.dropna(subset=["slope"]).sort_values("slope").reset_index(drop=True)
    if known.empty:
        return message(
            title,
            "There are no demonstration data, and so no errors of the Census DAS to regress.\n"
            "Name their file in the config (data.file) or in NHGIS_PPDD_FILE and run again.",
        )
    figure, ((axis,),) = panels(1, 1, (9.5, 4.2))
    significant = known["significant"].astype(bool)
    for mask, colour, label in (
        (~significant, FAINT, "not significant at 0.01"),
        (significant, DAS, "significant at 0.01"),
    ):
        part = known[mask]
        axis.errorbar(
            part.index,
            part["slope"],
            yerr=[part["slope"] - part["low"], part["high"] - part["slope"]],
            fmt="o",
            color=colour,
            ms=4,
            lw=1,
            label=f"{label} ({mask.sum()})",
        )
    axis.axhline(0, color=INK, lw=0.8)
    axis.set_xticks(known.index, known["state"], rotation=90, fontsize=7)
    axis.set_xlim(-0.8, len(known) - 0.2)
    axis.set_xlabel("state or territory, by slope")
    axis.set_ylabel(f"slope (persons per unit of log population)\nwith its {level:.0%} interval")
    axis.grid(False, axis="x")
    axis.set_title(title, loc="left", pad=24)
    axis.legend(
        loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False, borderaxespad=0.2
    )
    return finish(figure)


@styled
def convergence_strips(rhat: pd.DataFrame, title: str) -> Figure:
    """R-hat and effective sample size of every county, a strip of points per state.

    Parameters
    ----------
    rhat : DataFrame
        Table counties_rhat: columns state, rhat, ess_bulk, frozen.
    title : str
    """
    np.random.seed(1)  # noqa: NPY002  seaborn's jitter knows no other generator
    moving = rhat[~rhat["frozen"].astype(bool)]
    states = list(dict.fromkeys(rhat["state"]))
    figure, axes = panels(1, 2, (9.5, 1.6 + 0.32 * len(states)), sharey=True)
    for axis, column, limit, label in (
        (axes[0, 0], "rhat", 1.01, "R-hat of a county's noise"),
        (axes[0, 1], "ess_bulk", 2000, "bulk effective sample size of a county's noise (draws)"),
    ):
        sns.stripplot(
            data=moving,
            x=column,
            y="state",
            order=states,
            ax=axis,
            size=2.4,
            jitter=0.28,
            color=DRAW,
            alpha=0.5,
            linewidth=0,
            rasterized=True,
        )
        axis.axvline(limit, color=DAS, lw=1, ls="--")
        axis.annotate(
            f"criterion: {limit:,}",
            (limit, 1.0),
            xycoords=("data", "axes fraction"),
            ha="center",
            va="bottom",
            color=DAS,
            fontsize=8,
        )
        axis.set_xlabel(label)
        axis.set_ylabel("state" if column == "rhat" else "")
    axes[0, 1].set_xlim(left=0)
    frozen = int(rhat["frozen"].sum())
    note = f"; {frozen} frozen counties are not shown" if frozen else ""
    return finish(figure, title + note)
