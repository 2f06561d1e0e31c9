"""Measure the exact samplers against chains, NumPy, OpenDP and blackjax, and how they grow.

Writes bench.csv (with .md and .html), bench.svg and .png with bench_figure.csv, and workflow.csv;
benchmarks/README.md says how to read them.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
import yaml

from benchmarks import comparisons, growth, releases
from benchmarks.peers import open_peer
from benchmarks.timing import COLUMNS
from benchmarks.workflow_cost import cost_table, rule_names
from isdp.io.files import write_csv
from isdp.plots.style import DAS, DRAW, INK, save, styled

ROOT = Path(__file__).parent.parent
ROWS, HEIGHTS = ("AB", "CD", "EFG"), (1.3, 0.9, 1.0)
PAIRS = {  # panel: comparisons shown, title, what ours and the peer are
    "A": ("exact / MCMC", "How much do exact draws gain over a chain?", "exact", "MCMC"),
    "C": ("core / NumPy", "How much does compiling Algorithm 1 gain?", "compiled core", "NumPy"),
    "D": (
        "core / blackjax",
        "Algorithm 1 here, or in blackjax?",
        "compiled core",
        "blackjax",
    ),
}
CURVES = {
    "B": ("noise", "What does holding one total cost?", "cells", "cells/s"),
    "E": ("cells", "How does time grow with cells?", "cells", "s"),
    "F": ("constraints", "... with constraints?", "blocks, or columns k", "s"),
    "G": ("1/epsilon", "... with the scale of the noise?", r"1 / $\epsilon$", "s"),
}


def measure(config):
    """Measure everything; return the table, and the curves of the figure."""
    opendp, blackjax = open_peer("peer_opendp.py"), open_peer("peer_blackjax.py")
    rows = comparisons.exact_against_mcmc(config)
    more, noise = comparisons.noise_under_a_total(opendp)
    rows += more
    rows += comparisons.core_against_numpy(config)
    rows += comparisons.core_against_blackjax(config, blackjax)
    rows += releases.releases_against_limits()
    rows.append(comparisons.import_row())
    for peer in (opendp, blackjax):
        if peer is not None:
            peer.close()
    grown = growth.curves()
    rows += growth.slope_rows(grown)
    curves = pd.concat([noise.assign(panel="noise"), grown], ignore_index=True)
    return pd.DataFrame(rows, columns=COLUMNS), curves


def figure_table(table, curves):
    """All that the figure shows, a point a row: panel, series, label or x, y, unit."""
    parts = []
    for name, _, ours, peer in PAIRS.values():
        part = table[table["comparison"] == name]
        for column, series in (("ours", ours), ("peer", peer)):
            points = part[["comparison", "setting", column, "unit"]]
            points = points.set_axis(["panel", "label", "y", "unit"], axis=1)
            parts.append(points.assign(series=series))
    for name, _, _, unit in CURVES.values():
        parts.append(curves[curves["panel"] == name].assign(unit=unit))
    columns = ["panel", "series", "label", "x", "y", "unit"]
    return pd.concat(parts, ignore_index=True)[columns].dropna(subset="y")


@styled
def draw(points):
    """Draw the figure from `figure_table`: a panel a question."""
    figure = plt.figure(figsize=(14, 12.5), layout="constrained")
    axes = {}
    for row, panels in zip(figure.subfigures(len(ROWS), height_ratios=HEIGHTS), ROWS, strict=True):
        axes |= zip(panels, row.subplots(1, len(panels)), strict=True)
    for panel, (name, title, ours, peer) in PAIRS.items():
        draw_pairs(axes[panel], points[points["panel"] == name], ours, peer)
        axes[panel].set_title(title, loc="left")
    for panel, (name, title, across, up) in CURVES.items():
        draw_curves(axes[panel], points[points["panel"] == name])
        axes[panel].set_title(title, loc="left")
        axes[panel].set_xlabel(across)
        axes[panel].set_ylabel({"cells/s": "cells a CPU second", "s": "CPU seconds"}[up])
    return figure


def draw_pairs(axis, points, ours, peer):
    """Draw ours and the peer's rate of each setting, joined, with their ratio."""
    settings = list(dict.fromkeys(points["label"]))
    wide = points.pivot(index="label", columns="series", values="y").reindex(settings)
    wide = wide.reindex(columns=[ours, peer])
    places = range(len(settings))
    axis.hlines(places, wide.min(axis=1), wide.max(axis=1), color="#cccccc", lw=2, zorder=1)
    axis.plot(wide[peer], places, "o", color=DAS, ms=6, label=peer)
    axis.plot(wide[ours], places, "s", color=DRAW, ms=6, label=ours)
    for place, (ratio, right) in enumerate(
        zip(wide[ours] / wide[peer], wide.max(axis=1), strict=True)
    ):
        if ratio == ratio:
            axis.annotate(
                f"{ratio:,.0f} x" if ratio >= 10 else f"{ratio:.2g} x",
                (right, place),
                xytext=(7, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                color=INK,
            )
    units = points.drop_duplicates("label").set_index("label")["unit"].reindex(settings)
    words = [unit.replace("/s", " a second") for unit in dict.fromkeys(units)]
    labels = [
        name if unit == units.iloc[0] else f"{name}, {unit.removesuffix('/s')}"
        for name, unit in units.items()
    ]
    axis.set_yticks(places, labels, fontsize=8)
    axis.set_ylim(len(settings) - 0.5, -0.5)
    axis.set_xscale("log")
    low, high = wide.min(axis=None), wide.max(axis=None)
    axis.set_xlim(low / 1.8, high * (high / low) ** 0.12 * 1.5)
    axis.set_xlabel(" or, where so named, ".join(words))
    axis.grid(False, axis="y")
    axis.legend(
        frameon=False, loc="lower right", bbox_to_anchor=(1, 0.99), ncols=2, borderaxespad=0
    )


def draw_curves(axis, points):
    """Draw each series against x on log axes."""
    series = list(dict.fromkeys(points["series"]))
    marks = "osD^v*"
    for colour, mark, name in zip(
        sns.color_palette("dark", len(series)), marks, series, strict=False
    ):
        part = points[points["series"] == name]
        axis.plot(part["x"], part["y"], f"{mark}-", color=colour, ms=4, lw=1.2, label=name)
    axis.set_xscale("log")
    axis.set_yscale("log")
    low, high = points["y"].min(), points["y"].max()
    room = 0.05 + 0.065 * len(series)  # for the legend, as a share of the axis
    axis.set_ylim(low / 1.6, high * (high / low) ** (room / (1 - room)))
    axis.legend(frameon=False, fontsize=7.5, loc="upper left")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", type=Path, default=ROOT / "config" / "config.yaml")
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "benchmarks")
    options = parser.parse_args()
    config = yaml.safe_load(options.config.read_text())
    table, curves = measure(config)
    write_csv(table, options.output / "bench.csv")
    points = figure_table(table, curves)
    write_csv(points, options.output / "bench_figure.csv")
    save(draw(points), options.output / "bench.svg", options.output / "bench.png")
    print(table.to_string(index=False, float_format="%.4g", na_rep=""))
    cost = cost_table(options.output, rule_names(ROOT))
    if cost.empty:
        print("No job of the workflow has been timed: run `make`, then this again.")
    else:
        write_csv(cost, options.output / "workflow.csv")
        print(cost.to_string(index=False, float_format="%.4g"))


if __name__ == "__main__":
    main()
