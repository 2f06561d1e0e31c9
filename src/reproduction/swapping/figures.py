"""Figures of swapping; each draws its tables and nothing else."""

from __future__ import annotations

from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.special import chdtri

from isdp.plots.style import BOX, DARK, DAS, DRAW, FAINT, INK, finish, panels, styled

# limits of the comparison of swapping and integer noise, under every figure of the two
FAIRNESS = (
    "Swapping's epsilon covers every table made from the swapped records, that of noise this table "
    "alone: beyond the break-even number of tables swapping costs less.",
    "Swapping returns records, noise a table.",
    "The percentage error is set by the smallest counties; errors of swapping grow with the "
    "county, those of noise do not.",
    "Three readings of swapping's loss: the published bound; what an observer of uniquely "
    "described households gains; and a lower bound of the loss if this table alone is released, "
    "for counties of one household.",
)
SHADES = ("#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08306b")
LEAST_SHOWN = 1e-5  # per cent; smaller errors of the table are no change at all in most draws
MARKS = {
    "nominal": (DAS, "published bound"),
    "bayes_factor": (DRAW, "what an observer gains"),
    "table_only": (FAINT, "this table alone, from below"),
}


def _mixes(scenarios) -> dict[str, str]:
    """One colour for each mix of households, in every figure that has several."""
    return dict(zip(scenarios, np.resize([INK, DRAW, DAS, *DARK[2:]], len(scenarios)), strict=True))


@styled
def budget(curves: pd.DataFrame, printed: pd.DataFrame, title: str) -> Figure:
    """Draw epsilon by swap rate for each largest stratum, its minimum, and the printed numbers.

    Parameters
    ----------
    curves : DataFrame
        From `reproduction.swapping.budgets.curves`.
    printed : DataFrame
        From `reproduction.swapping.budgets.printed_budgets`.
    title : str
    """
    figure, ((axis,),) = panels(1, 1, (8, 4.6))
    sizes = sorted(curves["largest"].unique())
    for largest, colour in zip(sizes, np.resize(SHADES, len(sizes)), strict=True):
        part = curves[curves["largest"] == largest]
        axis.plot(part["rate"], part["epsilon_bound"], color=colour, label=f"b = {largest:,}")
        axis.plot(part["rate"], part["epsilon_exact"], color=colour, ls=":", lw=1)
        least = part.loc[part["epsilon_bound"].idxmin()]
        axis.plot(least["rate"], least["epsilon_bound"], "o", color=colour, ms=5)
    axis.plot(printed["rate"], printed["epsilon"], "x", color=DAS, ms=5, label="printed")
    ring = {"mfc": "none", "mec": INK, "ms": 9, "mew": 0.8, "ls": ""}
    label = "bound for the printed row's own b"
    axis.plot(printed["rate"], printed["computed"], "o", **ring, label=label)
    apart = _gap_beyond_least(curves)
    axis.plot([], [], ls=":", color=INK, label=f"exact worst case{apart}")
    axis.plot([], [], "o", color=INK, ms=5, ls="", label="smallest bound that any rate has")
    axis.set_xscale("logit")
    axis.set_xticks([0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999])
    axis.set_xticklabels(["0.1 %", "1 %", "10 %", "50 %", "90 %", "99 %", "99.9 %"])
    axis.set_xticks([], minor=True)
    axis.set_xlabel("swap rate (evenly spaced in its log-odds)")
    axis.set_ylabel("epsilon for each record that differs (nats)")
    axis.set_ylim(0)
    axis.legend(
        title="b: records of the largest stratum, within which records are swapped",
        loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, alignment="left",
    )  # fmt: skip
    return finish(figure, title)


def _gap_beyond_least(curves: pd.DataFrame) -> str:
    """Say how near the exact worst case is where its line is hidden under the bound's."""
    largest = sorted(curves["largest"].unique())[1:]
    if not largest:
        return ""
    part = curves[curves["largest"].isin(largest)]
    gap = (part["epsilon_bound"] - part["epsilon_exact"]).max()
    return f" (less by {gap:.2g} at most from b = {largest[0]:,} on)"


@styled
def errors(runs: pd.DataFrame, summary: pd.DataFrame, printed: float, title: str) -> Figure:
    """Draw the error of the county by tenure table by swap rate: box plots of runs, a panel a mix.

    Parameters
    ----------
    runs : DataFrame
        From `reproduction.swapping.massachusetts.all_runs`.
    summary : DataFrame
        From `reproduction.swapping.massachusetts.summary`.
    printed : float
        Error of the printed swapped table, at a rate of 50 %.
    title : str
    """
    scenarios = list(dict.fromkeys(summary["scenario"]))
    figure, axes = panels(1, len(scenarios), (3.1 * len(scenarios), 3.8), sharey=True)
    for axis, scenario in zip(axes[0], scenarios, strict=True):
        expected = summary[summary["scenario"] == scenario].sort_values("rate")
        rates = expected["rate"].tolist()
        places = [100 * rate for rate in rates]
        own = runs[runs["scenario"] == scenario]
        axis.boxplot(
            [own.loc[own["rate"] == rate, "mape"] for rate in rates],
            positions=places,
            widths=2.4,
            manage_ticks=False,
            patch_artist=True,
            boxprops={"facecolor": BOX, "edgecolor": INK, "linewidth": 0.6},
            medianprops={"color": INK},
            flierprops={"marker": "x", "markersize": 3, "markeredgecolor": FAINT},
        )
        axis.plot(places, expected["expected"], color=DRAW, lw=1, label="expected")
        axis.plot(
            places, expected["median_unmixed"], "v", color=FAINT, ms=4, label="median, unmixed"
        )
        if 0.5 in rates:
            axis.plot(50, printed, "D", color=DAS, ms=5, label="printed table")
        axis.set_xlim(-2)
        axis.set_xlabel("swap rate (%)")
        axis.set_title(scenario, loc="left", fontsize=9)
    axes[0, 0].set_ylabel("mean absolute percentage error (%)")
    axes[0, 0].legend(frameon=False)
    return finish(figure, title)


@styled
def printed_swap(counties: pd.DataFrame, title: str) -> Figure:
    """Draw how far the printed swap is from its mean in each county, in standard deviations.

    Parameters
    ----------
    counties : DataFrame
        From `reproduction.swapping.massachusetts.counties_table`.
    title : str
    """
    scenarios = list(dict.fromkeys(counties["scenario"]))
    names = list(dict.fromkeys(counties["county"]))
    figure, ((axis,),) = panels(1, 1, (9, 3.8))
    axis.axhspan(-2, 2, color=BOX, alpha=0.4, lw=0, label="two standard deviations")
    axis.axhline(0, color=INK, lw=0.6)
    shift = np.linspace(-0.24, 0.24, len(scenarios))
    for (scenario, colour), by, mark in zip(
        _mixes(scenarios).items(), shift, np.resize(list("osDv^"), len(shift)), strict=True
    ):
        part = counties[counties["scenario"] == scenario].set_index("county")["z"]
        places = np.arange(len(names)) + by
        axis.plot(places, part[names], mark, ms=4, color=colour, label=scenario)
    axis.set_xticks(range(len(names)), names, rotation=40, ha="right")
    axis.set_ylabel("printed minus mean (standard deviations)")
    axis.legend(frameon=False, ncols=len(scenarios) + 1, loc="lower left", bbox_to_anchor=(0, 1))
    axis.set_title(title, loc="left", pad=24)
    return finish(figure)


@styled
def against_noise(curves: pd.DataFrame, title: str, notes: tuple[str, ...]) -> Figure:
    """Draw error against epsilon for swapping, in three readings, and for integer noise.

    Parameters
    ----------
    curves : DataFrame
        From `reproduction.swapping.against_noise.error_curves`.
    title : str
    notes : tuple of str
        What makes the comparison fair, written below the figure.
    """
    figure, ((axis,),) = panels(1, 1, (8, 6.4))
    noise = curves[curves["curve"] == "integer noise"].sort_values("epsilon")
    axis.plot(noise["epsilon"], noise["mape"], color=INK, label="integer noise, exact")
    for reading, (colour, words) in MARKS.items():
        for suffix, line in (("", "-"), (", unmixed", "--")):
            part = curves[curves["curve"] == f"swapping, {reading}{suffix}"].sort_values("epsilon")
            axis.plot(
                part["epsilon"],
                part["mape"],
                line,
                marker="o",
                ms=3,
                color=colour,
                label=f"swapping, {words}{suffix}",
            )
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("epsilon for each household (nats)")
    axis.set_ylabel("mean absolute percentage error (%)")
    axis.set_ylim(LEAST_SHOWN)
    axis.legend(frameon=False)
    axis.set_title(title, loc="left")
    words = "\n".join(fill(note, 125, subsequent_indent="   ") for note in notes)
    finish(figure).subplots_adjust(bottom=0.24)
    figure.text(0.02, 0.01, words, va="bottom", fontsize=7.5, color=INK)
    return figure


@styled
def attack(points: pd.DataFrame, title: str) -> Figure:
    """Draw what an attacker learns: where a household lives, and which of two datasets it is.

    Parameters
    ----------
    points : DataFrame
        From `reproduction.swapping.attacks.curves`.
    title : str
    """
    names = {
        "swapping": "swapping",
        "noise": "integer noise of equal error",
        "noise_unmixed": "integer noise of the error after unmixing",
    }
    words = {
        "where it lives": "chance to live in the county seen",
        "which of two datasets": "total variation between the two releases",
    }
    figure, (axes,) = panels(1, 2, (9, 3.8))
    for axis, (panel, part) in zip(axes, points.groupby("panel", sort=False), strict=True):
        curves = part.groupby("curve", sort=False)
        for (curve, each), colour in zip(curves, (DAS, DRAW, INK), strict=True):
            each = each.sort_values("rate")
            axis.plot(
                100 * each["rate"],
                each["chance"],
                "o-",
                ms=4,
                color=colour,
                label=names.get(curve, curve),
            )
        _draw_prior(axis, part.drop_duplicates("curve"))
        axis.set_xlabel("swap rate (%)")
        axis.set_ylabel(words[panel])
        axis.set_title(panel, loc="left", fontsize=9)
    axes[0].set_ylim(-0.03, 1.03)
    axes[1].set_yscale("log")
    axes[1].set_ylim(top=1)
    for axis in axes:
        axis.legend(frameon=False)
    return finish(figure, title)


def _draw_prior(axis: Axes, curves: pd.DataFrame) -> None:
    """Draw the chance without data, one line for all curves that share it, with their names."""
    for chance, sharing in curves.dropna(subset=["without_data"]).groupby("without_data"):
        axis.axhline(chance, color=INK, ls=":", lw=1)
        words = f"without data: {' and '.join(sharing['curve'])}, {chance:.2g}"
        axis.annotate(
            words, (0.02, chance), (0, 3), xycoords=("axes fraction", "data"),
            textcoords="offset points", fontsize=7.5,
        )  # fmt: skip


@styled
def tightness(points: pd.DataFrame, largest: int, title: str) -> Figure:
    """Draw how near the bound is to the exact worst case, and epsilon where a delta is allowed.

    Parameters
    ----------
    points : DataFrame
        From `reproduction.swapping.budgets.tightness`.
    largest : int
        Records of the largest stratum in the second panel.
    title : str
    """
    figure, ((left, right),) = panels(1, 2, (9, 3.8))
    gap = points[points["panel"] == "gap"]
    left.plot(gap["x"], gap["y"], "o", ms=3, color=DRAW, label="bound less exact, p = 50 %")
    left.plot(gap["x"], 1.5 / gap["x"], color=INK, lw=0.8, ls="--", label="3 / (2 b)")
    left.set_xscale("log")
    left.set_yscale("log")
    left.set_xlabel("records b of the largest stratum")
    left.set_ylabel("epsilon that the bound gives away (nats)")
    left.legend(frameon=False)
    for panel, line in (("profile", "-"), ("bound", ":")):
        curves = points[points["panel"] == panel].groupby("rate")
        for (rate, part), colour in zip(
            curves, np.resize([INK, DRAW, DAS, DARK[2]], len(curves)), strict=True
        ):
            label = f"p = {100 * rate:g} %" if panel == "profile" else None
            width = 1.5 if panel == "profile" else 2.2
            right.plot(part["x"], part["y"], line, color=colour, lw=width, label=label)
            if panel == "bound":
                right.annotate(
                    f"bound at p = {100 * rate:g} %: {part['y'].iloc[0]:.2f}",
                    (part["x"].min(), part["y"].iloc[0]), (0, -5), textcoords="offset points",
                    ha="right", va="top", fontsize=7.5, color=colour,
                )  # fmt: skip
    right.plot([], [], ":", color=INK, label="bound, delta = 0")
    right.set_xscale("log")
    right.invert_xaxis()
    right.set_xlabel("delta that is allowed")
    right.set_ylabel("epsilon for each record that differs (nats)")
    right.set_title(f"exchange in a stratum of {largest:,}", loc="left", fontsize=9)
    right.legend(loc="center", bbox_to_anchor=(0.5, 0.4), frameon=False, ncols=3)
    return finish(figure, title)


@styled
def likely_rate(curves: pd.DataFrame, fits: pd.DataFrame, title: str) -> Figure:
    """Draw how well each swap rate explains the printed swap, by the mix of households.

    Parameters
    ----------
    curves : DataFrame
        From `reproduction.swapping.massachusetts.fit_by_rate`.
    fits : DataFrame
        From `reproduction.swapping.massachusetts.fit_table`: the likeliest rates.
    title : str
    """
    figure, ((axis,),) = panels(1, 1, (8, 4))
    degrees = fits["degrees"].iloc[0]
    middle = chdtri(degrees, [0.995, 0.005])
    axis.axhspan(
        *middle, color=BOX, alpha=0.4, lw=0, label="where 99 % of swaps at the right rate lie"
    )
    colours = _mixes(fits["scenario"])
    for _, row in fits.iterrows():
        colour = colours[row["scenario"]]
        part = curves[curves["scenario"] == row["scenario"]]
        rate, error = 100 * row["rate"], 100 * row["error"]
        note = " (made from this very swap: no evidence)" if row["fitted"] else ""
        words = row["scenario"] + note
        axis.plot(100 * part["rate"], part["chi_square"], color=colour, label=words)
        axis.errorbar(rate, row["chi_square_at_rate"], xerr=error, fmt="o", ms=4, color=colour)
    axis.errorbar([], [], xerr=[], fmt="o", ms=4, color=INK, label="likeliest rate, one s.e.")
    axis.axvline(50, color=INK, lw=0.6, ls="--", label="printed rate")
    axis.set_xlabel("swap rate (%)")
    axis.set_ylabel(f"chi-square on {degrees} degrees")
    axis.set_ylim(0)
    axis.legend(loc="upper center", frameon=True, framealpha=1, edgecolor="white")
    axis.set_title(title, loc="left")
    return finish(figure)


@styled
def unmixed(table: pd.DataFrame, title: str) -> Figure:
    """Draw the error of the printed swapped table, as it is and after its bias is taken out.

    Parameters
    ----------
    table : DataFrame
        From `reproduction.swapping.massachusetts.unmixed_table`.
    title : str
    """
    names = list(dict.fromkeys(table["county"]))
    figure, (axes,) = panels(1, 2, (9, 4.2), sharey=True)
    places = np.arange(len(names))
    for axis, (tenure, part) in zip(axes, table.groupby("tenure", sort=False), strict=True):
        part = part.set_index("county").loc[names]
        axis.axvline(0, color=INK, lw=0.6)
        for column, colour, mark, words in (
            ("off", DAS, "o", "as printed"),
            ("off_unmixed", DRAW, "D", "unmixed by a reader"),
        ):
            off = 100 * part[column] / part["before"]
            axis.plot(off, places, mark, ms=5, color=colour, label=words)
        axis.set_xlabel("error (% of the true count)")
        axis.set_title(f"{tenure} dwellings", loc="left", fontsize=9)
    axes[0].set_yticks(places, names)
    axes[0].invert_yaxis()
    axes[0].legend(frameon=False)
    return finish(figure, title)


@styled
def flavours(compared: pd.DataFrame, title: str) -> Figure:
    """Draw which building blocks differ between every two systems.

    Parameters
    ----------
    compared : DataFrame
        From `reproduction.swapping.demonstrations.flavours_compared`.
    title : str
    """
    names = list(dict.fromkeys(compared["first"]))
    number = compared.pivot(index="first", columns="second", values="number").loc[names, names]
    words = compared.fillna({"differ": ""}).pivot(index="first", columns="second", values="differ")
    figure, ((axis,),) = panels(1, 1, (9, 5.6))
    axis.imshow(number, cmap="Blues", vmin=0, vmax=8, aspect="auto")
    for row, first in enumerate(names):
        for column, second in enumerate(names):
            text = words.loc[first, second].replace(", ", "\n") or "one\nflavour"
            axis.text(column, row, text, ha="center", va="center", fontsize=6.5, color=INK)
    axis.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axis.set_yticks(range(len(names)), names)
    axis.grid(False)
    axis.set_title(title, loc="left")
    return finish(figure)
