"""One style, and one function a kind of figure; each draws a summary table and nothing else."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from isdp.files import whole

INK = "#222222"
BOX = "#b9cfe4"
DRAW = "#1f5fa8"
DAS = "#c23b22"
FAINT = "#9a9a9a"
COUNTIES_IN_A_ROW = 130
STYLE = {
    "figure.dpi": 100,
    "savefig.dpi": 130,
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "legend.fontsize": 8.5,
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.8,
    "grid.color": "#e6e6e6",
    "svg.hashsalt": "isdp",
    "svg.fonttype": "path",
}


def save(figure: Figure, svg, png) -> None:
    """Save a figure as SVG and PNG without dates, so that equal data give equal files."""
    for path, metadata in ((svg, {"Date": None, "Creator": None}), (png, {"Software": None})):
        with whole(path) as temporary, mpl.rc_context(STYLE):
            kind = Path(path).suffix[1:]
            figure.savefig(temporary, format=kind, metadata=metadata, bbox_inches="tight")
    plt.close(figure)


def _styled(function):
    """Run a figure's function under the one style."""

    def styled(*arguments, **options):
        with sns.axes_style("whitegrid"), mpl.rc_context(STYLE):
            return function(*arguments, **options)

    styled.__name__, styled.__doc__ = function.__name__, function.__doc__
    return styled


@_styled
def county_boxes(boxes: pd.DataFrame, title: str) -> Figure:
    """Noise of each county of a state as box plots, in increasing population.

    Parameters
    ----------
    boxes : DataFrame
        From `isdp.counties.box_table`. Above 130 counties the boxes go on in a next row.
    title : str
    """
    last = int(boxes["rank"].max())
    rows = -(-last // COUNTIES_IN_A_ROW)
    width = -(-last // rows)
    figure, axes = plt.subplots(
        rows, 1, figsize=(max(9.5, 1.5 + 0.125 * width), 1 + 3.3 * rows), squeeze=False, sharey=True
    )
    for row, axis in enumerate(axes[:, 0]):
        low = 1 + row * width
        part = boxes[boxes["rank"].between(low, low + width - 1)]
        _draw_boxes(axis, part)
        axis.set_xlim(low - 0.8, low + width - 0.2)
        axis.set_ylabel("noise (persons)")
    axes[-1, 0].set_xlabel("county (2010 population), from the least populous to the most")
    axes[0, 0].set_title(title, loc="left", pad=26)
    handles = [
        Patch(facecolor=BOX, edgecolor=INK, label="middle half of the draws, median"),
        Line2D([], [], color=INK, lw=0.8, label="whiskers: 1.5 interquartile ranges"),
        Line2D([], [], color=FAINT, marker="x", ms=3, ls="", label="draws beyond"),
        Line2D([], [], color=DRAW, marker="s", ms=4, ls="", label="one draw"),
    ]
    if (boxes["series"] == "das_error").any():
        handles.append(
            Line2D([], [], color=DAS, marker="o", ms=4, ls="", label="error of the Census DAS")
        )
    axes[0, 0].legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=len(handles),
        frameon=False,
        borderaxespad=0.2,
        handletextpad=0.5,
        columnspacing=1.4,
        borderpad=0,
    )
    figure.align_ylabels()
    figure.tight_layout()
    return figure


def _draw_boxes(axis, boxes: pd.DataFrame) -> None:
    wide = boxes[boxes["series"] != "extreme"].pivot(index="rank", columns="series", values="value")
    stats = [
        {
            "med": row["median"],
            "q1": row["q1"],
            "q3": row["q3"],
            "whislo": row["whisker_low"],
            "whishi": row["whisker_high"],
        }
        for _, row in wide.iterrows()
    ]
    axis.bxp(
        stats,
        positions=wide.index,
        widths=0.62,
        showfliers=False,
        showcaps=False,
        patch_artist=True,
        boxprops={"facecolor": BOX, "edgecolor": INK, "linewidth": 0.6},
        medianprops={"color": INK, "linewidth": 1.1},
        whiskerprops={"color": INK, "linewidth": 0.6},
    )
    extreme = boxes[boxes["series"] == "extreme"]
    axis.plot(extreme["rank"], extreme["value"], "x", color=FAINT, ms=1.8, mew=0.4, rasterized=True)
    axis.plot(wide.index, wide["one_draw"], "s", color=DRAW, ms=3)
    if "das_error" in wide:
        axis.plot(wide.index, wide["das_error"], "o", color=DAS, ms=3)
    axis.axhline(0, color=INK, lw=0.6, zorder=0)
    named = boxes.drop_duplicates("rank")
    labels = [
        f"{_short(county)} ({population:,})"
        for county, population in zip(named["county"], named["population"], strict=True)
    ]
    axis.set_xticks(named["rank"], labels, rotation=90, fontsize=6.2)
    axis.grid(False, axis="x")
    axis.tick_params(axis="x", length=2, pad=1)


def _short(county: str) -> str:
    """Drop the word that all names of a state share."""
    for word in (" County", " Parish", " Municipio", " Census Area", " Borough"):
        county = county.removesuffix(word)
    return county


@_styled
def slopes(regressions: pd.DataFrame, title: str, level: float = 0.99) -> Figure:
    """Slopes of all states with their confidence intervals (SDP, Figure 1, left).

    Parameters
    ----------
    regressions : DataFrame
        From `isdp.regression.das_regressions`, with columns low and high for the interval.
        Where all slopes are missing the figure says that there is nothing to show.
    title : str
    level : float
        Level of the interval, for the legend.
    """
    known = regressions.dropna(subset=["slope"]).sort_values("slope").reset_index(drop=True)
    figure, axis = plt.subplots(figsize=(9.5, 4.2))
    axis.set_title(title, loc="left")
    if known.empty:
        axis.set_axis_off()
        axis.text(
            0.5,
            0.5,
            "No demonstration data at hand: there are no DAS errors to regress.\n"
            "Give the file in the config (data.file) or in NHGIS_PPDD_FILE and run again.",
            ha="center",
            va="center",
            transform=axis.transAxes,
        )
        return figure
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
    figure.tight_layout()
    return figure


@_styled
def convergence_strips(rhat: pd.DataFrame, title: str) -> Figure:
    """R-hat and effective sample size of every county, a strip of points a state.

    Parameters
    ----------
    rhat : DataFrame
        Table counties_rhat: columns state, rhat, ess_bulk, frozen.
    title : str
    """
    moving = rhat[~rhat["frozen"].astype(bool)]
    states = list(dict.fromkeys(rhat["state"]))
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 0.8 + 0.32 * len(states) + 0.8), sharey=True)
    for axis, column, limit, label in (
        (axes[0], "rhat", 1.01, "R-hat of a county's noise"),
        (axes[1], "ess_bulk", 2000, "effective draws of a county's noise (bulk)"),
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
        )
        axis.axvline(limit, color=DAS, lw=1, ls="--")
        axis.annotate(
            f"bar: {limit:,}",
            (limit, 1.0),
            xycoords=("data", "axes fraction"),
            ha="center",
            va="bottom",
            color=DAS,
            fontsize=8,
        )
        axis.set_xlabel(label)
        axis.set_ylabel("state" if column == "rhat" else "")
    axes[1].set_xlim(left=0)
    frozen = int(rhat["frozen"].sum())
    note = f"; {frozen} frozen counties are not shown" if frozen else ""
    figure.suptitle(title + note, x=0.01, ha="left", fontsize=10)
    figure.tight_layout()
    return figure
