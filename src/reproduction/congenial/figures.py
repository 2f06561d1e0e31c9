"""Figures of the sex by age experiment (CDP, Figures 1 to 3).

CDP is *Congenial Differential Privacy under Mandated Disclosure*.
"""

from collections.abc import Mapping

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from isdp.plots.boxes import draw_box_shapes
from isdp.plots.style import BOX, DARK, DAS, DRAW, FAINT, INK, WIDTH, finish, panels, styled

STARTS = {
    "target": ("stationary: starts from the target", {"color": DRAW, "fmt": "o-"}),
    "confidential": ("starts at the confidential table", {"color": FAINT, "fmt": "s--"}),
}
DISTANCES = ("l1", "l2")
POINT_STYLE = {"ms": 4, "lw": 1, "capsize": 2}
BELOW_POINT = {"xytext": (0, -3), "textcoords": "offset points", "va": "top", "ha": "center"}
CROSS = {"color": DAS, "marker": "x", "ls": "", "mew": 1.8}


def plot_sex_by_age(read: Mapping[str, pd.DataFrame], settings: Mapping) -> dict[str, Figure]:
    """Plot the figures of distances, short chains, acceptance rates, traces and samplers.

    `settings` is the block `congenial.sex_by_age` of the configuration.
    """
    of = f"Table P12 of {settings['county']}" if settings["file"] else "the paper's table"
    options, epsilon = settings["distances"], settings["epsilon"]
    repeated = f"{options['tables']} simulated tables"
    if options["tables"] != options["paper_tables"]:
        repeated += f" ({options['paper_tables']} in the paper)"
    repeated += f", {options['releases']} releases each"
    if settings["file"]:
        of = f"Table P12 of {settings['county']} (not the paper's table)"
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
        "distances": plot_distances(read["medians"], f"Distance of releases: {repeated}", methods),
        "short_chains": plot_short_chains(
            read["medians"], f"Conditional releases from short chains: {repeated}"
        ),
        "acceptance": plot_acceptance(
            read["acceptance"], f"Independence sampler, {of}, epsilon = {epsilon:g} per cell"
        ),
        "traces": plot_traces(
            read["traces"],
            read["trace"],
            f"Independence sampler, {of}, proposal parameter {settings['proposal_epsilon']:g}:\n"
            f"{chain['acceptance_percent']:.2f} % accepted, longest stay "
            f"{chain['longest_stay']:,} steps",
        ),
        "samplers": plot_samplers(
            read["speed"],
            read["norms"],
            f"Two samplers of one target ({of}, epsilon = {epsilon:g})",
            {"walk": "lattice walk", "independence": "independence\nsampler (CDP)"},
        ),
    }


@styled
def plot_acceptance(rates: pd.DataFrame, title: str) -> Figure:
    """Plot the acceptance rate by proposal parameter (CDP, Figure 2).

    A label gives our rate where the paper's is zero.
    """
    figure, ((axis,),) = panels(1, 1, (WIDTH, 4.2))
    printed = rates.dropna(subset=["paper_percent"]).drop_duplicates("proposal_epsilon")
    for start, (label, look) in STARTS.items():
        part = rates[rates["start"] == start]
        bars = [part["percent"] - part["low"], part["high"] - part["percent"]]
        axis.errorbar(
            "proposal_epsilon", "percent", bars, data=part, label=label, **look, **POINT_STYLE
        )
    handles = list(axis.containers)
    if len(printed):
        label = "paper (read off its figure)"
        handles += axis.plot(
            "proposal_epsilon", "paper_percent", data=printed, label=label, zorder=5, **CROSS
        )
    zero = printed.loc[printed["paper_percent"] == 0, "proposal_epsilon"]
    here = rates[(rates["start"] == "target") & rates["proposal_epsilon"].isin(zero)]
    words = [
        f"{row.proposal_epsilon:.2f}: paper 0 %, here {row.percent:.2g} %"
        for row in here.itertuples()
    ]
    axis.text(0.98, 0.95, "\n".join(words), transform=axis.transAxes, ha="right", va="top")
    axis.set_xlabel("proposal parameter (epsilon of the proposal, per cell)")
    axis.set_ylabel("proposals accepted (%), with 99 % intervals")
    axis.set_ylim(bottom=0)
    return finish(figure, title, handles)


@styled
def plot_traces(steps: pd.DataFrame, summary: pd.DataFrame, title: str) -> Figure:
    """Plot the counts of two cells along a chain, in the order of the paper (CDP, Figure 3)."""
    figure, (axes,) = panels(1, len(summary), (WIDTH, 3.6), sharex=True, sharey=True)
    shown = summary.sort_values("cell", ascending=False)
    for axis, (_, cell) in zip(axes, shown.iterrows(), strict=True):
        part = steps[steps["cell"] == cell["cell"]]
        label = "released count"
        axis.step(part["step"], part["count"], where="post", color=DRAW, lw=0.7, label=label)
        axis.axhline(cell["confidential"], color=DAS, lw=1.2, ls="--", label="confidential count")
        source = "proposed" if cell["proposed"] else "solved from the equalities"
        axis.set_title(
            f"cell {cell['cell']} ({cell['name']}),\n{source}; effective sample size "
            f"{cell['ess']:.0f}",
            loc="left",
            fontsize=9,
        )
        axis.set(xlim=(0, cell["steps"]), xlabel="step")
        axis.xaxis.set_major_formatter("{x:,.0f}")
        axis.locator_params(axis="x", nbins=3)
    axes[0].locator_params(axis="y", integer=True)
    axes[0].set_ylim(bottom=-0.5)
    axes[0].set_ylabel("count (persons)")
    return finish(figure, title, axes[0].get_lines())


@styled
def plot_distances(medians: pd.DataFrame, title: str, labels: dict[str, str]) -> Figure:
    """Plot mean distances of releases by method, with the paper's medians (CDP, Figure 1).

    `labels` maps the methods with a box plot to their labels, in order.
    """
    figure, axes = panels(2, 1, (WIDTH, 6.4), sharex=True)
    for axis, distance in zip(axes[:, 0], DISTANCES, strict=True):
        part = medians[medians["distance"] == distance].set_index("method")
        boxes = part.loc[list(labels)].set_axis(range(1, len(labels) + 1))
        draw_box_shapes(axis, boxes, colour=BOX, width=0.5)
        for position, row in boxes.iterrows():
            words, place = f"{row['median']:.2f}", (position + 0.3, row["median"])
            axis.annotate(words, place, fontsize=8.5, va="center", color=INK)
            if pd.notna(row["paper"]):
                axis.plot(position, row["paper"], **CROSS, ms=7, zorder=5)
                words, place = f"{row['paper']:.2f}", (position, row["whisker_low"])
                axis.annotate(words, place, **BELOW_POINT, fontsize=8.5, color=DAS)
        axis.margins(y=0.12)
        axis.set_xlim(0.4, len(labels) + 0.7)
        axis.set_ylabel(f"mean {distance} distance of a\ntable's releases (persons)")
    axes[1, 0].set_xticks(range(1, len(labels) + 1), list(labels.values()))
    handles: list[Artist] = [
        Patch(facecolor=BOX, edgecolor=INK, label="quartiles and median over the tables"),
        Line2D([], [], color=INK, lw=0.8, label="whiskers: 1.5 interquartile ranges"),
    ]
    if medians["paper"].notna().any():
        handles.append(Line2D([], [], **CROSS, label="paper's median (read off its figure)"))
    return finish(figure, title, handles)


@styled
def plot_short_chains(medians: pd.DataFrame, title: str) -> Figure:
    """Plot the median distances of the methods unmixed_N by N, with those of converged chains.

    The releases of unmixed_N are from chains of N proposals, which have not converged.
    """
    figure, (axes,) = panels(1, 2, (WIDTH, 4))
    for axis, distance in zip(axes, DISTANCES, strict=True):
        axis.set_xscale("log")
        _draw_mixing(axis, medians[medians["distance"] == distance].set_index("method"))
        axis.set_xlabel("proposals of the chain")
        axis.set_ylabel(f"median of the mean {distance} distance (persons)")
    handles = axes[0].get_legend_handles_labels()[0]
    return finish(figure, title, handles)


def _draw_mixing(axis: Axes, medians: pd.DataFrame) -> None:
    short = medians[medians.index.str.startswith("unmixed_")]
    proposals = short.index.str.removeprefix("unmixed_").astype(int)
    label = "chain that starts at the confidential table (bars: 2 s.e.)"
    look = {"color": DRAW, "marker": "o", **POINT_STYLE}
    axis.set_xlim(proposals.min() / 1.5, proposals.max() * 1.5)
    axis.errorbar(proposals, short["median"], 2 * short["se"], label=label, **look)
    middle, se, paper = medians.loc["conditional", ["median", "se", "paper"]]
    axis.axhspan(middle - 2 * se, middle + 2 * se, color=BOX, alpha=0.5)
    axis.axhline(middle, color=INK, lw=1.2, label="converged chains (band: 2 s.e.)")
    if pd.notna(paper):
        axis.axhline(paper, color=DAS, lw=1.2, ls="--", label="paper (read off its figure)")


@styled
def plot_samplers(
    speeds: pd.DataFrame, norms: pd.DataFrame, title: str, labels: dict[str, str]
) -> Figure:
    """Plot the efficiency of two samplers of one distribution, and the norms of their draws."""
    figure, ((left, right),) = panels(1, 2, (WIDTH, 3.4))
    values = speeds.set_index("sampler")["effective_draws_per_second"].loc[list(labels)]
    colours = DARK[: len(labels)]
    bars = left.barh(list(labels.values()), values, color=colours, height=0.55, alpha=0.8)
    left.bar_label(bars, fmt="{:,.0f}", padding=4, fontsize=9)
    left.invert_yaxis()
    left.set_xlim(0, 1.4 * values.max())
    left.set_xlabel("effective sample size per second\n(worst cell, this machine)")
    left.locator_params(axis="x", nbins=4)
    left.xaxis.set_major_formatter("{x:,.0f}")
    left.grid(False, axis="y")
    for colour, style, (name, words) in zip(DARK, ("-", "--"), labels.items(), strict=False):
        look = {"color": colour, "ls": style, "lw": 1.1, "label": words.replace("\n", " ")}
        right.step("norm", "share", data=norms[norms["sampler"] == name], where="mid", **look)
    right.set(xlabel="l1 norm of the noise (persons)", ylabel="share of the draws")
    right.set_ylim(bottom=0)
    return finish(figure, title, right.get_lines())
