"""One style, and one function a kind of figure; each draws a summary table and nothing else."""

from __future__ import annotations

from functools import wraps
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from isdp.io.files import whole

mpl.use("agg")
INK = "#222222"
BOX = "#b9cfe4"
DRAW = "#1f5fa8"
DAS = "#c23b22"
FAINT = "#9a9a9a"
# palettes of seaborn, which the library does without
DEEP = ("#4c72b0", "#dd8452", "#55a868")
DARK = (
    *("#001c7f", "#b1400d", "#12711c", "#8c0800", "#591e71"),
    *("#592f0d", "#a23582", "#3c3c3c", "#b8850a", "#006374"),
)
CREST = LinearSegmentedColormap.from_list(
    "crest", ("#a5cd90", "#76b791", "#509e90", "#33858d", "#1d6c8a", "#234f81", "#2c3172")
)
WHITE_GRID = {  # likewise, its style of that name
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelcolor": ".15",
    "font.family": ["sans-serif"],
    "font.sans-serif": [
        "Arial",
        "DejaVu Sans",
        "Liberation Sans",
        "Bitstream Vera Sans",
        "sans-serif",
    ],
    "lines.solid_capstyle": "round",
    "patch.edgecolor": "w",
    "patch.force_edgecolor": True,
    "text.color": ".15",
    "xtick.bottom": False,
    "xtick.color": ".15",
    "ytick.color": ".15",
    "ytick.left": False,
}
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
        with mpl.rc_context(WHITE_GRID | STYLE):
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
