"""Figures of the sex by age experiment (CDP, Figs 1 to 3)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from isdp.plots.boxes import draw_box_shapes
from isdp.plots.style import BOX, DARK, DAS, DRAW, FAINT, INK, finish, panels, styled

STARTS = {
    "target": ("stationary: started in the target", DRAW, "o", "-"),
    "confidential": ("started at the confidential table", FAINT, "s", "--"),
}


def sex_by_age_figures(
    read: Mapping[str, pd.DataFrame],
    *,
    county: str | None,
    epsilon: float,
    proposal_epsilon: float,
    raw_epsilon: float,
    tables: int,
    releases: int,
) -> dict[str, Figure]:
    """Draw all figures of sex by age.

    Parameters
    ----------
    read : mapping from str to DataFrame
        norms, speed, traces, trace, acceptance and medians.
    county : str or None
        County of the confidential table; None for the paper's table.
    epsilon, proposal_epsilon, raw_epsilon : float
        Of the conditional mechanism, of the independence sampler's proposal, and of the raw
        mechanism.
    tables, releases : int
        Number of confidential tables whose distances are compared, and of releases of each.

    Returns
    -------
    dict with the keys distances, acceptance, traces and samplers
    """
    of = f"Table P12 of {county}" if county else "the paper's table"
    repeated = f"{tables} simulated tables, {releases} releases each"
    if county:
        repeated = f"{of}, {tables} times {releases} releases"
    raw = f"raw\nepsilon = {raw_epsilon:g}"
    methods = {
        "raw": raw,
        "projected": f"{raw},\nnon-negative\nl2 projection",
        "conditional": f"conditional\nepsilon = {epsilon:g}",
        "raw_half": f"raw\nepsilon = {epsilon:g}",
    }
    walked = {"walk": "lattice walk", "independence": "independence sampler\n(CDP, Algorithm 1)"}
    chain = read["trace"].iloc[0]
    return {
        "distances": distances(read["medians"], repeated, methods),
        "acceptance": acceptance(
            read["acceptance"], f"Independence sampler, {of}, epsilon = {epsilon:g} per cell"
        ),
        "traces": traces(
            read["traces"],
            read["trace"],
            f"Independence sampler, {of}, proposal parameter {proposal_epsilon:g}: "
            f"{chain['acceptance_percent']:.2f} % accepted, longest stay "
            f"{chain['longest_stay']:,} steps",
        ),
        "samplers": samplers(
            read["speed"],
            read["norms"],
            f"Two samplers of one target ({of}, epsilon = {epsilon:g})",
            walked,
        ),
    }


@styled
def acceptance(rates: pd.DataFrame, title: str) -> Figure:
    """Show the acceptance rate against the proposal parameter (CDP, Fig 2).

    Parameters
    ----------
    rates : DataFrame
        From `reproduction.congenial.sex_by_age.acceptance_table`.
    title : str
    """
    figure, (axes,) = panels(1, 2, (10, 4), width_ratios=(2, 1))
    for axis in axes:
        for start, (label, colour, marker, line) in STARTS.items():
            part = rates[rates["start"] == start]
            axis.errorbar(
                part["proposal_epsilon"],
                part["percent"],
                yerr=[part["percent"] - part["low"], part["high"] - part["percent"]],
                color=colour,
                marker=marker,
                ls=line,
                ms=4,
                lw=1,
                capsize=2,
                label=label,
            )
        printed = rates.dropna(subset=["paper_percent"]).drop_duplicates("proposal_epsilon")
        if len(printed):
            axis.plot(
                printed["proposal_epsilon"],
                printed["paper_percent"],
                "x",
                color=DAS,
                ms=6,
                mew=1.6,
                ls="",
                label="paper (read off its figure)",
                zorder=5,
            )
        axis.set_xlabel("proposal parameter (epsilon of the proposal, per cell)")
    axes[0].set_ylabel("proposals accepted (%), with 99 % intervals")
    axes[0].legend(frameon=False)
    axes[0].set_ylim(bottom=0)
    axes[0].set_title(title, loc="left")
    low = rates.sort_values("proposal_epsilon")["proposal_epsilon"].iloc[[0, 3]]
    axes[1].set_xlim(low.iloc[0] - 0.02, low.iloc[-1] + 0.02)
    axes[1].set_yscale("symlog", linthresh=0.01)
    axes[1].set_ylim(bottom=0)
    axes[1].set_title("small parameters, log scale above 0.01 %", loc="left", fontsize=9)
    axes[1].set_xlabel("proposal parameter")
    axes[1].set_ylabel("proposals accepted (%)")
    return finish(figure)


@styled
def traces(steps: pd.DataFrame, summary: pd.DataFrame, title: str) -> Figure:
    """Trace of a chain in two cells (CDP, Fig 3).

    Parameters
    ----------
    steps, summary : DataFrame
        From `reproduction.congenial.sex_by_age.trace_tables`.
    title : str
    """
    figure, axes = panels(len(summary), 1, (9.5, 5), sharex=True)
    for axis, (_, cell) in zip(axes[:, 0], summary.iterrows(), strict=True):
        part = steps[steps["cell"] == cell["cell"]]
        axis.step(part["step"], part["count"], where="post", color=DRAW, lw=0.7)
        axis.axhline(cell["confidential"], color=DAS, lw=1, ls="--", label="confidential count")
        how = "proposed" if cell["proposed"] else "solved from the equalities"
        axis.set_title(
            f"cell {cell['cell']} ({cell['name']}), {how}: {cell['ess']:.0f} effective draws of "
            f"{cell['steps']:,}",
            loc="left",
            fontsize=9,
        )
        axis.set_ylabel("released count (persons)")
        axis.set_ylim(bottom=-0.5)
        axis.set_xlim(0, cell["steps"])
    axes[0, 0].legend(loc="upper right", frameon=True)
    axes[-1, 0].set_xlabel("step")
    return finish(figure, title)


@styled
def distances(medians: pd.DataFrame, title: str, labels: dict[str, str]) -> Figure:
    """Mean distances of releases, method by method, with the paper's medians (CDP, Fig 1).

    Parameters
    ----------
    medians : DataFrame
        From `median_table`; its methods unmixed_N, from chains of N proposals that
        were not given time to mix, go into the panels on the right.
    title : str
    labels : dict
        Words for each method that gets a box, in order.
    """
    figure, axes = panels(2, 2, (10.5, 6.6), width_ratios=(1.5, 1))
    for (box_axis, line_axis), distance in zip(axes, ("l1", "l2"), strict=True):
        part = medians[medians["distance"] == distance].set_index("method")
        draw_box_shapes(
            box_axis,
            part.loc[list(labels)].set_axis(range(1, len(labels) + 1)),
            colour=BOX,
            width=0.5,
        )
        for position, method in enumerate(labels, start=1):
            row = part.loc[method]
            box_axis.annotate(
                f"{row['median']:.2f}",
                (position + 0.3, row["median"]),
                fontsize=8,
                va="center",
                color=INK,
            )
            if pd.notna(row["paper"]):
                box_axis.plot(position, row["paper"], "x", color=DAS, ms=7, mew=1.8, zorder=5)
                box_axis.annotate(
                    f"{row['paper']:.2f}",
                    (position, row["whisker_low"]),
                    xytext=(0, -3),
                    textcoords="offset points",
                    fontsize=8,
                    va="top",
                    ha="center",
                    color=DAS,
                )
        box_axis.set_xticks(range(1, len(labels) + 1), list(labels.values()), fontsize=8)
        box_axis.margins(y=0.1)
        box_axis.set_xlim(0.4, len(labels) + 0.7)
        box_axis.set_ylabel(f"mean {distance} distance of a table's releases\n(persons)")
        _draw_mixing(line_axis, part)
    handles = [Line2D([], [], color=INK, lw=1.4, label="median here")]
    if medians["paper"].notna().any():
        handles.append(
            Line2D(
                [],
                [],
                color=DAS,
                marker="x",
                mew=1.8,
                ls="",
                label="paper's median (read off its figure)",
            )
        )
    axes[0, 0].legend(handles=handles, loc="upper left", frameon=True)
    axes[0, 0].set_title(title, loc="left", fontsize=10)
    axes[0, 1].set_title("conditional releases from short chains", loc="left", fontsize=9)
    axes[1, 1].set_xlabel("proposals of a chain from the confidential table")
    return finish(figure)


def _draw_mixing(axis: Axes, medians: pd.DataFrame) -> None:
    short = medians[medians.index.str.startswith("unmixed_")]
    mixed = medians.loc["conditional"]
    axis.errorbar(
        short.index.str.removeprefix("unmixed_").astype(int),
        short["median"],
        yerr=2 * short["se"],
        color=DRAW,
        marker="o",
        ms=4,
        lw=1,
        capsize=2,
        label="median, releases of one chain (bars: 2 s.e.)",
    )
    axis.axhspan(
        mixed["median"] - 2 * mixed["se"], mixed["median"] + 2 * mixed["se"], color=BOX, alpha=0.5
    )
    axis.axhline(mixed["median"], color=INK, lw=1.2, label="median, mixed chains (band: 2 s.e.)")
    if pd.notna(mixed["paper"]):
        axis.axhline(mixed["paper"], color=DAS, lw=1.2, ls="--", label="paper's median")
    axis.set_xscale("log")
    axis.legend(loc="lower right", frameon=True)


@styled
def samplers(speeds: pd.DataFrame, norms: pd.DataFrame, title: str, labels: dict) -> Figure:
    """Efficiency of two samplers of one target, and the law of the norm that each finds.

    Parameters
    ----------
    speeds : DataFrame
        From `reproduction.congenial.sex_by_age.compare_samplers`.
    norms : DataFrame
        Columns sampler, norm and share: the distribution of the l1 norm.
    title : str
    labels : dict
        Words for each sampler.
    """
    figure, ((left, right),) = panels(1, 2, (10, 3.6), width_ratios=(1, 1.3))
    colours = dict(zip(labels, DARK, strict=False))
    speeds = speeds.set_index("sampler").loc[list(labels)]
    values = speeds["effective_draws_per_second"]
    left.barh(
        range(len(labels)), values, color=[colours[name] for name in labels], height=0.55, alpha=0.8
    )
    for position, value in enumerate(values):
        left.annotate(
            f"{value:,.0f}",
            (value, position),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    left.set_yticks(range(len(labels)), list(labels.values()))
    left.invert_yaxis()
    left.set_xlim(0, 1.2 * values.max())
    left.set_xlabel("effective draws a second (worst cell, this run)")
    left.grid(False, axis="y")
    for name, words in labels.items():
        part = norms[norms["sampler"] == name]
        right.step(
            part["norm"], part["share"], where="mid", color=colours[name], lw=1.1, label=words
        )
    right.set_xlabel("l1 norm of the noise (persons)")
    right.set_ylabel("share of the draws")
    right.set_ylim(bottom=0)
    right.legend(frameon=False)
    return finish(figure, title)
