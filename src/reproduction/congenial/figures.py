"""Figures of the sex by age experiment (CDP, Figures 1 to 3).

CDP is *Congenial Differential Privacy under Mandated Disclosure*.
"""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from isdp.plots.boxes import draw_box_shapes
from isdp.plots.style import BOX, DARK, DAS, DRAW, FAINT, INK, finish, panels, styled

STARTS = {
    "target": ("stationary: starts from the target", {"color": DRAW, "fmt": "o-"}),
    "confidential": ("starts at the confidential table", {"color": FAINT, "fmt": "s--"}),
}
POINT_STYLE = {"ms": 4, "lw": 1, "capsize": 2}
BELOW_POINT = {"xytext": (0, -3), "textcoords": "offset points", "va": "top", "ha": "center"}
CROSS = {"color": DAS, "marker": "x", "ls": "", "mew": 1.8}


def plot_sex_by_age(read: Mapping[str, pd.DataFrame], settings: Mapping) -> dict[str, Figure]:
    """Plot the figures of distances, acceptance rates, traces and samplers.

    `settings` is the block `congenial.sex_by_age` of the configuration.
    """
    of = f"Table P12 of {settings['county']}" if settings["file"] else "the paper's table"
    options, epsilon = settings["distances"], settings["epsilon"]
    repeated = f"{options['tables']} simulated tables, {options['releases']} releases each"
    if settings["file"]:
        repeated = f"{of}, {options['tables']} times {options['releases']} releases"
    raw = f"raw\nepsilon = {options['raw_epsilon']:g}"
    methods = {
        "raw": raw,
        "projected": f"{raw},\nnon-negative\nl2 projection",
        "conditional": f"conditional\nepsilon = {epsilon:g}",
        "raw_half": f"raw\nepsilon = {epsilon:g}",
    }
    chain = read["trace"].iloc[0]
    return {
        "distances": plot_distances(read["medians"], repeated, methods),
        "acceptance": plot_acceptance(
            read["acceptance"], f"Independence sampler, {of}, epsilon = {epsilon:g} per cell"
        ),
        "traces": plot_traces(
            read["traces"],
            read["trace"],
            f"Independence sampler, {of}, proposal parameter {settings['proposal_epsilon']:g}: "
            f"{chain['acceptance_percent']:.2f} % accepted, longest stay "
            f"{chain['longest_stay']:,} steps",
        ),
        "samplers": plot_samplers(
            read["speed"],
            read["norms"],
            f"Two samplers of one target ({of}, epsilon = {epsilon:g})",
            {"walk": "lattice walk", "independence": "independence sampler\n(CDP, Algorithm 1)"},
        ),
    }


@styled
def plot_acceptance(rates: pd.DataFrame, title: str) -> Figure:
    """Plot the acceptance rate by proposal parameter (CDP, Figure 2)."""
    figure, ((left, right),) = panels(1, 2, (10, 4), width_ratios=(2, 1))
    printed = rates.dropna(subset=["paper_percent"]).drop_duplicates("proposal_epsilon")
    for axis in (left, right):
        for start, (label, look) in STARTS.items():
            part = rates[rates["start"] == start]
            bars = [part["percent"] - part["low"], part["high"] - part["percent"]]
            axis.errorbar(
                "proposal_epsilon", "percent", bars, data=part, label=label, **look, **POINT_STYLE
            )
        if len(printed):
            label = "paper (read off its figure)"
            axis.plot(
                "proposal_epsilon", "paper_percent", data=printed, label=label, zorder=5, **CROSS
            )
    left.set_xlabel("proposal parameter (epsilon of the proposal, per cell)")
    left.set_ylabel("proposals accepted (%), with 99 % intervals")
    left.legend(frameon=False)
    left.set_title(title, loc="left")
    smallest = rates["proposal_epsilon"].sort_values().iloc[:4]
    right.set_xlim(smallest.min() - 0.02, smallest.max() + 0.02)
    right.set_yscale("symlog", linthresh=0.01)
    right.set(xlabel="proposal parameter", ylabel="proposals accepted (%)")
    right.set_title("small parameters, log scale above 0.01 %", loc="left", fontsize=9)
    left.set_ylim(bottom=0)
    right.set_ylim(bottom=0)
    return finish(figure)


@styled
def plot_traces(steps: pd.DataFrame, summary: pd.DataFrame, title: str) -> Figure:
    """Plot the counts of two cells along a chain (CDP, Figure 3)."""
    figure, axes = panels(len(summary), 1, (9.5, 5), sharex=True)
    for axis, (_, cell) in zip(axes[:, 0], summary.iterrows(), strict=True):
        part = steps[steps["cell"] == cell["cell"]]
        axis.step(part["step"], part["count"], where="post", color=DRAW, lw=0.7)
        axis.axhline(cell["confidential"], color=DAS, lw=1, ls="--", label="confidential count")
        source = "proposed" if cell["proposed"] else "solved from the equalities"
        axis.set_title(
            f"cell {cell['cell']} ({cell['name']}), {source}: effective sample size "
            f"{cell['ess']:.0f} in {cell['steps']:,} steps",
            loc="left",
            fontsize=9,
        )
        axis.set(ylabel="released count (persons)", xlim=(0, cell["steps"]))
        axis.set_ylim(bottom=-0.5)
    axes[0, 0].legend(loc="upper right", frameon=True)
    axes[-1, 0].set_xlabel("step")
    return finish(figure, title)


@styled
def plot_distances(medians: pd.DataFrame, title: str, labels: dict[str, str]) -> Figure:
    """Plot mean distances of releases by method, with the paper's medians (CDP, Figure 1).

    `labels` maps the methods with a box plot to their labels, in order. The panels on the right
    show the methods unmixed_N. The releases of unmixed_N are from chains of N proposals, which have
    not converged.
    """
    figure, axes = panels(2, 2, (10.5, 6.6), width_ratios=(1.5, 1))
    for (box_axis, line_axis), distance in zip(axes, ("l1", "l2"), strict=True):
        part = medians[medians["distance"] == distance].set_index("method")
        boxes = part.loc[list(labels)].set_axis(range(1, len(labels) + 1))
        draw_box_shapes(box_axis, boxes, colour=BOX, width=0.5)
        for position, row in boxes.iterrows():
            words, place = f"{row['median']:.2f}", (position + 0.3, row["median"])
            box_axis.annotate(words, place, fontsize=8, va="center", color=INK)
            if pd.notna(row["paper"]):
                box_axis.plot(position, row["paper"], **CROSS, ms=7, zorder=5)
                words, place = f"{row['paper']:.2f}", (position, row["whisker_low"])
                box_axis.annotate(words, place, **BELOW_POINT, fontsize=8, color=DAS)
        box_axis.set_xticks(boxes.index, list(labels.values()), fontsize=8)
        box_axis.margins(y=0.1)
        box_axis.set_xlim(0.4, len(labels) + 0.7)
        box_axis.set_ylabel(f"mean {distance} distance of a table's releases\n(persons)")
        _draw_mixing(line_axis, part)
    handles = [Line2D([], [], color=INK, lw=1.4, label="median here")]
    if medians["paper"].notna().any():
        handles.append(Line2D([], [], **CROSS, label="paper's median (read off its figure)"))
    axes[0, 0].legend(handles=handles, loc="upper left", frameon=True)
    axes[0, 0].set_title(title, loc="left", fontsize=10)
    axes[0, 1].set_title("conditional releases from short chains", loc="left", fontsize=9)
    axes[1, 1].set_xlabel("proposals of a chain that starts at the confidential table")
    return finish(figure)


def _draw_mixing(axis: Axes, medians: pd.DataFrame) -> None:
    short = medians[medians.index.str.startswith("unmixed_")]
    proposals = short.index.str.removeprefix("unmixed_").astype(int)
    label = "median, releases of one chain (bars: 2 s.e.)"
    look = {"color": DRAW, "marker": "o", **POINT_STYLE}
    axis.errorbar(proposals, short["median"], 2 * short["se"], label=label, **look)
    middle, se, paper = medians.loc["conditional", ["median", "se", "paper"]]
    axis.axhspan(middle - 2 * se, middle + 2 * se, color=BOX, alpha=0.5)
    axis.axhline(middle, color=INK, lw=1.2, label="median, converged chains (band: 2 s.e.)")
    if pd.notna(paper):
        axis.axhline(paper, color=DAS, lw=1.2, ls="--", label="paper's median")
    axis.set_xscale("log")
    axis.legend(loc="lower right", frameon=True)


@styled
def plot_samplers(
    speeds: pd.DataFrame, norms: pd.DataFrame, title: str, labels: dict[str, str]
) -> Figure:
    """Plot the efficiency of two samplers of one distribution, and the norms of their draws."""
    figure, ((left, right),) = panels(1, 2, (10, 3.6), width_ratios=(1, 1.3))
    values = speeds.set_index("sampler")["effective_draws_per_second"].loc[list(labels)]
    colours = DARK[: len(labels)]
    bars = left.barh(list(labels.values()), values, color=colours, height=0.55, alpha=0.8)
    left.bar_label(bars, fmt="{:,.0f}", padding=4, fontsize=9)
    left.invert_yaxis()
    left.set_xlim(0, 1.2 * values.max())
    left.set_xlabel("effective sample size per second (worst cell, this run)")
    left.grid(False, axis="y")
    for colour, (name, words) in zip(DARK, labels.items(), strict=False):
        part = norms[norms["sampler"] == name]
        right.step("norm", "share", data=part, where="mid", color=colour, lw=1.1, label=words)
    right.set(xlabel="l1 norm of the noise (persons)", ylabel="share of the draws")
    right.set_ylim(bottom=0)
    right.legend(frameon=False)
    return finish(figure, title)
