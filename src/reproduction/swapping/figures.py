"""Figures of swapping, from the tables of `reproduction.swapping.tables`."""

import itertools

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from scipy.special import chdtri

from isdp.plots.style import BOX, DARK, DAS, DRAW, FAINT, INK, WIDTH, finish, panels, styled

STATE_TITLE = "Massachusetts, 1940"
CURVE_COLOURS = ("#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08306b")
MAX_CHI_SQUARE = 50  # upper end of the axis of the chi-square statistic
SHOWN_SCENARIO = "persons per dwelling"  # the other scenarios are grey
# systems of the comparison at equal error: column of epsilon, and label, from top to bottom
EQUAL_ERROR = {
    "epsilon_noise": "integer noise with the error of the swap",
    "epsilon_noise_unmixed": "integer noise with the error after correction",
    "table_only": "swapping: this table alone, lower bound",
    "bayes_factor": "swapping: gain of an observer",
    "nominal": "swapping: published bound",
}
SHOWN_RATES = {0.01: "o", 0.1: "s", 0.5: "D"}
SYSTEM_LABELS = {
    "swapping": "swapping",
    "noise": "integer noise, same error",
    "noise_unmixed": "integer noise, error of the corrected swap",
}
ATTACKS = {  # title and vertical axis of each panel
    "where it lives": ("county of a household", "probability of the observed county"),
    "which of two datasets": ("which of two datasets", "total variation distance of releases"),
}


def _mixes(scenarios) -> dict[str, str]:
    """Map each scenario of households to its colour, which is the same in all figures."""
    colours = [INK, DRAW, DAS, *DARK[2:]]
    return dict(zip(scenarios, itertools.cycle(colours), strict=False))


@styled
def plot_budget(curves: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Plot epsilon by swap rate and largest stratum, with minima and printed numbers."""
    figure, ((axis,),) = panels(1, 1, (WIDTH, 4.8))
    sizes = curves.groupby("largest")
    for (largest, part), colour in zip(sizes, np.resize(CURVE_COLOURS, len(sizes)), strict=True):
        axis.plot(part["rate"], part["epsilon_bound"], color=colour, label=f"b = {largest:,.0f}")
        axis.plot(part["rate"], part["epsilon_exact"], color=colour, ls=":", lw=1)
    axis.plot(printed["rate"], printed["epsilon"], "x", color=DAS, ms=5, label="printed")
    ring = {"mfc": "none", "mec": INK, "ms": 9, "mew": 0.8, "ls": ""}
    label = "bound for the printed row's own b"
    axis.plot(printed["rate"], printed["computed"], "o", **ring, label=label)
    gap = (curves["epsilon_bound"] - curves["epsilon_exact"]).groupby(curves["largest"]).max()[1:]
    note = ""
    if len(gap):  # for large strata, the two curves are too close to distinguish
        note = f" (smaller by at most {gap.max():.2g} from b = {gap.index[0]:,.0f} on)"
    axis.plot([], [], ls=":", color=INK, label=f"exact worst case{note}")
    minima = curves.loc[sizes["epsilon_bound"].idxmin()]
    label = "minimum of the bound over rates"
    axis.plot(minima["rate"], minima["epsilon_bound"], "o", color=INK, ms=5, label=label)
    ticks = [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999]
    axis.set(
        xscale="logit",
        xlabel="swap rate (evenly spaced in its log-odds)",
        ylabel="epsilon for each record that differs (nats)",
    )
    axis.set_xticks(ticks, [f"{100 * rate:g} %" for rate in ticks])
    axis.set_xticks([], minor=True)
    axis.set_ylim(0)
    handles = axis.get_legend_handles_labels()[0]
    title = "Privacy budget of permutation swapping by swap rate"
    note = "b: records of the largest stratum, within which records are swapped"
    return finish(figure, f"{title}\n{note}", handles)


@styled
def plot_errors(runs: pd.DataFrame, summary: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Plot box plots of the error of the swapped table by swap rate, for the first scenario."""
    error = printed.set_index("table")["mape"]["as printed"]
    scenarios = summary["scenario"].unique()
    medians = summary.pivot(index="rate", columns="scenario", values="median")
    figure, ((axis,),) = panels(1, 1, (WIDTH, 4.2))
    expected = summary[summary["scenario"] == scenarios[0]].sort_values("rate")
    places = (100 * expected["rate"]).tolist()
    axis.boxplot(
        [part["mape"] for _, part in runs[runs["scenario"] == scenarios[0]].groupby("rate")],
        positions=places,
        widths=1.6,
        manage_ticks=False,
        patch_artist=True,
        boxprops={"facecolor": BOX, "edgecolor": INK, "linewidth": 0.6},
        medianprops={"color": INK},
        flierprops={"marker": "x", "markersize": 4, "markeredgecolor": FAINT},
    )
    handles: list[Artist] = [
        Patch(facecolor=BOX, edgecolor=INK, label="simulated swaps"),
        Line2D([], [], color=FAINT, marker="x", ls="", ms=4, label="swaps beyond the whiskers"),
    ]
    handles += axis.plot(places, expected["expected"], color=DRAW, lw=1, label="expected error")
    if 0.5 in expected["rate"].to_numpy():
        handles += axis.plot(50, error, "D", color=DAS, mfc="none", ms=8, label="printed table")
    axis.set(xlim=(-2, None), ylim=(0, None), xlabel="swap rate (%)")
    axis.set_ylabel("mean absolute percentage error (%)")
    difference = float(np.ptp(medians, axis=1).max())
    title = f"{STATE_TITLE}: error of dwellings by county and ownership, {scenarios[0]}\n"
    title += f"medians of the other {len(scenarios) - 1} scenarios of households differ by at most "
    title += f"{difference:.2g} percentage points"
    return finish(figure, title, handles)


@styled
def plot_printed_swap(counties: pd.DataFrame) -> Figure:
    """Plot the deviation of the printed swap from its mean by county, in standard deviations."""
    figure, ((axis,),) = panels(1, 1, (WIDTH, 4.2))
    axis.axhspan(-2, 2, color=BOX, alpha=0.4, lw=0, label="two standard deviations")
    axis.axhline(0, color=INK, lw=0.6)
    z = counties.pivot(index="county", columns="scenario", values="z")
    z = z.loc[counties["county"].unique(), counties["scenario"].unique()]
    shown = SHOWN_SCENARIO if SHOWN_SCENARIO in z else z.columns[0]
    shifts = np.linspace(-0.24, 0.24, z.shape[1])
    marks = np.resize(list("osDv^"), z.shape[1])
    for (scenario, colour), shift, mark in zip(_mixes(z).items(), shifts, marks, strict=True):
        look = {"color": colour if scenario == shown else FAINT, "ms": 5}
        axis.plot(np.arange(len(z)) + shift, z[scenario], mark, label=scenario, **look)
    axis.set_xticks(range(len(z)), z.index, rotation=40, ha="right")
    axis.set_ylabel("printed minus mean (standard deviations)")
    title = f"{STATE_TITLE}: owned dwellings of the printed swap at 50 %, by scenario of households"
    return finish(figure, title, axis.get_legend_handles_labels()[0])


@styled
def plot_against_noise(compared: pd.DataFrame) -> Figure:
    """Plot the epsilon of swapping, by three readings, and of integer noise with equal error."""
    figure, ((axis,),) = panels(1, 1, (WIDTH, 3.6))
    for rate, marker in SHOWN_RATES.items():
        part = compared[compared["rate"] == rate]
        if len(part):
            look = {"color": DRAW, "ls": "", "ms": 7, "label": f"swap rate {100 * rate:g} %"}
            axis.plot(part[list(EQUAL_ERROR)].iloc[0], range(len(EQUAL_ERROR)), marker, **look)
    axis.set_yticks(range(len(EQUAL_ERROR)), list(EQUAL_ERROR.values()))
    axis.set(xscale="log", ylim=(len(EQUAL_ERROR) - 0.5, -0.5))
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set_xlabel("epsilon for each household (nats)")
    title = f"{STATE_TITLE}: epsilon of swapping and of integer noise at equal error of the table"
    return finish(figure, title, axis.get_lines())


@styled
def plot_attack(points: pd.DataFrame) -> Figure:
    """Plot the success of two attacks: on a household's county, and on two datasets."""
    figure, (axes,) = panels(1, 2, (WIDTH, 4))
    for axis, (panel, part) in zip(axes, points.groupby("panel", sort=False), strict=True):
        curves = part.sort_values("rate").groupby("curve", sort=False)
        looks = zip(part["curve"].unique(), (DAS, DRAW, INK), ("o-", "s--", "^:"), strict=True)
        for curve, colour, style in looks:
            each, label = curves.get_group(curve), SYSTEM_LABELS.get(curve, curve)
            axis.plot(100 * each["rate"], each["chance"], style, ms=5, color=colour, label=label)
        known = part.drop_duplicates("curve").dropna(subset="without_data")
        for prior, sharing in known.groupby("without_data"):
            axis.axhline(prior, color=INK, ls=":", lw=1)
            words = f"without data: {', '.join(sharing['curve'])}, {prior:.2g}"
            axis.annotate(
                words, (0.02, prior), (0, 3), xycoords=("axes fraction", "data"),
                textcoords="offset points", fontsize=8,
            )  # fmt: skip
        title, ylabel = ATTACKS[panel]
        axis.set(xlabel="swap rate (%)", ylabel=ylabel)
        axis.set_title(title, loc="left", fontsize=9)
        axis.legend(frameon=False, fontsize=8)
    axes[0].set_ylim(-0.03, 1.03)
    axes[1].set_yscale("log")
    axes[1].set_ylim(top=1)
    return finish(figure, f"{STATE_TITLE}: information of an attacker")


@styled
def plot_tightness(points: pd.DataFrame, largest: int) -> Figure:
    """Plot the gap of the bound by size, and epsilon by rate for one largest stratum.

    The right panel has the range of epsilon over all deltas above zero in `points`.
    """
    figure, ((left, right),) = panels(1, 2, (WIDTH, 3.8))
    by_panel = dict(list(points.groupby("panel")))
    gap = by_panel["gap"]
    left.plot(gap["x"], gap["y"], "o", ms=3, color=DRAW, label="bound minus exact")
    left.plot(gap["x"], 1.5 / gap["x"], color=INK, lw=0.8, ls="--", label="3 / (2 b)")
    left.set(
        xscale="log",
        yscale="log",
        xlabel="records b of the largest stratum",
        ylabel="bound minus exact epsilon (nats)",
    )
    left.legend(frameon=False)
    left.set_title("swap rate 50 %", loc="left", fontsize=9)
    profile = by_panel["profile"]
    bounds = by_panel["bound"].groupby("rate")["y"].first()
    rows = range(len(bounds))
    ends = profile.groupby("rate")["y"].agg(["min", "max"]).loc[bounds.index]
    deltas = f"delta from {profile['x'].min():.0e} to {profile['x'].max():.0e}"
    right.barh(
        rows, ends["max"] - ends["min"], left=ends["min"], color=DRAW, height=0.4, label=deltas
    )
    right.plot(bounds, rows, "D", color=DAS, ms=6, label="bound, delta = 0")
    right.set_yticks(rows, [f"{100 * rate:g} %" for rate in bounds.index])
    right.set(ylabel="swap rate", xlabel="epsilon for each record that differs (nats)")
    right.set_ylim(len(bounds) + 0.4, -0.6)
    right.set_title(f"stratum of {largest:,} records", loc="left", fontsize=9)
    right.legend(frameon=False, loc="lower right")
    return finish(figure, "Tightness of the published bound of swapping")


@styled
def plot_likely_rate(curves: pd.DataFrame, fits: pd.DataFrame) -> Figure:
    """Plot the chi-square statistic of the printed swap by swap rate, for each scenario."""
    figure, ((axis,),) = panels(1, 1, (WIDTH, 4.4))
    degrees = fits["degrees"].iloc[0]
    label = "99 % interval at the true rate"
    axis.axhspan(*chdtri(degrees, [0.995, 0.005]), color=BOX, alpha=0.4, lw=0, label=label)
    colours = _mixes(fits["scenario"])
    for row, style in zip(fits.itertuples(), itertools.cycle(("-", "--", ":", "-."))):
        colour = colours[row.scenario]
        part = curves[curves["scenario"] == row.scenario]
        label = row.scenario + (" (fitted to this swap: no evidence)" if row.fitted else "")
        axis.plot(100 * part["rate"], part["chi_square"], style, color=colour, label=label)
        look = {"xerr": 100 * row.error, "fmt": "o", "ms": 5, "color": colour}
        axis.errorbar(100 * row.rate, row.chi_square_at_rate, **look)
    axis.errorbar([], [], xerr=[], fmt="o", ms=5, color=INK, label="maximum likelihood, one s.e.")
    axis.axvline(50, color=INK, lw=0.6, ls="--", label="printed rate")
    axis.set(xlabel="swap rate (%)", ylabel=f"chi-square, {degrees} degrees of freedom")
    axis.set_ylim(0, MAX_CHI_SQUARE)
    title = f"{STATE_TITLE}: fit of the printed swap by swap rate, for scenarios of households"
    return finish(figure, title, axis.get_legend_handles_labels()[0])


@styled
def plot_unmixed(table: pd.DataFrame) -> Figure:
    """Plot the errors of the printed swapped table before and after correction of its bias."""
    figure, (axes,) = panels(1, 2, (WIDTH, 4.4), sharex=True, sharey=True)
    for axis, (tenure, part) in zip(axes, table.groupby("tenure", sort=False), strict=True):
        axis.axvline(0, color=INK, lw=0.6)
        for column, colour, mark, label in (
            ("off", DAS, "o", "as printed"),
            ("off_unmixed", DRAW, "D", "corrected by a reader"),
        ):
            off = 100 * part[column] / part["before"]
            axis.plot(off, part["county"], mark, ms=5, color=colour, label=label)
        axis.set_xlabel("error (% of the true count)")
        axis.set_title(f"{tenure} dwellings", loc="left", fontsize=9)
    axes[0].invert_yaxis()
    handles = axes[0].get_legend_handles_labels()[0]
    return finish(figure, f"{STATE_TITLE}: errors before and after correction of the bias", handles)
