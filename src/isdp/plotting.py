"""One style, and one function a kind of figure; each draws a summary table and nothing else."""

from __future__ import annotations

from functools import wraps
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
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
VARIANTS = {
    "paper": "paper: Smith basis, joint acceptance",
    "reduced": "reduced: LLL basis, by coordinate",
}
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
    with mpl.rc_context(STYLE):
        figure.draw_without_rendering()  # once for both files: "tight" would do it for each
        area = figure.get_tightbbox().padded(mpl.rcParams["savefig.pad_inches"])
        for path, metadata in ((svg, {"Date": None, "Creator": None}), (png, {"Software": None})):
            with whole(path) as temporary:
                kind = Path(path).suffix[1:]
                figure.savefig(temporary, format=kind, metadata=metadata, bbox_inches=area)
    plt.close(figure)


def styled(function):
    """Run a figure's function under the one style."""

    @wraps(function)
    def drawn(*arguments, **options):
        with sns.axes_style("whitegrid"), mpl.rc_context(STYLE):
            return function(*arguments, **options)

    return drawn


@styled
def county_boxes(boxes: pd.DataFrame, title: str) -> Figure:
    """Noise of each county of a state as box plots, in increasing population.

    Parameters
    ----------
    boxes : DataFrame
        From `isdp.counties.box_table`. Above 130 counties the boxes go on in a next row.
    title : str
    """
    boxes = boxes.assign(position=boxes["rank"], label=county_labels(boxes))
    last = int(boxes["rank"].max())
    rows = -(-last // COUNTIES_IN_A_ROW)
    width = -(-last // rows)
    figure, axes = plt.subplots(
        rows, 1, figsize=(max(9.5, 1.5 + 0.125 * width), 1 + 3.3 * rows), squeeze=False, sharey=True
    )
    for row, axis in enumerate(axes[:, 0]):
        low = 1 + row * width
        part = boxes[boxes["rank"].between(low, low + width - 1)]
        draw_boxes(axis, part)
        axis.set_xlim(low - 0.8, low + width - 0.2)
        axis.set_ylabel("noise (persons)")
    axes[-1, 0].set_xlabel("county (2010 population), from the least populous to the most")
    axes[0, 0].set_title(title, loc="left", pad=26)
    handles = box_handles()
    if (boxes["series"] == "das_error").any():
        handles.append(
            Line2D([], [], color=DAS, marker="o", ms=4, ls="", label="error of the Census DAS")
        )
    legend_above(axes[0, 0], handles)
    figure.align_ylabels()
    figure.tight_layout()
    return figure


def box_handles() -> list:
    """Legend entries of a box plot."""
    return [
        Patch(facecolor=BOX, edgecolor=INK, label="middle half of the draws, median"),
        Line2D([], [], color=INK, lw=0.8, label="whiskers: 1.5 interquartile ranges"),
        Line2D([], [], color=FAINT, marker="x", ms=3, ls="", label="draws beyond"),
        Line2D([], [], color=DRAW, marker="s", ms=4, ls="", label="one draw"),
    ]


def legend_above(axis, handles) -> None:
    """Put a legend in one line above the axis."""
    axis.legend(
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


def box_stats(row: pd.Series) -> dict[str, float]:
    """Name the quartiles and whiskers of one box as matplotlib's bxp takes them."""
    return {
        "med": row["median"],
        "q1": row["q1"],
        "q3": row["q3"],
        "whislo": row["whisker_low"],
        "whishi": row["whisker_high"],
    }


def draw_boxes(
    axis, boxes: pd.DataFrame, *, colour: str = BOX, width: float = 0.62, points: bool = True
) -> None:
    """Draw box plots from the columns position, label, series and value.

    `points` also draws what lies beyond the whiskers, one draw, and the DAS errors if there are.
    """
    wide = boxes[boxes["series"] != "extreme"].pivot(
        index="position", columns="series", values="value"
    )
    stats = [box_stats(row) for _, row in wide.iterrows()]
    axis.bxp(
        stats,
        positions=wide.index,
        widths=width,
        showfliers=False,
        showcaps=False,
        patch_artist=True,
        boxprops={"facecolor": colour, "edgecolor": INK, "linewidth": 0.6},
        medianprops={"color": INK, "linewidth": 1.1},
        whiskerprops={"color": INK, "linewidth": 0.6},
    )
    if points:
        extreme = boxes[boxes["series"] == "extreme"]
        axis.plot(
            extreme["position"],
            extreme["value"],
            "x",
            color=FAINT,
            ms=1.8,
            mew=0.4,
            rasterized=True,
        )
        axis.plot(wide.index, wide["one_draw"], "s", color=DRAW, ms=3)
        if "das_error" in wide:
            axis.plot(wide.index, wide["das_error"], "o", color=DAS, ms=3)
    axis.axhline(0, color=INK, lw=0.6, zorder=0)
    named = boxes.drop_duplicates("position")
    axis.set_xticks(named["position"], named["label"], rotation=90, fontsize=6.2)
    axis.grid(False, axis="x")
    axis.tick_params(axis="x", length=2, pad=1)


def county_labels(boxes: pd.DataFrame) -> pd.Series:
    """Name and population, without the word that all names of a state share."""
    words = r" (?:County|Parish|Municipio|Census Area|Borough)$"
    names = boxes["county"].str.replace(words, "", regex=True)
    return names + " (" + boxes["population"].map("{:,}".format) + ")"


@styled
def cell_boxes(boxes: pd.DataFrame, title: str, laws: dict[str, str]) -> Figure:
    """Noise of each cell as box plots, a panel a law (ISDP, Figures 5 and 7).

    Parameters
    ----------
    boxes : DataFrame
        From `isdp.lattices.box_table`: columns cell, name, norm, series and value.
    title : str
    laws : dict
        A description of each law, by its name in the column norm; those without boxes are left
        out.
    """
    laws = {law: words for law, words in laws.items() if (boxes["norm"] == law).any()}
    if not laws:
        return message(title, "No perfect sampler is practical here: see the table of agreement.")
    boxes = boxes.assign(position=boxes["cell"] + 1, label=boxes["name"])
    cells = int(boxes["position"].max())
    figure, axes = plt.subplots(
        len(laws),
        1,
        figsize=(max(9.5, 2 + 0.3 * cells), 1.6 + 2.4 * len(laws)),
        squeeze=False,
        sharex=True,
    )
    for axis, (law, words) in zip(axes[:, 0], laws.items(), strict=True):
        draw_boxes(axis, boxes[boxes["norm"] == law])
        axis.set_xlim(0.3, cells + 0.7)
        axis.set_ylabel(f"noise (persons)\n{words}", fontsize=8)
    axes[-1, 0].tick_params(axis="x", labelsize=8)
    axes[0, 0].set_title(title, loc="left", pad=26)
    legend_above(axes[0, 0], box_handles())
    figure.align_ylabels()
    figure.tight_layout()
    return figure


@styled
def message(title: str, text: str) -> Figure:
    """Say in place of a figure why there is none."""
    figure, axis = plt.subplots(figsize=(9.5, 2.4))
    axis.set_title(title, loc="left")
    axis.set_axis_off()
    axis.text(0.5, 0.5, text, ha="center", va="center", transform=axis.transAxes)
    return figure


@styled
def tv_bounds(
    curves: pd.DataFrame, trails: pd.DataFrame, distances: pd.DataFrame, title: str, laws: dict
) -> Figure:
    """Bounds on the distance to the target against iterations (ISDP, Figures 1, 4 and 6).

    A row a law; the first panels are the variants side by side, with the chain's actual distance
    beneath the bounds; the last shows how the lag was chosen. Bounds that rest on censored runs
    are dashed and said to be not converged.

    Parameters
    ----------
    curves : DataFrame
        Columns norm, variant, lag, t, bound, low, high and censored.
    trails : DataFrame
        Columns norm, variant, lag, bound_at_0, censored and chosen.
    distances : DataFrame
        Columns norm, variant, t, statistic and distance, from `isdp.agreement.distance_curve`.
    title : str
    laws : dict
        A description of each law, by its name in the column norm.
    """
    variants = list(dict.fromkeys(curves["variant"]))
    columns = len(variants) + 1
    figure, axes = plt.subplots(
        len(laws), columns, figsize=(4.1 * columns, 0.6 + 3.5 * len(laws)), squeeze=False
    )
    for row, (law, words) in zip(axes, laws.items(), strict=True):
        for axis, variant in zip(row, variants, strict=False):
            part = curves[(curves["norm"] == law) & (curves["variant"] == variant)]
            chosen = trails.loc[
                (trails["norm"] == law) & (trails["variant"] == variant) & trails["chosen"], "lag"
            ]
            actual = distances[(distances["norm"] == law) & (distances["variant"] == variant)]
            _draw_bounds(axis, part, int(chosen.iloc[0]), actual)
            axis.set_title(f"{VARIANTS.get(variant, variant)}", fontsize=9, loc="left")
        row[0].set_ylabel(f"bound on total variation\n{words}", fontsize=8)
        _draw_lags(row[-1], trails[trails["norm"] == law], variants)
    for row in axes:
        for axis in row[:-1]:
            axis.set_xlabel("iterations t + 1")
        row[-1].set_xlabel("lag L (iterations)")
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    figure.tight_layout()
    return figure


def bound_title(experiment: str, runs: int) -> str:
    """Title of a figure of bounds."""
    return (
        f"{experiment}: distance of the chain from its target, {runs} coupled chains for each lag"
    )


def bound_points(curves: pd.DataFrame, distances: pd.DataFrame) -> pd.DataFrame:
    """Points of a figure of bounds: the bounds, and beneath them the actual distances."""
    return pd.concat([curves, distances.rename(columns={"distance": "actual_distance"})])


ACTUAL = {
    "in full": ("actual, in full", "o", INK),
    "norm": ("actual, the norm", ".", INK),
    "cells": ("actual, worst cell", "+", FAINT),
}


def _draw_bounds(axis, curves: pd.DataFrame, chosen: int, actual: pd.DataFrame) -> None:
    lags = sorted(curves["lag"].unique())
    for colour, lag in zip(sns.color_palette("crest", len(lags)), lags, strict=True):
        part = curves[curves["lag"] == lag]
        censored = int(part["censored"].iloc[0])
        axis.plot(
            part["t"] + 1,
            part["bound"],
            color=colour,
            lw=1.4,
            ls="--" if censored else "-",
            label=f"L = {lag:,}" + (f" ({censored} runs say nothing)" if censored else ""),
        )
        axis.fill_between(part["t"] + 1, part["low"], part["high"], color=colour, alpha=0.18, lw=0)
    for statistic, (label, marker, colour) in ACTUAL.items():
        part = actual[actual["statistic"] == statistic]
        if len(part):
            axis.plot(
                part["t"] + 1,
                part["distance"],
                marker,
                color=colour,
                ms=4,
                ls=":",
                lw=0.7,
                label=label,
            )
    axis.set_xscale("log")
    axis.set_ylim(0, 1.15)
    axis.axhline(1, color=FAINT, lw=0.7)
    axis.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.2),
        ncols=3,
        frameon=False,
        fontsize=7.5,
        columnspacing=1.2,
        title="lag, with its 99 % band",
        title_fontsize=7.5,
    )
    ringed = curves[curves["lag"] == chosen]
    cut = int(ringed["censored"].max())
    first = ringed.loc[ringed["bound"] < 0.01, "t"].min()
    words = f"L = {chosen:,}: below 0.01 from t = {first:,.0f}"
    if cut:
        words = f"not converged:\n{cut} runs never met\nor never moved"
    axis.text(
        0.97,
        0.95,
        words,
        transform=axis.transAxes,
        ha="right",
        va="top",
        color=DAS if cut else INK,
        fontsize=8,
        bbox={"facecolor": "white", "alpha": 0.8, "lw": 0, "pad": 1.5},
    )


def _draw_lags(axis, trails: pd.DataFrame, variants: list[str]) -> None:
    for colour, variant in zip(sns.color_palette("dark", len(variants)), variants, strict=True):
        part = trails[trails["variant"] == variant]
        axis.plot(part["lag"], part["bound_at_0"], "o-", color=colour, ms=3, lw=1, label=variant)
        chosen = part[part["chosen"].astype(bool)]
        axis.plot(chosen["lag"], chosen["bound_at_0"], "o", mfc="none", mec=colour, ms=10)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.axhline(1, color=FAINT, lw=0.7)
    axis.set_title("how the lag was chosen (ring)", fontsize=9, loc="left")
    axis.set_ylabel("bound at t = 0", fontsize=8)
    axis.legend(loc="upper right", frameon=False)


@styled
def constraints_diagram(constraints: dict[str, list[str]], records: list[str]) -> Figure:
    """Which records each constraint counts (ISDP, Figure 3).

    Three constraints give a diagram of three sets whose regions hold the records; any other
    number gives a grid of records against constraints.

    Parameters
    ----------
    constraints : dict from str to list of str
        The records of each constraint.
    records : list of str
        All records.
    """
    if len(constraints) == 3:
        return _three_sets(constraints, records)
    figure, axis = plt.subplots(
        figsize=(max(5, 1.5 + 0.28 * len(records)), 1.2 + 0.35 * len(constraints))
    )
    for row, members in enumerate(constraints.values()):
        held = [records.index(record) for record in members]
        axis.plot(range(len(records)), [row] * len(records), ".", color="#dddddd", ms=4)
        axis.plot(held, [row] * len(held), "o", color=DRAW, ms=6)
    axis.set_yticks(range(len(constraints)), list(constraints))
    axis.set_xticks(range(len(records)), records, rotation=90 if len(records) > 20 else 0)
    axis.set_xlabel("record")
    axis.set_title("Records that each constraint counts", loc="left")
    axis.invert_yaxis()
    axis.grid(False)
    figure.tight_layout()
    return figure


def _three_sets(constraints: dict[str, list[str]], records: list[str]) -> Figure:
    angles = np.deg2rad([90, 210, 330])
    centres = 0.62 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    names, sets = list(constraints), [set(members) for members in constraints.values()]
    figure, axis = plt.subplots(figsize=(5.4, 5.2))
    for centre, name, colour in zip(centres, names, sns.color_palette("deep", 3), strict=True):
        axis.add_patch(plt.Circle(centre, 1, facecolor=colour, alpha=0.16, lw=0))
        axis.add_patch(plt.Circle(centre, 1, fill=False, edgecolor=colour, lw=1.4))
        axis.text(*(2.9 * centre), name, ha="center", va="center", color=colour, weight="bold")
    regions: dict[tuple[bool, ...], list[str]] = {}
    for record in records:
        regions.setdefault(tuple(record in members for members in sets), []).append(record)
    for region, members in regions.items():
        inside, count = np.array(region), sum(region)
        where = centres[inside].sum(axis=0) * {1: 1.6, 2: 1.0}.get(count, 0.0)
        if count == 0:
            where = np.array([1.35, 1.35])
        axis.text(*where, "\n".join(_lines(members)), ha="center", va="center", fontsize=9)
    axis.set_xlim(-2.0, 2.0)
    axis.set_ylim(-1.75, 2.05)
    axis.set_aspect("equal")
    axis.set_axis_off()
    figure.tight_layout()
    return figure


def _lines(members: list[str], width: int = 3) -> list[str]:
    """Put so many records of a region in a line."""
    return [", ".join(members[i : i + width]) for i in range(0, len(members), width)]


@styled
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
    if known.empty:
        return message(
            title,
            "No demonstration data at hand: there are no DAS errors to regress.\n"
            "Give the file in the config (data.file) or in NHGIS_PPDD_FILE and run again.",
        )
    figure, axis = plt.subplots(figsize=(9.5, 4.2))
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


@styled
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
