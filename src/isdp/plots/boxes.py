"""Box plots of noise, cell by cell."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from isdp.plots.style import BOX, DAS, DRAW, FAINT, INK, legend_above, message, styled


def box_handles() -> list:
    """Legend entries of a box plot."""
    return [
        Patch(facecolor=BOX, edgecolor=INK, label="middle half of the draws, median"),
        Line2D([], [], color=INK, lw=0.8, label="whiskers: 1.5 interquartile ranges"),
        Line2D([], [], color=FAINT, marker="x", ms=3, ls="", label="draws beyond"),
        Line2D([], [], color=DRAW, marker="s", ms=4, ls="", label="one draw"),
    ]


def box_stats(row: pd.Series) -> dict[str, float]:
    """Name the quartiles and whiskers of one box as matplotlib's bxp takes them."""
    return {
        "med": row["median"],
        "q1": row["q1"],
        "q3": row["q3"],
        "whislo": row["whisker_low"],
        "whishi": row["whisker_high"],
    }


def draw_boxes(
    axis, boxes: pd.DataFrame, *, colour: str = BOX, width: float = 0.62, points: bool = True
) -> None:
    """Draw box plots from the columns position, label, series and value.

    `points` also draws what lies beyond the whiskers, one draw, and the DAS errors if there are.
    """
    wide = boxes[boxes["series"] != "extreme"].pivot(
        index="position", columns="series", values="value"
    )
    stats = [box_stats(row) for _, row in wide.iterrows()]
    axis.bxp(
        stats,
        positions=wide.index,
        widths=width,
        showfliers=False,
        showcaps=False,
        patch_artist=True,
        boxprops={"facecolor": colour, "edgecolor": INK, "linewidth": 0.6},
        medianprops={"color": INK, "linewidth": 1.1},
        whiskerprops={"color": INK, "linewidth": 0.6},
    )
    if points:
        extreme = boxes[boxes["series"] == "extreme"]
        axis.plot(
            extreme["position"],
            extreme["value"],
            "x",
            color=FAINT,
            ms=1.8,
            mew=0.4,
            rasterized=True,
        )
        axis.plot(wide.index, wide["one_draw"], "s", color=DRAW, ms=3)
        if "das_error" in wide:
            axis.plot(wide.index, wide["das_error"], "o", color=DAS, ms=3)
    axis.axhline(0, color=INK, lw=0.6, zorder=0)
    named = boxes.drop_duplicates("position")
    axis.set_xticks(named["position"], named["label"], rotation=90, fontsize=6.2)
    axis.grid(False, axis="x")
    axis.tick_params(axis="x", length=2, pad=1)


@styled
def cell_boxes(boxes: pd.DataFrame, title: str, laws: dict[str, str]) -> Figure:
    """Noise of each cell as box plots, a panel a law (ISDP, Figures 5 and 7).

    Parameters
    ----------
    boxes : DataFrame
        Columns cell, name, law, series and value.
    title : str
    laws : dict
        A description of each law, by its name in the column law; those without boxes are left
        out.
    """
    laws = {law: words for law, words in laws.items() if (boxes["law"] == law).any()}
    if not laws:
        return message(title, "No perfect sampler is practical here: see the table of agreement.")
    boxes = boxes.assign(position=boxes["cell"] + 1, label=boxes["name"])
    cells = int(boxes["position"].max())
    figure, axes = plt.subplots(
        len(laws),
        1,
        figsize=(max(9.5, 2 + 0.3 * cells), 1.6 + 2.4 * len(laws)),
        squeeze=False,
        sharex=True,
    )
    for axis, (law, words) in zip(axes[:, 0], laws.items(), strict=True):
        draw_boxes(axis, boxes[boxes["law"] == law])
        axis.set_xlim(0.3, cells + 0.7)
        axis.set_ylabel(f"noise (persons)\n{words}", fontsize=8)
    axes[-1, 0].tick_params(axis="x", labelsize=8)
    axes[0, 0].set_title(title, loc="left", pad=26)
    legend_above(axes[0, 0], box_handles())
    figure.align_ylabels()
    figure.tight_layout()
    return figure
