"""Plot the figures of the county experiment.

ISDP is *Integer Subspace Differential Privacy*, and SDP is *Subspace Differential Privacy*.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from isdp.plots.boxes import ONE_DRAW, box_handles, draw_boxes, name_boxes
from isdp.plots.style import (
    BOX,
    DARK,
    DAS,
    DRAW,
    FAINT,
    INK,
    WIDTH,
    finish,
    message_figure,
    panels,
    styled,
)
from reproduction.counties.experiment import MAX_USUAL_NOISE
from reproduction.data.differences import extend_title, note_state, note_vintage

MAX_PANEL_COUNTIES = 105
MAX_PROJECTED_COUNTIES = 60  # in one panel of the figure with two boxes for each county
COUNTY_AXIS_LABEL = "county (2010 population), from the least populous to the most"
PROJECTED_COLOUR = "#3d9970"
PROJECTED = "solver"  # choice of a nearest vector that the figure shows
PAPER_SIGNIFICANT = 11  # negative slopes that are significant at 0.01 in SDP
MAX_COLOURED_STATES = 3  # number of states that the truncation figure names


def format_state_title(
    state: str, rule: str, mechanism: Mapping, draws: str, vintage: str = ""
) -> str:
    """Format the title of a figure of one state. `draws` describes the draws of noise in words."""
    return extend_title(
        f"{state}: noise of each county ({mechanism['norm']} generalized Laplace, epsilon = "
        f"{mechanism['epsilon']:g}), {draws}",
        note_state(state, rule),
        note_vintage(vintage),
    )


@styled
def plot_county_boxes(
    boxes: pd.DataFrame, title: str, vintage: str, usual_share: float | None = None
) -> Figure:
    """Plot the noise of each county of a state as a box plot, in the order of population.

    `boxes` is a table from `experiment.tabulate_boxes`. The counties are divided into panels of at
    most `MAX_PANEL_COUNTIES`. The vertical axis ends at `MAX_USUAL_NOISE` if whiskers and marks are
    within it. `usual_share` is the share of the draws within `MAX_USUAL_NOISE`, which the title
    gives.
    """
    boxes = boxes.assign(position=boxes["rank"], label=_county_labels(boxes))
    parts = _rows_of_counties(boxes, MAX_PANEL_COUNTIES)
    figure, axes = panels(len(parts), 1, (WIDTH, 1.6 + 3.4 * len(parts)), sharey=True)
    marks = dict(ONE_DRAW)
    if (boxes["series"] == "das_error").any():
        marks["das_error"] = ("o", DAS, f"error of the Census DAS, vintage {vintage}")
    for axis, part in zip(axes[:, 0], parts, strict=True):
        draw_boxes(axis, part, marks=marks)
        axis.set(xlim=_limits(part), ylabel="noise (persons)")
    reach = 1.05 * boxes.loc[boxes["series"] != "extreme", "value"].abs().max()
    axes[0, 0].set_ylim(-max(MAX_USUAL_NOISE, reach), max(MAX_USUAL_NOISE, reach))
    axes[-1, 0].set_xlabel(COUNTY_AXIS_LABEL)
    if usual_share is not None:
        title += f"\n{1 - usual_share:.2%} of the draws are beyond {MAX_USUAL_NOISE} persons"
    return finish(figure, title, box_handles(marks))


@styled
def plot_projected_boxes(boxes: pd.DataFrame, title: str) -> Figure:
    """Plot projected noise and generalized Laplace noise by county (ISDP, Figures 9 and 10).

    `boxes` is a table from `projection.tabulate_projected_boxes`. The figure shows the nearest
    vector that the solver returns. If a box is much larger than the others, it exceeds the scale of
    the panel. A label then gives its quartiles and whiskers.
    """
    boxes = boxes[boxes["law"].isin(["generalized", PROJECTED])]
    boxes = boxes.assign(label=_county_labels(boxes))
    parts = _rows_of_counties(boxes, MAX_PROJECTED_COUNTIES)
    figure, axes = panels(len(parts), 1, (WIDTH, 1.4 + 3 * len(parts)), sharey=True)
    largest = boxes.loc[boxes["series"].isin(["whisker_low", "whisker_high"]), "value"].abs()
    reach = 1.15 * float(largest[largest <= 2.5 * largest.median()].max())
    for axis, part in zip(axes[:, 0], parts, strict=True):
        for law, colour, shift in (("generalized", BOX, -0.2), (PROJECTED, PROJECTED_COLOUR, 0.2)):
            own = part[part["law"] == law]
            own = own.assign(position=own["rank"] + shift)
            draw_boxes(axis, own, colour=colour, width=0.36, marks=None)
        _label_boxes(axis, _far_boxes(part[part["law"] == PROJECTED], reach), reach)
        axis.set(xlim=_limits(part), ylim=(-reach, reach), ylabel="noise (persons)", xticks=[])
        named = part.drop_duplicates("rank")
        name_boxes(axis, named.assign(position=named["rank"]))
    axes[-1, 0].set_xlabel(COUNTY_AXIS_LABEL)
    handles = [
        Patch(facecolor=BOX, edgecolor=INK, label="generalized Laplace"),
        Patch(facecolor=PROJECTED_COLOUR, edgecolor=INK, label="projected discrete Laplace"),
        Line2D([], [], color=INK, lw=0.8, label="whiskers: 1.5 interquartile ranges"),
    ]
    return finish(figure, title, handles)


def _rows_of_counties(boxes: pd.DataFrame, most: int) -> list[pd.DataFrame]:
    ranks = np.arange(1, boxes["rank"].max() + 1)
    rows = np.array_split(ranks, -(-len(ranks) // most))
    return [boxes[boxes["rank"].isin(row)] for row in rows]


def _limits(part: pd.DataFrame) -> tuple[float, float]:
    return part["rank"].min() - 0.8, part["rank"].max() + 0.8


def _county_labels(boxes: pd.DataFrame) -> pd.Series:
    """Format labels with the population and the name, without words such as County."""
    words = r" (?:County|Parish|Municipio|Census Area|Borough)$"
    names = boxes["county"].str.replace(words, "", regex=True)
    return names + " (" + boxes["population"].map("{:,}".format) + ")"


def _far_boxes(boxes: pd.DataFrame, reach: float) -> pd.DataFrame:
    wide = boxes.pivot_table("value", ["rank", "county"], "series").reset_index()
    return wide[wide[["whisker_low", "whisker_high"]].abs().max(axis=1) > reach]


def _label_boxes(axis: Axes, far: pd.DataFrame, reach: float) -> None:
    for _, row in far.iterrows():
        axis.annotate(
            f"{row['county']} exceeds the scale: quartiles {row['q1']:.0f} and {row['q3']:.0f}, "
            f"whiskers {row['whisker_low']:.0f} and {row['whisker_high']:.0f}",
            (row["rank"] + 0.4, 0.9 * reach),
            xytext=(8, 0),
            textcoords="offset points",
            fontsize=8,
            color=DAS,
            va="center",
            bbox={"facecolor": "white", "alpha": 0.85, "lw": 0, "pad": 1},
        )


@styled
def plot_slopes(regressions: pd.DataFrame, vintage: str) -> Figure:
    """Plot the regression slopes of all states, with intervals (SDP, left panel of Figure 1)."""
    own = f"errors of the Census DAS: vintage {vintage}" if vintage else ""
    title = "Slope of the errors of the Census DAS on log population, by state"
    known = regressions.dropna(subset=["slope"]).sort_values("slope").reset_index(drop=True)
    if known.empty:
        return message_figure(
            extend_title(title, note_vintage(vintage) or own),
            "Without demonstration data there are no errors of the Census DAS to regress.\n"
            "Set data.file in the config or NHGIS_PPDD_FILE to their file, and run again.",
        )
    figure, ((axis,),) = panels(1, 1, (WIDTH, 4.4))
    significant = known["significant"].astype(bool)
    for flag, colour, face, label in (
        (False, FAINT, FAINT, "not significant"),
        (True, DAS, "white", "significant"),
    ):
        part = known[significant == flag]
        reach = [part["slope"] - part["low"], part["high"] - part["slope"]]
        look = {"fmt": "o", "color": colour, "mfc": face, "ms": 4 + 2 * flag, "lw": 1}
        label = f"{label} at 0.01 ({len(part)})"
        axis.errorbar(part.index, part["slope"], yerr=reach, label=label, **look)
    axis.axhline(0, color=INK, lw=0.8)
    axis.set_xticks(known.index, known["state"], rotation=90, fontsize=8)
    axis.set(
        xlim=(-0.8, len(known) - 0.2),
        xlabel="state or territory, by slope",
        ylabel="slope (persons per unit of log population)\nwith its 99 % interval",
    )
    axis.grid(False, axis="x")
    negative = int((significant & (known["slope"] < 0)).sum())
    counts = f"{negative} negative and significant slopes; SDP has {PAPER_SIGNIFICANT}"
    title = extend_title(title, note_vintage(vintage) or own, counts)
    return finish(figure, title, axis.containers)


@styled
def plot_convergence(rhat: pd.DataFrame, title: str) -> Figure:
    """Plot R-hat and the effective sample size of every county, with one row per state."""
    np.random.seed(1)  # noqa: NPY002  seaborn's jitter uses this generator
    moving = rhat[~rhat["frozen"].astype(bool)]
    states = rhat["state"].unique()
    figure, axes = panels(1, 2, (WIDTH, 1.6 + 0.32 * len(states)), sharey=True)
    for axis, column, limit, label in (
        (axes[0, 0], "rhat", 1.01, "R-hat of a county's noise"),
        (axes[0, 1], "ess_bulk", 2000, "bulk effective sample size (draws)"),
    ):
        look = {"size": 2.4, "color": DRAW, "alpha": 0.5, "linewidth": 0, "rasterized": True}
        sns.stripplot(moving, x=column, y="state", order=states, ax=axis, jitter=0.28, **look)
        _mark(axis, limit, f"criterion: {limit:,}", "--")
        axis.set(xlabel=label, ylabel="state" if column == "rhat" else "")
    axes[0, 1].set_xlim(left=0)
    axes[0, 0].locator_params(axis="x", nbins=6)
    axes[0, 1].xaxis.set_major_formatter("{x:,.0f}")
    frozen = int(rhat["frozen"].sum())
    note = f"; {frozen} frozen counties are not shown" if frozen else ""
    return finish(figure, title + note)


@styled
def plot_truncation(shown: pd.DataFrame, landmarks: pd.DataFrame, epsilon: float) -> Figure:
    """Plot the expected truncation of each state, and the population that makes truncation rare.

    `shown` is a table from `truncation.tabulate_figure`. The populations of the counties in
    `landmarks` are marked.
    """
    figure, ((left, right),) = panels(1, 2, (WIDTH, 4))
    curves, needed = shown.dropna(subset="expected"), shown.dropna(subset="population")
    first = curves[curves["expected"] >= 1e-3].groupby("state")["epsilon"].max()
    named = first.sort_values(ascending=False).index[:MAX_COLOURED_STATES]
    lines = 1000 * curves[curves["expected"] > 0].pivot(
        index="epsilon", columns="state", values="expected"
    )
    left.plot(lines.drop(columns=named), color="#cccccc", lw=0.7, zorder=1)
    for state, colour in zip(named, DARK, strict=False):
        line = lines[state].dropna()
        left.plot(line, color=colour, lw=1.4, label=state)
        place = line[line >= 1].index[-1] if (line >= 1).any() else line.index[0]
        look = {"xytext": (4, 3), "textcoords": "offset points", "color": colour}
        left.annotate(state, (place, line[place]), fontsize=8.5, weight="bold", **look)
    left.axhline(1, color=FAINT, lw=0.8)
    left.set(ylim=(1e-6, 1e6), ylabel="counties truncated in 1000 releases (expected)")
    left.set_title("each state (grey: the others)", loc="left", fontsize=9, pad=16)
    for chance, part in needed.groupby("chance"):
        style = "-" if chance == needed["chance"].max() else "--"
        label = f"probability {chance:g}"
        right.plot(part["epsilon"], part["population"].clip(0.5), style, color=INK, label=label)
    for _, mark in landmarks.iterrows():
        right.axhline(mark["population"], color=FAINT, lw=0.7)
        county = mark["county"].removesuffix(" County")
        text = f"{county}, {mark['state']}: {mark['population']:,}"
        look = {"ha": "right", "va": "bottom", "fontsize": 8, "color": "#555555"}
        above, place = 1.06 * mark["population"], right.get_yaxis_transform()
        right.text(0.99, above, text, transform=place, **look)
    right.set_ylabel("population of the county")
    right.set_title("one county: rarer above a line", loc="left", fontsize=9, pad=16)
    right.legend(loc="lower left", frameon=True)
    for axis in (left, right):
        axis.set(xscale="log", yscale="log", xlabel="epsilon, per unit of the l1 norm")
        _mark(axis, epsilon, f"paper: {epsilon:g}", ":")
    return finish(figure, "Truncation of county counts at zero (exact distribution, l1 mechanism)")


def _mark(axis: Axes, value: float, text: str, style: str) -> None:
    axis.axvline(value, color=DAS, lw=1, ls=style)
    look = {"ha": "center", "va": "bottom", "color": DAS, "fontsize": 8}
    axis.annotate(text, (value, 1.0), xycoords=("data", "axes fraction"), **look)
