"""One style, and one function a kind of figure; each draws a summary table and nothing else."""

from __future__ import annotations

from functools import wraps
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import seaborn as sns
from matplotlib.figure import Figure

from isdp.io.files import whole

mpl.use("agg")
INK = "#222222"
BOX = "#b9cfe4"
DRAW = "#1f5fa8"
DAS = "#c23b22"
FAINT = "#9a9a9a"
STYLE = {
    "figure.dpi": 100,
    "savefig.dpi": 130,
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "legend.fontsize": 8.5,
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.8,
    "grid.color": "#e6e6e6",
    "svg.hashsalt": "isdp",
    "svg.fonttype": "path",
}


def save(figure: Figure, svg, png) -> None:
    """Save a figure as SVG and PNG without dates, so that equal data give equal files."""
    with mpl.rc_context(STYLE):
        figure.draw_without_rendering()  # once for both files: "tight" would do it for each
        area = figure.get_tightbbox().padded(mpl.rcParams["savefig.pad_inches"])
        for path, metadata in ((svg, {"Date": None, "Creator": None}), (png, {"Software": None})):
            with whole(path) as temporary:
                kind = Path(path).suffix[1:]
                figure.savefig(temporary, format=kind, metadata=metadata, bbox_inches=area)
    plt.close(figure)


def styled(function):
    """Run a figure's function under the one style."""

    @wraps(function)
    def drawn(*arguments, **options):
        with sns.axes_style("whitegrid"), mpl.rc_context(STYLE):
            return function(*arguments, **options)

    return drawn


def legend_above(axis, handles) -> None:
    """Put a legend in one line above the axis."""
    axis.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=len(handles),
        frameon=False,
        borderaxespad=0.2,
        handletextpad=0.5,
        columnspacing=1.4,
        borderpad=0,
    )


@styled
def message(title: str, text: str) -> Figure:
    """Say in place of a figure why there is none."""
    figure, axis = plt.subplots(figsize=(9.5, 2.4))
    axis.set_title(title, loc="left")
    axis.set_axis_off()
    axis.text(0.5, 0.5, text, ha="center", va="center", transform=axis.transAxes)
    return figure
