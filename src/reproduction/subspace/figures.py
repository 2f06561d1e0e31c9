"""Figures of subspace privacy (SDP). The other modules of the study compute their tables.

SDP is *Subspace Differential Privacy*.
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from isdp.diagnostics.summaries import boxes
from isdp.plots.boxes import box_handles, draw_boxes
from isdp.plots.style import (
    DARK,
    DAS,
    DRAW,
    FAINT,
    INK,
    WIDTH,
    finish,
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
UNIT_LABELS = {
    RECORD_UNIT: "one replaced record\n(SDP)",
    L1_UNIT: "one unit of l1, equal\ninvariants (ISDP)",
}
MECHANISM_STYLES = {  # colour, marker and label; those of SDP have dashed lines
    "projected Laplace": (DRAW, "o", "projected Laplace (SDP)"),
    "K-norm": (DARK[2], "^", "K-norm (SDP)"),
    "generalized Laplace": (DAS, "s", "generalized Laplace, integers (ISDP)"),
    "generalized Laplace, continuous": (DARK[8], "D", "generalized Laplace, continuous (ISDP)"),
    "centred double geometric": (INK, "v", "centred double geometric (ISDP)"),
}


@styled
def plot_errors(table: pd.DataFrame, words: dict[str, str], epsilon: float, delta: float) -> Figure:
    """Plot the errors of Gaussian noise (left) and of pure noise (right) by workload.

    `words` maps the name of a workload to its label.
    """
    projected = table[table["mechanism"] == "projected Gaussian"].assign(
        ratio=lambda rows: rows["unit"] / rows["least"]
    )
    names = list(projected.sort_values("ratio", kind="stable")["workload"])
    figure, ((upper,), (lower,)) = panels(2, 1, (WIDTH, 2.6 + 0.5 * len(names)))
    gaussian = table.assign(ratio=table["unit"] / table["least"])
    for axis, part, looks in ((upper, gaussian, GAUSSIAN_STYLES), (lower, table, PURE_STYLES)):
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
        axis.legend(frameon=False, loc="lower left", bbox_to_anchor=(-0.35, 1), ncols=2)
        axis.set_yticks(range(len(names)), [words[name] for name in names])
        axis.invert_yaxis()
    upper.set_xlabel(f"error divided by the smallest of any Gaussian noise, delta = {delta:g}")
    lower.set_xlabel(f"error divided by a lower bound for additive noise, epsilon = {epsilon:g}")
    return finish(figure, "Error of each mechanism by workload: Gaussian (above), pure (below)")


@styled
def plot_constant(failing: pd.DataFrame, grid: pd.DataFrame) -> Figure:
    """Plot the range in which the constant of Lemma 3.4 is too small."""
    figure, ((axis,),) = panels(1, 1, (WIDTH, 4.2))
    grid = grid.assign(log10_delta=np.log10(grid["delta"]), holds=grid["holds"].astype(bool))
    edge = failing.dropna()
    lowest = min(-20.0, grid["log10_delta"].min()) - 1
    label = "range in which the lemma fails"
    axis.fill_between(
        edge["epsilon"], lowest, edge["log10_delta"], color=DAS, alpha=0.15, lw=0, label=label
    )
    axis.plot(edge["epsilon"], edge["log10_delta"], color=DAS, lw=1.6, label="its edge")
    for holds, marker, colour in ((True, "o", DRAW), (False, "X", DAS)):
        part = grid[grid["holds"] == holds]
        label = f"grid: the lemma {'holds' if holds else 'fails'}"
        axis.plot(part["epsilon"], part["log10_delta"], marker, color=colour, ms=6, label=label)
    axis.set(xscale="log", ylim=(lowest, 0), xlabel="epsilon", ylabel="log10 of delta")
    axis.xaxis.set_major_formatter("{x:g}")
    title = "Noise by the constant of Lemma 3.4 is too small for small delta"
    return finish(figure, title, axis.get_legend_handles_labels()[0])


@styled
def plot_losses(attained: pd.DataFrame, profiles: pd.DataFrame) -> Figure:
    """Plot the loss of projected Laplace noise against the distance, and privacy profiles."""
    figure, ((left, right),) = panels(1, 2, (WIDTH, 4))
    sizes = list(profiles["cells"].unique())
    looks = dict(zip(sizes, zip(DARK, "osD^v", strict=False), strict=False))
    for cells, part in attained.groupby("cells"):
        colour, marker = looks[cells]
        left.plot(
            *(part["distance"], part["share"], marker),
            **{"ls": "-", "color": colour, "ms": 4, "label": f"{cells}"},
        )
    left.axhline(1, color=INK, lw=1, ls="--")
    left.set(xscale="log", ylim=(0, 1.05), ylabel="privacy loss divided by epsilon")
    left.set_xlabel("distance of release from truth (b)")
    left.legend(title="cells under the total", frameon=True, loc="lower right")
    left.set_title("loss by distance, in scales b", loc="left", fontsize=9)
    for (cells, noise), part in profiles.groupby(["cells", "noise"], sort=False):
        if cells in (min(sizes), max(sizes)):
            part = part[part["delta"] > 1e-7]
            line = "-" if noise == "projected" else "--"
            name = "projected Laplace" if noise == "projected" else "K-norm"
            look = {
                "color": looks[cells][0],
                "lw": 1.2 + (cells > 2),
                "label": f"{name}, {cells} cells",
            }
            right.plot(part["epsilon"], part["delta"], line, **look)
    right.set(yscale="log", ylabel="smallest delta")
    right.set_xlabel("smaller epsilon, divided by that of the noise")
    right.legend(frameon=True, loc="lower left")
    right.set_title("delta at a smaller epsilon", loc="left", fontsize=9)
    return finish(figure, "Privacy loss of Laplace noise under a total (left: projected Laplace)")


@styled
def plot_readings(table: pd.DataFrame) -> Figure:
    """Plot every reading of the WiFi example, with the three printed numbers as lines."""
    table = table.sort_values("median", ignore_index=True)
    figure, ((axis,),) = panels(1, 1, (WIDTH, 1.8 + 0.27 * len(table)))
    right = {"transform": axis.get_yaxis_transform(), "fontsize": 8}
    for row, found in table.iterrows():
        colour = DAS if row == table["off"].idxmin() else DRAW
        axis.plot([found["q05"], found["q95"]], [row, row], color=colour, lw=2.2, alpha=0.8)
        axis.plot(found["median"], row, "o", color=colour, ms=5)
        share = f"{found['printed_by_cutting']:.0%} / {found['printed_by_rounding']:.0%}"
        axis.text(1.01, row, share, va="center", color=colour, **right)
    for printed, line in zip(PRINTED_NUMBERS, ("-", "--", "--"), strict=True):
        axis.axvline(printed, color=INK, lw=1, ls=line, zorder=0)
    axis.set_yticks(range(len(table)), table["reading"], fontsize=8)
    axis.set_ylim(-0.7, len(table) - 0.3)
    words = "prints all 3\n(cut / rounded)"
    axis.text(1.01, len(table) - 0.3, words, va="bottom", **right)
    axis.set_xlabel("median (dot), 5 % and 95 % quantile (ends);\nlines: the printed numbers")
    axis.grid(False, axis="y")
    title = "Which statistic of projected unit noise is 0.88 (0.86, 0.91)? Red: the nearest"
    note = "right: share of simulated experiments that print all three numbers"
    return finish(figure, f"{title}\n{note} (digits cut off / rounded)")


@styled
def plot_equal_privacy(table: pd.DataFrame) -> Figure:
    """Plot the errors of the pure mechanisms in two privacy units, with one panel for each table.

    Errors are divided by the smallest error in the same unit. A line connects a mechanism in both
    units, if it has a guarantee in both.
    """
    pure = table[(table["flavour"] == "pure") & table["mechanism"].isin(MECHANISM_STYLES)]
    settings = pure.groupby("setting", sort=False)
    figure, (axes,) = panels(1, len(settings), (WIDTH, 4.6), sharey=True)
    units, handles = list(UNIT_LABELS), {}
    for axis, (setting, here) in zip(axes, settings, strict=True):
        least = here.groupby("currency")["error"].transform("min")
        here = here.assign(ratio=here["error"] / least, ratio_se=here["error_se"] / least)
        for name, (colour, marker, label) in MECHANISM_STYLES.items():
            part = here[here["mechanism"] == name]
            if len(part):
                look = {"color": colour, "marker": marker, "ms": 6, "capsize": 3, "label": label}
                look |= {"ls": "--" if "(SDP)" in label else "-"}
                places = part["currency"].map(units.index)
                handles[label] = axis.errorbar(places, part["ratio"], 2 * part["ratio_se"], **look)
        axis.set_xticks(range(len(units)), list(UNIT_LABELS.values()))
        axis.set_xlim(-0.35, len(units) - 0.65)
        axis.set_title(f"{setting},\nepsilon = {here['epsilon'].iloc[0]:g}", loc="left", fontsize=9)
        axis.set_xlabel("epsilon is for")
    axes[0].set_ylabel("squared error divided by the smallest in the unit")
    title = "The order of the mechanisms by error depends on the privacy unit (lines cross)"
    return finish(figure, title, list(handles.values()))


@styled
def plot_county_runs(runs: pd.DataFrame, state: str, epsilon: float, vintage: str) -> Figure:
    """Plot projected Laplace noise on a state's counties (SDP, right panel of Figure 1).

    The scale of the noise is that of the definitions of SDP, which is the largest scale in `runs`.

    `vintage` is the vintage of the demonstration data, or "" if there are none.
    """
    runs = runs[runs["scale"] == runs["scale"].max()]
    counties = runs["rank"].max() + 1
    figure, ((axis,),) = panels(1, 1, (WIDTH, 4.9))
    marks, words = {}, ""
    if runs["das_error"].notna().any():
        words = note_vintage(vintage)
        marks = {"das_error": ("s", DAS, f"error of the Census DAS, vintage {vintage}")}
    draw_boxes(axis, _boxes_of(runs), marks=marks)
    axis.set(xlim=(-0.8, counties - 0.2), ylabel="noise (persons)")
    axis.set_xlabel("county (2010 population), from the least populous to the most")
    number, scale = runs["run"].nunique(), _scale_words(runs["scale"].iloc[0])
    title = f"{state}: {number} runs of projected Laplace noise, epsilon = {epsilon:g}, {scale}"
    return finish(figure, extend_title(title, words), box_handles(marks))


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
    figure, ((axis,),) = panels(1, 1, (WIDTH, 4))
    for number, (scale, part) in enumerate(table.groupby("scale", sort=False)):
        place = part["place"] + 0.16 * (number - 0.5)
        colour = (DRAW, DARK[2], DARK[4])[number]
        axis.vlines(place, part["sd_low"], part["sd_high"], color=colour, lw=5, alpha=0.3)
        axis.plot(place, part["seen"], "os^"[number], color=colour, ms=5, label=_scale_words(scale))
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
    return finish(figure, extend_title(title, words), axis.get_legend_handles_labels()[0])
