"""Figures of swapping; each draws its tables and nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from isdp.plots.style import BOX, DAS, DRAW, FAINT, INK, finish, panels, styled

SHADES = ("#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08306b")
MARKS = {
    "nominal": (DAS, "published bound"),
    "bayes_factor": (DRAW, "what an observer gains"),
    "table_only": (FAINT, "this table alone, from below"),
}


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
    axis.plot([], [], ls=":", color=INK, label="exact worst case")
    axis.plot([], [], "o", color=INK, ms=5, ls="", label="smallest attainable")
    axis.set_xscale("logit")
    axis.set_xticks([0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999])
    axis.set_xticklabels(["0.1 %", "1 %", "10 %", "50 %", "90 %", "99 %", "99.9 %"])
    axis.set_xticks([], minor=True)
    axis.set_xlabel("swap rate")
    axis.set_ylabel("epsilon for each record that differs (nats)")
    axis.set_ylim(0)
    axis.legend(frameon=False, ncols=2)
    axis.set_title(title, loc="left")
    return finish(figure)


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
        axis.plot(places, expected["median_unmixed"], "v", color=FAINT, ms=4, label="unmixed")
        if 0.5 in rates:
            axis.plot(50, printed, "D", color=DAS, ms=5, label="printed table")
        axis.set_xlim(-2)
        axis.set_xlabel("swap rate (%)")
        axis.set_title(scenario, loc="left", fontsize=9)
    axes[0, 0].set_ylabel("mean absolute percentage error (%)")
    axes[0, 0].legend(frameon=False)
    figure.suptitle(title, x=0.01, ha="left")
    return finish(figure)


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
    axis.axhspan(-2, 2, color=BOX, alpha=0.4, lw=0)
    axis.axhline(0, color=INK, lw=0.6)
    shift = np.linspace(-0.24, 0.24, len(scenarios))
    for scenario, by, mark in zip(
        scenarios, shift, np.resize(list("osDv^"), len(shift)), strict=True
    ):
        part = counties[counties["scenario"] == scenario].set_index("county")["z"]
        axis.plot(np.arange(len(names)) + by, part[names], mark, ms=4, label=scenario)
    axis.set_xticks(range(len(names)), names, rotation=40, ha="right")
    axis.set_ylabel("printed minus mean (standard deviations)")
    axis.legend(frameon=False, ncols=len(scenarios), loc="lower left", bbox_to_anchor=(0, 1))
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
    figure, ((axis,),) = panels(1, 1, (8, 5.6))
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
    axis.legend(frameon=False)
    axis.set_title(title, loc="left")
    figure.text(0.01, -0.02, "\n".join(notes), va="top", fontsize=7.5, color=INK, wrap=True)
    return finish(figure)


@styled
def locations(found: pd.DataFrame, state: pd.DataFrame, title: str) -> Figure:
    """Draw how surely a uniquely described household is where it is seen, by swap rate.

    Parameters
    ----------
    found : DataFrame
        From `reproduction.swapping.attacks.locations`.
    state : DataFrame
        From `reproduction.swapping.attacks.whole_state`.
    title : str
    """
    figure, ((axis,),) = panels(1, 1, (7, 4))
    prior = found.drop_duplicates("county").set_index("county")["prior"]
    for county, colour in ((prior.idxmin(), DAS), (prior.idxmax(), DRAW)):
        part = found[found["county"] == county].sort_values("rate")
        axis.plot(part["rate"], part["posterior"], "o-", ms=4, color=colour, label=county)
        axis.axhline(prior[county], color=colour, ls=":", lw=1)
    axis.plot(state["rate"], state["accuracy"], "s--", ms=4, color=INK, label="all households")
    axis.plot([], [], ls=":", color=INK, label="without data")
    axis.set_xlabel("swap rate")
    axis.set_ylabel("chance to live in the county seen")
    axis.set_ylim(0, 1)
    axis.legend(frameon=False)
    axis.set_title(title, loc="left")
    return finish(figure)
