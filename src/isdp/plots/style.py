"""The style of all figures, and functions for panels, legends and files."""

from collections.abc import Callable, Sequence
from functools import wraps
from io import BytesIO
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib as mpl
import matplotlib.style
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from isdp.io.files import write_atomically

Arguments = ParamSpec("Arguments")
INK = "#222222"
BOX = "#b9cfe4"
DRAW = "#1f5fa8"
DAS = "#c23b22"
FAINT = "#9a9a9a"
# three palettes of seaborn, for lines (DARK), areas (DEEP) and ordered values (CREST)
DARK = (
    *("#001c7f", "#b1400d", "#12711c", "#8c0800", "#591e71"),
    *("#592f0d", "#a23582", "#3c3c3c", "#b8850a", "#006374"),
)
DEEP = ("#4c72b0", "#dd8452", "#55a868")
CREST = LinearSegmentedColormap.from_list(
    "crest", ("#a5cd90", "#76b791", "#509e90", "#33858d", "#1d6c8a", "#234f81", "#2c3172")
)
STYLE = {
    **matplotlib.style.library["seaborn-v0_8-whitegrid"],
    "figure.dpi": 130,
    # a browser needs these fonts, because an SVG file has text and not outlines of letters
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "legend.fontsize": 8.5,
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.8,
    "grid.color": "#e6e6e6",
    "svg.hashsalt": "isdp",
    "svg.fonttype": "none",
}


def styled(function: Callable[Arguments, Figure]) -> Callable[Arguments, Figure]:
    """Return a function that calls `function` with the Matplotlib settings `STYLE`."""

    @wraps(function)
    def drawn(*arguments: Arguments.args, **options: Arguments.kwargs) -> Figure:
        with mpl.rc_context(STYLE):
            return function(*arguments, **options)

    return drawn


def panels(
    rows: int, columns: int, size: tuple[float, float], *, together: int = 1, **options: Any
) -> tuple[Figure, np.ndarray]:
    """Return a figure, and its panels as an array of Axes of shape (rows, columns).

    The figure is not registered with pyplot and need not be closed.

    Parameters
    ----------
    size : (float, float)
        Width and height in inches.
    together : int
        Number of rows in each group. The space between groups is larger than within them.
    **options
        Options of `matplotlib.figure.Figure.subplots`.
    """
    figure = Figure(figsize=size)
    if together == 1:
        return figure, figure.subplots(rows, columns, squeeze=False, **options)
    n_groups = rows // together
    grid = figure.add_gridspec(n_groups, 1)
    close = [grid[i].subgridspec(together, columns, hspace=0.22) for i in range(n_groups)]
    return figure, np.concatenate([part.subplots(squeeze=False, **options) for part in close])


def finish(figure: Figure, title: str = "") -> Figure:
    """Set a title over all panels, fit the layout, and return the figure."""
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    figure.align_ylabels()
    figure.tight_layout()
    return figure


def render(figure: Figure) -> tuple[bytes, bytes]:
    """Render a figure as SVG and PNG without dates, so that equal data give equal bytes."""
    svg, png = BytesIO(), BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(png, format="png", metadata={"Software": None})
        # in an SVG file, dpi is the resolution of the rasterised layers
        figure.savefig(svg, format="svg", dpi=200, metadata={"Date": None})
    return svg.getvalue(), png.getvalue()


def save(figure: Figure, svg: str | Path, png: str | Path) -> None:
    """Save a figure as SVG and PNG."""
    for path, content in zip((svg, png), render(figure), strict=True):
        with write_atomically(path) as temporary:
            temporary.write_bytes(content)


def legend_above(axis: Axes, handles: Sequence[Artist]) -> None:
    """Add a legend in one line above the axis, without an effect on the layout."""
    legend = axis.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=len(handles),
        frameon=False,
        borderaxespad=0.2,
        handletextpad=0.5,
        columnspacing=1.2,
        borderpad=0,
        fontsize=8.2,
    )
    legend.set_in_layout(False)


@styled
def message_figure(title: str, text: str) -> Figure:
    """Return a figure that explains why there is no plot."""
    figure, axes = panels(1, 1, (9.5, 2.4))
    axis = axes[0, 0]
    axis.set_title(title, loc="left")
    axis.set_axis_off()
    axis.text(0.5, 0.5, text, ha="center", va="center", transform=axis.transAxes)
    return finish(figure)
