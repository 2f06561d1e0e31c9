"""Figures of subspace privacy (SDP). The other modules of the study compute their tables.

SDP is *Subspace Differential Privacy*.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from isdp.diagnostics.summaries import boxes
from isdp.plots.boxes import box_handles, boxes_width, draw_boxes
from isdp.plots.style import (
    CREST,
    DARK,
    DAS,
    DRAW,
    FAINT,
    INK,
    finish,
    legend_above,
    panels,
    styled,
)
from reproduction.data.differences import extend_title, note_vintage
from reproduction.subspace.equal_privacy import L1_UNIT, RECORD_UNIT
from reproduction.subspace.wifi import PRINTED_NUMBERS

GAUSSIAN_STYLES = {
    "projected Gaussian": ("projected (Cor 3.5)", INK, "s"),
    "extended Gaussian": ("extended (Cor 3.6)", DRAW, "D"),
    "base decomposition, paper": ("correlated (Thm 3.11)", DAS, "o"),
    "base decomposition, rescaled": ("correlated, scale fitted (ours)", DARK[4], "v"),
}
PURE_STYLES = {
    "projected Laplace": ("projected Laplace (Cor 3.8)", DRAW, "o"),
    "extended Laplace": ("extended Laplace (Cor 3.9), each basis", FAINT, "|"),
    "K-norm": ("K-norm, where it can be drawn exactly", DARK[2], "^"),
}
# these markers are large, because they coincide with others
SIZES = {"s": {"ms": 10, "mfc": "none"}, "|": {"ms": 10}}
# title and background of the panels, by privacy unit
UNIT_PANELS = {
    RECORD_UNIT: ("epsilon = {:g} for one replaced record (SDP's)", "#f1f6fb"),
    L1_UNIT: ("epsilon = {:g} for each unit of l1, equal invariants (ISDP's)", "#fdf6e9"),
}
COLOURS = {"SDP": DRAW, "ISDP": DARK[2]}
LABELS = {"generalized Laplace": "generalized Laplace, integers"}


@styled
def plot_errors(table: pd.DataFrame, words: dict[str, str], epsilon: float, delta: float) -> Figure:
    """Plot the errors of Gaussian noise (left) and of pure noise (right) by workload.

    `words` maps the name of a workload to its label.
    """
    names = list(table["workload"].unique())
    figure, ((left, right),) = panels(1, 2, (12, 2 + 0.42 * len(names)), sharey=True)
    gaussian = table.assign(ratio=table["unit"] / table["least"])
    for axis, part, looks in ((left, gaussian, GAUSSIAN_STYLES), (right, table, PURE_STYLES)):
        for kind, (label, colour, marker) in looks.items():
            known = part[part["mechanism"].str.startswith(kind)]
            rows = known["workload"].map(names.index)
            size = SIZES.get(marker, {"ms": 6})
            axis.plot(known["ratio"], rows, marker, color=colour, mew=1.3, label=label, **size)
        axis.axvline(1, color=INK, lw=1.2)
        axis.set_xscale("log")
        axis.set_xlim(left=0.8)
        axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.xaxis.set_major_formatter("{x:,g}")
        axis.minorticks_off()
        axis.legend(
            frameon=True, fontsize=7.5, loc="lower right", bbox_to_anchor=(1, 1.09), ncols=2
        )
    left.set_yticks(range(len(names)), [words[name] for name in names], fontsize=8)
    left.invert_yaxis()
    left.set_xlabel("error divided by the smallest of any Gaussian noise (line: 1)")
    right.set_xlabel("error divided by a lower bound for additive noise (line: 1)")
    left.set_title(f"Gaussian noise, delta = {delta:g}", loc="left")
    right.set_title(f"pure noise, epsilon = {epsilon:g} per replaced record", loc="left")
    return finish(figure)


@styled
def plot_constant(failing: pd.DataFrame, grid: pd.DataFrame) -> Figure:
    """Plot the range in which the constant of Lemma 3.4 is too small, and its excess variance."""
    figure, ((left, right),) = panels(1, 2, (10.5, 4))
    grid = grid.assign(log10_delta=np.log10(grid["delta"]), holds=grid["holds"].astype(bool))
    edge = failing.dropna()
    lowest = min(-20.0, grid["log10_delta"].min()) - 1
    left.fill_between(edge["epsilon"], lowest, edge["log10_delta"], color=DAS, alpha=0.15, lw=0)
    left.plot(edge["epsilon"], edge["log10_delta"], color=DAS, lw=1.6)
    for holds, marker, colour in ((True, "o", DRAW), (False, "X", DAS)):
        part = grid[grid["holds"] == holds]
        label = f"grid: the lemma {'holds' if holds else 'fails'}"
        left.plot(part["epsilon"], part["log10_delta"], marker, color=colour, ms=5, label=label)
    left.set(xscale="log", ylim=(lowest, 0), xlabel="epsilon", ylabel="log10 of delta")
    legend_above(left, left.get_legend_handles_labels()[0])
    left.set_title("Noise by the printed constant: sufficient, or not (red)", loc="left", pad=20)
    curves = grid.groupby("epsilon")
    for colour, (epsilon, part) in zip(CREST(np.linspace(0, 1, len(curves))), curves, strict=True):
        label = f"{epsilon:g}"
        right.plot(part["log10_delta"], part["waste"], "o-", color=colour, ms=3, label=label)
    right.axhspan(0.1, 1, color=DAS, alpha=0.15, lw=0)
    right.axhline(1, color=DAS, lw=1.2)
    right.set(yscale="log", ylim=(grid["waste"].min() / 1.3, grid["waste"].max() * 1.3))
    right.yaxis.set_major_formatter("{x:g}")
    right.set(xlabel="log10 of delta", ylabel="variance divided by the smallest sufficient one")
    right.legend(title="epsilon (darker: larger)", frameon=True, ncols=2, fontsize=8)
    right.set_title("Below 1 the noise is insufficient for the guarantee", loc="left", pad=20)
    return finish(figure)


@styled
def plot_losses(attained: pd.DataFrame, profiles: pd.DataFrame) -> Figure:
    """Plot the loss of projected Laplace noise against the distance, and privacy profiles."""
    figure, ((left, right),) = panels(1, 2, (10.5, 4))
    colours = dict(zip(profiles["cells"].unique(), DARK, strict=False))
    for cells, part in attained.groupby("cells"):
        look = {"color": colours[cells], "ms": 3.5, "label": f"{cells}"}
        left.plot(part["distance"], part["share"], "o-", **look)
    left.axhline(1, color=INK, lw=1, ls="--")
    left.set(xscale="log", ylim=(0, 1.05), ylabel="privacy loss divided by epsilon")
    left.set_xlabel("distance of the release from the truth, in scales b of the noise")
    left.legend(title="cells under the total", frameon=True, loc="lower right")
    left.set_title("Projected Laplace: the loss approaches epsilon at large distances", loc="left")
    for (cells, noise), part in profiles.groupby(["cells", "noise"], sort=False):
        part = part[part["delta"] > 1e-7]
        line = "-" if noise == "projected" else "--"
        right.plot(part["epsilon"], part["delta"], line, color=colours[cells], lw=1.4)
    right.set(yscale="log", ylabel="smallest delta with (epsilon', delta)")
    right.set_xlabel("epsilon' divided by the epsilon of the noise")
    lines = [Line2D([], [], color=colour, label=f"{n} cells") for n, colour in colours.items()]
    lines += [
        Line2D([], [], color=INK, ls="-", label="projected Laplace"),
        Line2D([], [], color=INK, ls="--", label="K-norm (conditioned Laplace)"),
    ]
    right.legend(handles=lines, frameon=True, loc="lower left", fontsize=8)
    right.set_title("Delta at a smaller epsilon'", loc="left")
    return finish(figure)


@styled
def plot_readings(table: pd.DataFrame) -> Figure:
    """Plot every reading of the WiFi example, with the three printed numbers as lines."""
    table = table.sort_values("median", ignore_index=True)
    figure, ((axis,),) = panels(1, 1, (10, 1.6 + 0.28 * len(table)))
    right = {"transform": axis.get_yaxis_transform(), "fontsize": 8}
    for row, found in table.iterrows():
        colour = DAS if row == table["off"].idxmin() else DRAW
        axis.plot([found["q05"], found["q95"]], [row, row], color=colour, lw=2.2, alpha=0.8)
        axis.plot(found["median"], row, "o", color=colour, ms=5)
        share = f"{found['printed_by_cutting']:.0%} / {found['printed_by_rounding']:.0%}"
        axis.text(1.01, row, share, va="center", color=colour, **right)
    for printed, line in zip(PRINTED_NUMBERS, ("-", "--", "--"), strict=True):
        axis.axvline(printed, color=INK, lw=1, ls=line, zorder=0)
    axis.set_yticks(range(len(table)), table["reading"])
    axis.set_ylim(-0.7, len(table) - 0.3)
    words = "all three printed\n(digits cut off / rounded)"
    axis.text(1.01, len(table) - 0.3, words, va="bottom", **right)
    axis.set_xlabel("median (dot), 5 % and 95 % quantile (ends); lines: the printed numbers")
    axis.grid(False, axis="y")
    title = "Which statistic of projected unit noise is 0.88 (0.86, 0.91)? Red: the nearest"
    axis.set_title(title, loc="left", fontsize=9)
    return finish(figure)


@styled
def plot_equal_privacy(table: pd.DataFrame) -> Figure:
    """Plot the errors of the pure mechanisms, with one panel for each table and privacy unit."""
    pure = table[table["flavour"] == "pure"]
    pure = pure[~pure["mechanism"].str.startswith("extended")]
    settings = pure.groupby("setting", sort=False)
    figure, axes = panels(len(settings), 2, (12, 1.2 + 2.6 * len(settings)))
    for line, (setting, here) in zip(axes, settings, strict=True):
        names = list(here["mechanism"].unique())
        for axis, (currency, (words, ground)) in zip(line, UNIT_PANELS.items(), strict=True):
            axis.set_facecolor(ground)
            _draw_errors(axis, here[here["currency"] == currency], names)
            title = f"{setting}\n{words.format(here['epsilon'].iloc[0])}"
            axis.set_title(title, loc="left", fontsize=9)
        line[1].set_yticklabels([])
    handles = [
        Line2D([], [], color=colour, marker="s", ls="", ms=8, label=f"{paper}'s noise")
        for paper, colour in COLOURS.items()
    ]
    handles.append(
        Line2D([], [], color=INK, lw=1.4, ls="--", label="lower bound for additive noise")
    )
    figure.legend(handles=handles, loc="upper right", ncols=3, frameon=False, fontsize=8.5)
    return finish(
        figure, "Errors at equal privacy; compare bars within a panel only. Rank 1: smallest error"
    )


def _draw_errors(axis: Axes, part: pd.DataFrame, names: list[str]) -> None:
    rows, ranks = part["mechanism"].map(names.index), part["error"].rank(method="min")
    part = part.assign(row=rows, rank=ranks).sort_values("row")
    axis.barh(part["row"], part["error"], color=part["paper"].map(COLOURS), height=0.55, alpha=0.75)
    seen = part[part["error_se"] > 0]
    bars = 2 * seen["error_se"]
    axis.errorbar(seen["error"], seen["row"], xerr=bars, color=INK, lw=1, capsize=2, fmt="none")
    for found in part.itertuples():
        places = 0 if found.error >= 1000 else 1
        words = f"{found.rank:.0f}:  {found.error:,.{places}f}  (sd of a count {found.sd:.3g})"
        end = found.error + 2 * found.error_se, found.row
        axis.annotate(words, end, (5, 0), textcoords="offset points", va="center", fontsize=8)
    for row in set(range(len(names))) - set(part["row"]):
        words = "no guarantee in this unit: see the continuous noise"
        look = {"transform": axis.get_yaxis_transform(), "fontsize": 8, "color": "#666666"}
        ground = axis.get_facecolor()  # hides the line of the bound behind the text
        axis.text(0.02, row, words, va="center", zorder=5, backgroundcolor=ground, **look)
    axis.axvline(part["bound"].iloc[0], color=INK, lw=1.4, ls="--")
    axis.set_xlim(0, 1.8 * part["error"].max())
    axis.set_yticks(range(len(names)), [LABELS.get(name, name) for name in names])
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.grid(False, axis="y")
    axis.set_xlabel("expected squared error, all counts together (persons²)")


@styled
def plot_county_runs(runs: pd.DataFrame, state: str, epsilon: float, vintage: str) -> Figure:
    """Plot projected Laplace noise on a state's counties, with one panel per scale (SDP, Figure 1).

    `vintage` is the vintage of the demonstration data, or "" if there are none.
    """
    scales = runs["scale"].unique()
    counties = runs["rank"].max() + 1
    size = boxes_width(counties), 1.6 + 2.7 * len(scales)
    figure, axes = panels(len(scales), 1, size, sharex=True, sharey=True)
    marks, words = {}, ""
    if runs["das_error"].notna().any():
        words = note_vintage(vintage)
        marks = {"das_error": ("o", DAS, f"error of the Census DAS, vintage {vintage}")}
    for axis, scale in zip(axes[:, 0], scales, strict=True):
        draw_boxes(axis, _boxes_of(runs[runs["scale"] == scale]), marks=marks)
        axis.set_xlim(-0.8, counties - 0.2)
        axis.set_ylabel(f"noise (persons)\n{_scale_words(scale)}", fontsize=8)
    axes[-1, 0].set_xlabel("county (2010 population), from the least populous to the most")
    number = runs["run"].nunique()
    title = f"{state}: {number} runs of projected Laplace noise, epsilon = {epsilon:g}"
    axes[0, 0].set_title(extend_title(title, words), loc="left", pad=26)
    legend_above(axes[0, 0], box_handles(marks))
    return finish(figure)


def _scale_words(scale: float) -> str:
    return f"b = {scale:g} / epsilon" + (" (ISDP's)" if scale == 1 else "")


def _boxes_of(runs: pd.DataFrame) -> pd.DataFrame:
    noise = runs.pivot(index="run", columns="rank", values="error").to_numpy()
    shown = boxes(noise[None]).rename(columns={"cell": "position"})
    one = runs.drop_duplicates("rank").rename(columns={"rank": "position"})
    bureau = one.melt("position", ["das_error"], "series").dropna()
    table = pd.concat([shown, bureau.astype({"value": float})], ignore_index=True)
    names = one["county"].str.rsplit(" ", n=1)
    if len(set(names.str[-1])) == 1:  # such as "County"
        one["county"] = names.str[0]
    one["label"] = one["county"] + " (" + one["population"].map("{:,}".format) + ")"
    labelled = table.merge(one[["position", "label"]], on="position", validate="many_to_one")
    return labelled.sort_values("position", kind="stable")


@styled
def plot_states(table: pd.DataFrame, vintage: str) -> Figure:
    """Plot the root mean squares of the noise and of the errors of the Census DAS in each state."""
    table = table.assign(place=pd.factorize(table["state"])[0])
    names = table["state"].unique()
    figure, ((axis,),) = panels(1, 1, (9.5, 4))
    for number, (scale, part) in enumerate(table.groupby("scale", sort=False)):
        place = part["place"] + 0.16 * (number - 0.5)
        colour = (DRAW, DARK[2], DARK[4])[number]
        axis.vlines(place, part["sd_low"], part["sd_high"], color=colour, lw=5, alpha=0.3)
        axis.plot(place, part["seen"], "o", color=colour, ms=5, label=_scale_words(scale))
    known = table.drop_duplicates("state").dropna(subset=["das_sd"])
    if len(known):
        label = f"errors of the Census DAS, vintage {vintage}"
        axis.plot(known["place"], known["das_sd"], "D", color=DAS, ms=5, label=label)
    axis.set_xticks(range(len(names)), names)
    axis.set(xlim=(-0.7, len(names) - 0.3), ylim=(0, None), xlabel="state")
    axis.set_ylabel("root mean square error of a county (persons)")
    axis.grid(False, axis="x")
    title = "Projected Laplace noise: the runs (dots), and approximate 90 % intervals (bars)"
    words = note_vintage(vintage) if len(known) else ""
    axis.set_title(extend_title(title, words), loc="left", pad=24)
    legend_above(axis, axis.get_legend_handles_labels()[0])
    return finish(figure)
