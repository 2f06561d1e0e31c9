"""Figures of swapping, from the tables of `reproduction.swapping.tables`."""

import itertools
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.special import chdtri

from isdp.plots.style import BOX, DARK, DAS, DRAW, FAINT, INK, finish, panels, styled

# notes below the figure that compares swapping with integer noise
COMPARISON_LIMITS = (
    "Swapping's epsilon covers every table made from the swapped records, and that of noise "
    "covers this table alone. Beyond the break-even number of tables swapping costs less.",
    "Swapping returns records, and noise returns a table.",
    "The percentage error depends mostly on the smallest counties. Errors of swapping grow with "
    "the county, and those of noise do not.",
    "Swapping's loss has three readings: the published bound, the gain of an observer of "
    "uniquely described households, and a lower bound of the loss if this table alone is released, "
    "for counties of one household.",
)
STATE_TITLE = "Massachusetts, 1940"
CURVE_COLOURS = ("#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08306b")
MIN_SHOWN_PERCENT = 1e-5  # percent; at smaller errors, nearly all draws leave the table unchanged
READING_STYLES = {
    "nominal": (DAS, "published bound"),
    "bayes_factor": (DRAW, "gain of an observer"),
    "table_only": (FAINT, "this table alone, lower bound"),
}
SYSTEM_LABELS = {
    "swapping": "swapping",
    "noise": "integer noise of equal error",
    "noise_unmixed": "integer noise of the error after unmixing",
}


def _mixes(scenarios) -> dict[str, str]:
    """Map each scenario of households to its colour, which is the same in all figures."""
    colours = [INK, DRAW, DAS, *DARK[2:]]
    return dict(zip(scenarios, itertools.cycle(colours), strict=False))


@styled
def plot_budget(curves: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Plot epsilon by swap rate and largest stratum, with minima and printed numbers."""
    figure, ((axis,),) = panels(1, 1, (8, 4.6))
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
    axis.legend(
        title="b: records of the largest stratum, within which records are swapped",
        loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, alignment="left",
    )  # fmt: skip
    return finish(figure, "Privacy budget of permutation swapping by swap rate")


@styled
def plot_errors(runs: pd.DataFrame, summary: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Plot box plots of the error of the swapped table by swap rate, for each scenario."""
    error = printed.set_index("table")["mape"]["as printed"]
    scenarios = summary["scenario"].unique()
    figure, axes = panels(1, len(scenarios), (3.1 * len(scenarios), 3.8), sharey=True)
    for axis, scenario in zip(axes[0], scenarios, strict=True):
        expected = summary[summary["scenario"] == scenario].sort_values("rate")
        places = (100 * expected["rate"]).tolist()
        axis.boxplot(
            [part["mape"] for _, part in runs[runs["scenario"] == scenario].groupby("rate")],
            positions=places,
            widths=2.4,
            manage_ticks=False,
            patch_artist=True,
            boxprops={"facecolor": BOX, "edgecolor": INK, "linewidth": 0.6},
            medianprops={"color": INK},
            flierprops={"marker": "x", "markersize": 3, "markeredgecolor": FAINT},
        )
        axis.plot(places, expected["expected"], color=DRAW, lw=1, label="expected")
        unmixed = expected["median_unmixed"]
        axis.plot(places, unmixed, "v", color=FAINT, ms=4, label="median, unmixed")
        if 0.5 in expected["rate"].to_numpy():
            axis.plot(50, error, "D", color=DAS, ms=5, label="printed table")
        axis.set_xlim(-2)
        axis.set_xlabel("swap rate (%)")
        axis.set_title(scenario, loc="left", fontsize=9)
    axes[0, 0].set_ylabel("mean absolute percentage error (%)")
    axes[0, 0].legend(frameon=False)
    return finish(figure, f"{STATE_TITLE}: error of dwellings by county and ownership")


@styled
def plot_printed_swap(counties: pd.DataFrame) -> Figure:
    """Plot the deviation of the printed swap from its mean by county, in standard deviations."""
    figure, ((axis,),) = panels(1, 1, (9, 3.8))
    axis.axhspan(-2, 2, color=BOX, alpha=0.4, lw=0, label="two standard deviations")
    axis.axhline(0, color=INK, lw=0.6)
    z = counties.pivot(index="county", columns="scenario", values="z")
    z = z.loc[counties["county"].unique(), counties["scenario"].unique()]
    shifts = np.linspace(-0.24, 0.24, z.shape[1])
    marks = np.resize(list("osDv^"), z.shape[1])
    for (scenario, colour), shift, mark in zip(_mixes(z).items(), shifts, marks, strict=True):
        places = np.arange(len(z)) + shift
        axis.plot(places, z[scenario], mark, ms=4, color=colour, label=scenario)
    axis.set_xticks(range(len(z)), z.index, rotation=40, ha="right")
    axis.set_ylabel("printed minus mean (standard deviations)")
    axis.legend(frameon=False, ncols=z.shape[1] + 1, loc="lower left", bbox_to_anchor=(0, 1))
    axis.set_title(
        f"{STATE_TITLE}: owned dwellings of the printed swap at 50 %", loc="left", pad=24
    )
    return finish(figure)


@styled
def plot_against_noise(curves: pd.DataFrame) -> Figure:
    """Plot error by epsilon for three readings of swapping, and for integer noise."""
    figure, ((axis,),) = panels(1, 1, (8, 6.4))
    by_curve = dict(list(curves.sort_values("epsilon").groupby("curve")))
    noise = by_curve["integer noise"]
    axis.plot(noise["epsilon"], noise["mape"], color=INK, label="integer noise, exact")
    for reading, (colour, words) in READING_STYLES.items():
        for suffix, line in (("", "-"), (", unmixed", "--")):
            part = by_curve[f"swapping, {reading}{suffix}"]
            look = {"ls": line, "marker": "o", "ms": 3, "color": colour}
            label = f"swapping, {words}{suffix}"
            axis.plot(part["epsilon"], part["mape"], **look, label=label)
    axis.set(
        xscale="log",
        yscale="log",
        xlabel="epsilon for each household (nats)",
        ylabel="mean absolute percentage error (%)",
    )
    axis.set_ylim(MIN_SHOWN_PERCENT)
    axis.legend(frameon=False)
    title = f"{STATE_TITLE}: swapping and integer noise on one table with the same held totals"
    axis.set_title(title, loc="left")
    words = "\n".join(fill(note, 125, subsequent_indent="   ") for note in COMPARISON_LIMITS)
    finish(figure).subplots_adjust(bottom=0.24)
    figure.text(0.02, 0.01, words, va="bottom", fontsize=7.5, color=INK)
    return figure


@styled
def plot_attack(points: pd.DataFrame) -> Figure:
    """Plot the success of two attacks: on a household's county, and on two datasets."""
    labels = {
        "where it lives": "probability of the observed county",
        "which of two datasets": "total variation between the two releases",
    }
    figure, (axes,) = panels(1, 2, (9, 3.8))
    for axis, (panel, part) in zip(axes, points.groupby("panel", sort=False), strict=True):
        curves = part.sort_values("rate").groupby("curve", sort=False)
        for curve, colour in zip(part["curve"].unique(), (DAS, DRAW, INK), strict=True):
            each, label = curves.get_group(curve), SYSTEM_LABELS.get(curve, curve)
            axis.plot(100 * each["rate"], each["chance"], "o-", ms=4, color=colour, label=label)
        known = part.drop_duplicates("curve").dropna(subset="without_data")
        for prior, sharing in known.groupby("without_data"):
            axis.axhline(prior, color=INK, ls=":", lw=1)
            words = f"without data: {' and '.join(sharing['curve'])}, {prior:.2g}"
            axis.annotate(
                words, (0.02, prior), (0, 3), xycoords=("axes fraction", "data"),
                textcoords="offset points", fontsize=7.5,
            )  # fmt: skip
        axis.set(xlabel="swap rate (%)", ylabel=labels[panel])
        axis.set_title(panel, loc="left", fontsize=9)
        axis.legend(frameon=False)
    axes[0].set_ylim(-0.03, 1.03)
    axes[1].set_yscale("log")
    axes[1].set_ylim(top=1)
    return finish(figure, f"{STATE_TITLE}: information of an attacker")


@styled
def plot_tightness(points: pd.DataFrame, largest: int) -> Figure:
    """Plot the gap of the bound by size, and epsilon by delta for one largest stratum."""
    figure, ((left, right),) = panels(1, 2, (9, 3.8))
    by_panel = dict(list(points.groupby("panel")))
    gap = by_panel["gap"]
    left.plot(gap["x"], gap["y"], "o", ms=3, color=DRAW, label="bound minus exact, p = 50 %")
    left.plot(gap["x"], 1.5 / gap["x"], color=INK, lw=0.8, ls="--", label="3 / (2 b)")
    left.set(
        xscale="log",
        yscale="log",
        xlabel="records b of the largest stratum",
        ylabel="bound minus exact epsilon (nats)",
    )
    left.legend(frameon=False)
    profiles = by_panel["profile"].groupby("rate")
    colours = np.resize([INK, DRAW, DAS, DARK[2]], len(profiles))
    for (rate, part), colour in zip(profiles, colours, strict=True):
        bound = by_panel["bound"].query("rate == @rate")
        right.plot(part["x"], part["y"], color=colour, label=f"p = {100 * rate:g} %")
        right.plot(bound["x"], bound["y"], ":", color=colour, lw=2.2)
        level = bound["y"].iloc[0]
        right.annotate(
            f"bound at p = {100 * rate:g} %: {level:.2f}", (bound["x"].min(), level), (0, -5),
            textcoords="offset points", ha="right", va="top", fontsize=7.5, color=colour,
        )  # fmt: skip
    right.plot([], [], ":", color=INK, label="bound, delta = 0")
    right.set(
        xscale="log",
        xlabel="allowed delta",
        ylabel="epsilon for each record that differs (nats)",
    )
    right.invert_xaxis()
    right.set_title(f"exchange in a stratum of {largest:,}", loc="left", fontsize=9)
    right.legend(loc="center", bbox_to_anchor=(0.5, 0.4), frameon=False, ncols=3)
    return finish(figure, "Tightness of the published bound")


@styled
def plot_likely_rate(curves: pd.DataFrame, fits: pd.DataFrame) -> Figure:
    """Plot the chi-square statistic of the printed swap by swap rate, for each scenario."""
    figure, ((axis,),) = panels(1, 1, (8, 4))
    degrees = fits["degrees"].iloc[0]
    label = "99 % interval at the true rate"
    axis.axhspan(*chdtri(degrees, [0.995, 0.005]), color=BOX, alpha=0.4, lw=0, label=label)
    colours = _mixes(fits["scenario"])
    for row in fits.itertuples():
        colour = colours[row.scenario]
        part = curves[curves["scenario"] == row.scenario]
        label = row.scenario + (" (fitted to this swap: no evidence)" if row.fitted else "")
        axis.plot(100 * part["rate"], part["chi_square"], color=colour, label=label)
        look = {"xerr": 100 * row.error, "fmt": "o", "ms": 4, "color": colour}
        axis.errorbar(100 * row.rate, row.chi_square_at_rate, **look)
    axis.errorbar([], [], xerr=[], fmt="o", ms=4, color=INK, label="maximum likelihood, one s.e.")
    axis.axvline(50, color=INK, lw=0.6, ls="--", label="printed rate")
    axis.set(xlabel="swap rate (%)", ylabel=f"chi-square, {degrees} degrees of freedom")
    axis.set_ylim(0)
    axis.legend(loc="upper center", frameon=True, framealpha=1, edgecolor="white")
    axis.set_title(f"{STATE_TITLE}: fit of the printed swap by swap rate", loc="left")
    return finish(figure)


@styled
def plot_unmixed(table: pd.DataFrame) -> Figure:
    """Plot the errors of the printed swapped table before and after correction of its bias."""
    figure, (axes,) = panels(1, 2, (9, 4.2), sharey=True)
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
    axes[0].legend(frameon=False)
    return finish(figure, f"{STATE_TITLE}: errors before and after correction of the bias")


@styled
def plot_flavours(compared: pd.DataFrame) -> Figure:
    """Plot the components in which the guarantees of every two systems differ."""
    names = compared["first"].unique()
    cells = compared.fillna({"differ": ""}).pivot(index="first", columns="second")
    number, words = (cells[column].loc[names, names] for column in ("number", "differ"))
    figure, ((axis,),) = panels(1, 1, (9, 5.6))
    axis.imshow(number, cmap="Blues", vmin=0, vmax=8, aspect="auto")
    for (row, column), differ in np.ndenumerate(words):
        text = differ.replace(", ", "\n") or "one\nflavour"
        axis.text(column, row, text, ha="center", va="center", fontsize=6.5, color=INK)
    axis.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axis.set_yticks(range(len(names)), names)
    axis.grid(False)
    axis.set_title("Components in which two systems' guarantees differ", loc="left")
    return finish(figure)
