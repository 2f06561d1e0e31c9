"""The style of all figures, and functions for panels, legends and files."""

from collections.abc import Callable, Sequence
from functools import wraps
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import Any, ParamSpec

import matplotlib as mpl
import matplotlib.style
import numpy as np
from matplotlib.artist import Artist
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from isdp.io.files import write_atomically

Arguments = ParamSpec("Arguments")
INK = "#222222"
BOX = "#b9cfe4"
DRAW = "#1f5fa8"
DAS = "#c23b22"
FAINT = "#9a9a9a"
# palettes for lines (DARK, which differ in hue or lightness also for colour-blind readers), for
# areas (DEEP) and for ordered values (CREST); the last two are seaborn's
DARK = (
    *("#0b5394", "#c25a00", "#007a5e", "#882255", "#5b3a8e"),
    *("#5c4a1e", "#b0478f", "#3c3c3c", "#a8861a", "#2a7f9e"),
)
DEEP = ("#4c72b0", "#dd8452", "#55a868")
CREST = LinearSegmentedColormap.from_list(
    "crest", ("#a5cd90", "#76b791", "#509e90", "#33858d", "#1d6c8a", "#234f81", "#2c3172")
)
WIDTH = 7.2  # width in inches of a figure that a page shows, about 700 pixels of a browser
CHARACTERS_PER_INCH = 13  # of a title
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
        Number of rows in each group. The space between groups is larger than the space between the
        rows of a group.
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


def finish(figure: Figure, title: str = "", handles: Sequence[Artist] = ()) -> Figure:
    """Set a title and a legend above all panels, fit the layout, and return the figure.

    Long lines of the title are wrapped. The legend has as many columns as fit the width.
    """
    width, height = figure.get_size_inches()
    top = height - 0.06  # inches above the lower edge of the figure
    if title:
        wrapped = [fill(line, int(CHARACTERS_PER_INCH * width)) for line in title.split("\n")]
        look = {"x": 0.01, "y": top / height, "ha": "left", "va": "top", "fontsize": 10}
        text = figure.suptitle("\n".join(wrapped), **look)
        text.set_in_layout(False)
        top -= text.get_window_extent().height / figure.dpi + 0.06
    if handles:
        legend = _widest_legend(figure, handles, top / height)
        top -= legend.get_window_extent().height / figure.dpi
    figure.align_ylabels()
    figure.tight_layout(rect=(0, 0, 1, top / height))
    return figure


def _widest_legend(figure: Figure, handles: Sequence[Artist], top: float) -> Legend:
    for columns in range(len(handles), 0, -1):
        legend = figure.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(0, top),
            ncols=columns,
            frameon=False,
            borderaxespad=0,
            borderpad=0.3,
            columnspacing=1.2,
            handletextpad=0.5,
        )
        legend.set_in_layout(False)
        if columns == 1 or legend.get_window_extent().x1 <= figure.bbox.x1:
            break
        legend.remove()
    return legend


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


@styled
def message_figure(title: str, text: str) -> Figure:
    """Return a figure that explains why there is no plot."""
    figure, axes = panels(1, 1, (9.5, 2.4))
    axis = axes[0, 0]
    axis.set_title(title, loc="left")
    axis.set_axis_off()
    axis.text(0.5, 0.5, text, ha="center", va="center", transform=axis.transAxes)
    return finish(figure)
