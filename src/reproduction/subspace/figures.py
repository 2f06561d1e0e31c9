"""Figures of subspace privacy (SDP): errors, guarantees, both examples, equal privacy."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

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
from reproduction.data.differences import other_vintage, titled
from reproduction.subspace.equal_privacy import RECORD, UNIT
from reproduction.subspace.wifi import PRINTED

GAUSSIANS = {
    "projected Gaussian": ("projected (Cor 3.5)", INK, "s"),
    "extended Gaussian": ("extended (Cor 3.6)", DRAW, "D"),
    "base decomposition, paper": ("correlated (Thm 3.11)", DAS, "o"),
    "base decomposition, rescaled": ("correlated, scale fitted (ours)", DARK[4], "v"),
}
PURE = {
    "projected Laplace": ("projected Laplace (Cor 3.8)", DRAW, "o"),
    "extended Laplace": ("extended Laplace (Cor 3.9), each basis", FAINT, "|"),
    "K-norm": ("K-norm, where it can be drawn exactly", DARK[2], "^"),
}
TICKS = [lead * 10**power for power in range(6) for lead in (1, 2, 5)]
PROMISES = {
    RECORD: "epsilon = {:g} for one replaced record (SDP's)",
    UNIT: "epsilon = {:g} for each unit of l1, equal invariants (ISDP's)",
}
GROUNDS = {RECORD: "#f1f6fb", UNIT: "#fdf6e9"}  # so that the two columns look unlike
INTEGER = {"generalized Laplace": "generalized Laplace, integers"}


@styled
def errors(table: pd.DataFrame, words: dict[str, str], epsilon: float, delta: float) -> Figure:
    """Errors of all mechanisms by workload, Gaussian on the left and pure on the right.

    Parameters
    ----------
    table : DataFrame
        From `reproduction.subspace.workloads.error_table`.
    words : dict
        What each workload is.
    epsilon, delta : float
        For the titles.
    """
    names = list(dict.fromkeys(table["workload"]))
    figure, ((left, right),) = panels(1, 2, (12, 2 + 0.42 * len(names)), sharey=True)
    gaussian = table.assign(ratio=table["unit"] / table["least"])
    for axis, part, looks in ((left, gaussian, GAUSSIANS), (right, table, PURE)):
        for kind, (label, colour, marker) in looks.items():
            known = part[part["mechanism"].str.startswith(kind)]
            rows = known["workload"].map(names.index)
            hollow = kind == "projected Gaussian"  # extended noise often lies within it
            axis.plot(
                known["ratio"],
                rows,
                marker,
                color=colour,
                ms=10 if hollow or marker == "|" else 6,
                mfc="none" if hollow else colour,
                mew=1.3,
                label=label,
            )
        axis.axvline(1, color=INK, lw=1.2)
        axis.set_xscale("log")
        _, most = axis.set_xlim(left=0.8)
        shown = [tick for tick in TICKS if tick < most]
        axis.set_xticks(shown, [f"{tick:,}" for tick in shown])
        axis.set_xticks([], minor=True)
        axis.grid(False, axis="y")
        axis.legend(
            frameon=True, fontsize=7.5, loc="lower right", bbox_to_anchor=(1, 1.09), ncols=2
        )
        for row in range(len(names)):
            axis.axhline(row, color="#eeeeee", lw=0.8, zorder=0)
    left.set_yticks(range(len(names)), [words[name] for name in names], fontsize=8)
    left.invert_yaxis()
    left.set_xlabel("error, by the least of any Gaussian noise (line: 1)")
    right.set_xlabel("error, by a bound for any additive noise (line: 1)")
    left.set_title(f"Gaussian noise, delta = {delta:g}", loc="left")
    right.set_title(f"pure noise, epsilon = {epsilon:g} a replaced record", loc="left")
    return finish(figure)


@styled
def constant(failing: pd.DataFrame, grid: pd.DataFrame) -> Figure:
    """Where the constant of Lemma 3.4 is too small, and how much noise it wastes elsewhere.

    Parameters
    ----------
    failing, grid : DataFrame
        From `reproduction.subspace.guarantees.failing_table` and `constant_table`.
    """
    figure, ((left, right),) = panels(1, 2, (10.5, 4))
    edge = failing.dropna()
    lowest = min(-20.0, np.log10(grid["delta"]).min()) - 1
    left.fill_between(edge["epsilon"], lowest, edge["log10_delta"], color=DAS, alpha=0.15, lw=0)
    left.plot(edge["epsilon"], edge["log10_delta"], color=DAS, lw=1.6)
    holds = grid["holds"].astype(bool)
    for mask, marker, colour, label in (
        (holds, "o", DRAW, "grid: the lemma holds"),
        (~holds, "X", DAS, "grid: the lemma fails"),
    ):
        part = grid[mask]
        left.plot(part["epsilon"], np.log10(part["delta"]), marker, color=colour, ms=5, label=label)
    left.set_xscale("log")
    left.set_ylim(lowest, 0)
    left.set_xlabel("epsilon")
    left.set_ylabel("log10 of delta")
    legend_above(left, left.get_legend_handles_labels()[0])
    left.set_title("Noise of the printed size: enough, or too little (red)", loc="left", pad=20)
    curves = grid.groupby("epsilon")
    for colour, (epsilon, part) in zip(CREST(np.linspace(0, 1, len(curves))), curves, strict=True):
        right.plot(
            np.log10(part["delta"]), part["waste"], "o-", color=colour, ms=3, label=f"{epsilon:g}"
        )
    right.axhspan(0.1, 1, color=DAS, alpha=0.15, lw=0)
    right.axhline(1, color=DAS, lw=1.2)
    right.set_yscale("log")
    right.set_ylim(grid["waste"].min() / 1.3, grid["waste"].max() * 1.3)
    right.yaxis.set_major_formatter("{x:g}")
    right.set_xlabel("log10 of delta")
    right.set_ylabel("variance, by the least that is enough")
    right.legend(title="epsilon (darker: larger)", frameon=True, ncols=2, fontsize=8)
    right.set_title("Below 1 there is less noise than the guarantee needs", loc="left", pad=20)
    return finish(figure)


@styled
def losses(attained: pd.DataFrame, profiles: pd.DataFrame) -> Figure:
    """Loss of projected Laplace noise far out, and the profiles of it and of K-norm noise.

    Parameters
    ----------
    attained, profiles : DataFrame
        From `reproduction.subspace.guarantees.attained_loss` and `profile_table`.
    """
    figure, ((left, right),) = panels(1, 2, (10.5, 4))
    counts = list(dict.fromkeys(profiles["cells"]))
    colours = dict(zip(counts, DARK, strict=False))
    for cells, part in attained.groupby("cells"):
        left.plot(
            part["distance"], part["share"], "o-", color=colours[cells], ms=3.5, label=f"{cells}"
        )
    left.axhline(1, color=INK, lw=1, ls="--")
    left.set_xscale("log")
    left.set_ylim(0, 1.05)
    left.set_xlabel("distance of the release from the truth, in scales b of the noise")
    left.set_ylabel("privacy loss, by epsilon")
    left.legend(title="cells under the total", frameon=True, loc="lower right")
    left.set_title("Projected Laplace: epsilon is reached, but only far out", loc="left")
    for (cells, noise), part in profiles.groupby(["cells", "noise"], sort=False):
        part = part[part["delta"] > 1e-7]
        line = "-" if noise == "projected" else "--"
        right.plot(part["epsilon"], part["delta"], line, color=colours[cells], lw=1.4)
    right.set_yscale("log")
    right.set_xlabel("epsilon', by the epsilon that the noise is made for")
    right.set_ylabel("least delta with (epsilon', delta)")
    lines = [Line2D([], [], color=colours[n], label=f"{n} cells") for n in counts]
    lines += [
        Line2D([], [], color=INK, ls="-", label="projected Laplace"),
        Line2D([], [], color=INK, ls="--", label="K-norm (conditioned Laplace)"),
    ]
    right.legend(handles=lines, frameon=True, loc="lower left", fontsize=8)
    right.set_title("What is left over at a smaller epsilon'", loc="left")
    return finish(figure)


@styled
def readings(table: pd.DataFrame) -> Figure:
    """Every reading of the campus example beside the three printed numbers.

    Parameters
    ----------
    table : DataFrame
        From `reproduction.subspace.wifi.reading_table`.
    """
    table = table.sort_values("median", ignore_index=True)
    figure, ((axis,),) = panels(1, 1, (10, 1.6 + 0.28 * len(table)))
    nearest = table["off"].idxmin()
    for row, found in table.iterrows():
        colour = DAS if row == nearest else DRAW
        axis.plot([found["q05"], found["q95"]], [row, row], color=colour, lw=2.2, alpha=0.8)
        axis.plot(found["median"], row, "o", color=colour, ms=5)
        share = f"{found['printed_by_cutting']:.0%} / {found['printed_by_rounding']:.0%}"
        axis.annotate(
            share,
            (1.01, row),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=8,
            color=colour,
        )
    for printed, line in zip(PRINTED, ("-", "--", "--"), strict=True):
        axis.axvline(printed, color=INK, lw=1, ls=line, zorder=0)
    axis.annotate(
        "all three printed\n(digits cut off / rounded)",
        (1.01, 1.0),
        xycoords="axes fraction",
        va="bottom",
        fontsize=8,
    )
    axis.set_yticks(range(len(table)), table["reading"])
    axis.set_ylim(-0.7, len(table) - 0.3)
    axis.set_xlabel(
        "median (dot), 5 % and 95 % quantile (ends); dashed and solid: 0.86, 0.88, 0.91 as printed"
    )
    axis.grid(False, axis="y")
    axis.set_title(
        "Which statistic of projected unit noise is 0.88 (0.86, 0.91)? Red: the nearest",
        loc="left",
        fontsize=9,
    )
    return finish(figure)


@styled
def equal_privacy(table: pd.DataFrame) -> Figure:
    """Errors of the pure mechanisms under each promise, every panel with an axis of its own.

    Parameters
    ----------
    table : DataFrame
        From `reproduction.subspace.equal_privacy`, with a column setting.
    """
    pure = table[table["flavour"] == "pure"]
    pure = pure[~pure["mechanism"].str.startswith("extended")]
    settings = list(dict.fromkeys(pure["setting"]))
    figure, axes = panels(len(settings), 2, (12, 1.2 + 2.6 * len(settings)))
    for line, setting in zip(axes, settings, strict=True):
        here = pure[pure["setting"] == setting]
        names = list(dict.fromkeys(here["mechanism"]))
        for axis, currency in zip(line, (RECORD, UNIT), strict=True):
            axis.set_facecolor(GROUNDS[currency])
            _draw_promise(axis, here[here["currency"] == currency], names)
            axis.set_title(
                f"{setting}\n{PROMISES[currency].format(here['epsilon'].iloc[0])}",
                loc="left",
                fontsize=9,
            )
        line[1].set_yticklabels([])
    handles = [
        Line2D([], [], color=DRAW, marker="s", ls="", ms=8, label="SDP's noise"),
        Line2D([], [], color=DARK[2], marker="s", ls="", ms=8, label="ISDP's noise"),
        Line2D([], [], color=INK, lw=1.4, ls="--", label="no additive noise has less"),
    ]
    figure.legend(handles=handles, loc="upper right", ncols=3, frameon=False, fontsize=8.5)
    return finish(
        figure,
        "Two different promises: compare bars within a panel, never across. 1: least error",
    )


def _draw_promise(axis: Axes, part: pd.DataFrame, names: list[str]) -> None:
    part = part.set_index("mechanism")
    ranks = part["error"].rank(method="min")
    for row, name in enumerate(names):
        if name not in part.index:
            axis.annotate(
                "promises nothing in this currency: see its continuous twin",
                (0.01, row),
                xycoords=("axes fraction", "data"),
                va="center",
                fontsize=8,
                color="#666666",
                bbox={"fc": axis.get_facecolor(), "ec": "none", "pad": 1},
                zorder=5,
            )
            continue
        found = part.loc[name]
        colour = DRAW if found["paper"] == "SDP" else DARK[2]
        axis.barh(row, found["error"], color=colour, height=0.55, alpha=0.75)
        if found["error_se"] > 0:
            reach = 2 * found["error_se"]
            axis.errorbar(found["error"], row, xerr=reach, color=INK, lw=1, capsize=2)
        places = 0 if found["error"] >= 1000 else 1
        words = (
            f"{ranks[name]:.0f}:  {found['error']:,.{places}f}  (sd of a count {found['sd']:.3g})"
        )
        axis.annotate(
            words,
            (found["error"] + 2 * found["error_se"], row),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    axis.axvline(part["bound"].iloc[0], color=INK, lw=1.4, ls="--")
    axis.set_axisbelow(True)
    axis.set_xlim(0, 1.8 * part["error"].max())
    axis.set_yticks(range(len(names)), [INTEGER.get(name, name) for name in names])
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.grid(False, axis="y")
    axis.set_xlabel("expected squared error, all counts together (persons²)")


@styled
def county_runs(runs: pd.DataFrame, state: str, epsilon: float, vintage: str) -> Figure:
    """Draw projected Laplace noise on a state's counties (Figure 1, right), a panel a scale.

    Parameters
    ----------
    runs : DataFrame
        From `reproduction.subspace.counties.run_table`, with columns scale and das_error.
    state : str
    epsilon : float
    vintage : str
        Of the demonstration data; "" where there are none.
    """
    scales = list(dict.fromkeys(runs["scale"]))
    counties = runs["rank"].max() + 1
    size = boxes_width(counties), 1.6 + 2.7 * len(scales)
    figure, axes = panels(len(scales), 1, size, sharex=True, sharey=True)
    marks, words = {}, ""
    if runs["das_error"].notna().any():
        words = other_vintage(vintage)
        marks = {"das_error": ("o", DAS, f"error of the Census DAS, vintage {vintage}")}
    for axis, scale in zip(axes[:, 0], scales, strict=True):
        own = runs[runs["scale"] == scale]
        draw_boxes(axis, _boxes_of(own), marks=marks)
        axis.set_xlim(-0.8, counties - 0.2)
        axis.set_ylabel(f"noise (persons)\n{_scale_words(scale)}", fontsize=8)
    axes[-1, 0].set_xlabel("county (2010 population), from the least populous to the most")
    number = runs["run"].nunique()
    axes[0, 0].set_title(
        titled(f"{state}: {number} runs of projected Laplace noise, epsilon = {epsilon:g}", words),
        loc="left",
        pad=26,
    )
    legend_above(axes[0, 0], box_handles(marks))
    return finish(figure)


def _scale_words(scale: float) -> str:
    known = {2.0: "b = 2 / epsilon", 1.0: "b = 1 / epsilon (ISDP's)"}
    return known.get(scale, f"b = {scale:g} / epsilon")


def _boxes_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Boxes of runs, and the Bureau's errors, in the form that `draw_boxes` takes."""
    noise = runs.pivot(index="run", columns="rank", values="error").to_numpy()
    one = runs[runs["run"] == runs["run"].min()].sort_values("rank", ignore_index=True)
    labels = _short(one["county"]) + " (" + one["population"].map("{:,}".format) + ")"
    shown = boxes(noise[None]).rename(columns={"cell": "position"})
    known = one["das_error"].dropna()
    bureau = pd.DataFrame({"position": known.index, "series": "das_error", "value": known})
    table = pd.concat([shown, bureau.astype({"value": float})], ignore_index=True)
    return table.assign(label=table["position"].map(labels)).sort_values("position", kind="stable")


def _short(names: pd.Series) -> pd.Series:
    """Take off the last word, such as County, where all names share it."""
    parts = names.str.rsplit(" ", n=1)
    return parts.str[0] if len(set(parts.str[-1])) == 1 else names


@styled
def states(table: pd.DataFrame, vintage: str) -> Figure:
    """Size of the noise in every state, beside that of the Bureau's errors.

    Parameters
    ----------
    table : DataFrame
        Rows of `reproduction.subspace.counties.state_table`, with a column state.
    vintage : str
        As in `county_runs`.
    """
    names = list(dict.fromkeys(table["state"]))
    figure, ((axis,),) = panels(1, 1, (9.5, 4))
    for number, (scale, part) in enumerate(table.groupby("scale", sort=False)):
        place = part["state"].map(names.index) + 0.16 * (number - 0.5)
        colour = (DRAW, DARK[2], DARK[4])[number]
        axis.vlines(place, part["sd_low"], part["sd_high"], color=colour, lw=5, alpha=0.3)
        axis.plot(place, part["seen"], "o", color=colour, ms=5, label=f"{_scale_words(scale)}")
    known = table.drop_duplicates("state").dropna(subset=["das_sd"])
    words = other_vintage(vintage) if len(known) else ""
    if len(known):
        axis.plot(
            known["state"].map(names.index),
            known["das_sd"],
            "D",
            color=DAS,
            ms=5,
            label=f"errors of the Census DAS, vintage {vintage}",
        )
    axis.set_xticks(range(len(names)), names)
    axis.set_xlim(-0.7, len(names) - 0.3)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("state")
    axis.set_ylabel("root mean square error of a county (persons)")
    axis.grid(False, axis="x")
    axis.set_title(
        titled(
            "Projected Laplace noise: the runs (dots), and where 90 % of such runs lie (bars)",
            words,
        ),
        loc="left",
        pad=24,
    )
    legend_above(axis, axis.get_legend_handles_labels()[0])
    return finish(figure)
