"""The one style of all figures, and what they share: panels, legends, strokes, saving."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import wraps

import matplotlib as mpl
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import Formatter, LogFormatterSciNotation, NullLocator

from isdp.io.files import whole
from isdp.plots.svg import lighten

INK = "#222222"
BOX = "#b9cfe4"
DRAW = "#1f5fa8"
DAS = "#c23b22"
FAINT = "#9a9a9a"
# palettes: apart on white paper, apart as areas, and from early to late
DARK = (
    *("#001c7f", "#b1400d", "#12711c", "#8c0800", "#591e71"),
    *("#592f0d", "#a23582", "#3c3c3c", "#b8850a", "#006374"),
)
DEEP = ("#4c72b0", "#dd8452", "#55a868")
CREST = LinearSegmentedColormap.from_list(
    "crest", ("#a5cd90", "#76b791", "#509e90", "#33858d", "#1d6c8a", "#234f81", "#2c3172")
)
_POWER = re.compile(r"\$\\mathdefault\{([^^{}]*)(?:\^\{(-?\d+)\})?\}\$")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
QUICK = {"compress_level": 3}  # a picture larger by a hundredth, in two thirds of the time
STYLE = {
    **matplotlib.style.library["seaborn-v0_8-whitegrid"],
    "figure.dpi": 130,
    # text stays text in an SVG, so these are also what a browser may set it in
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "legend.fontsize": 8.5,
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.8,
    "grid.color": "#e6e6e6",
    # the font's own programs for a grid of pixels take three times as long as all else of a letter
    "text.hinting": "none",
    "svg.hashsalt": "isdp",
    "svg.fonttype": "none",
}


def styled(function):
    """Run a figure's function under the one style."""

    @wraps(function)
    def drawn(*arguments, **options):
        with mpl.rc_context(STYLE):
            return function(*arguments, **options)

    return drawn


def panels(
    rows: int, columns: int, size: tuple[float, float], *, together: int = 1, **options
) -> tuple[Figure, np.ndarray]:
    """Make a figure of panels.

    Parameters
    ----------
    rows, columns : int
    size : (float, float)
        Width and height in inches.
    together : int
        So many rows after one another stand close, as one.
    options
        As `matplotlib.figure.Figure.subplots` takes them.

    Returns
    -------
    figure : Figure
        Outside of pyplot: nothing has to be closed, and no window system is asked for.
    axes : array of Axes, shape (rows, columns)
    """
    figure = Figure(figsize=size)
    FigureCanvasAgg(figure)  # so that texts measured for the layout are not measured again
    if together == 1:
        return figure, figure.subplots(rows, columns, squeeze=False, **options)
    grid = figure.add_gridspec(rows // together, 1)
    close = [cell.subgridspec(together, columns, hspace=0.22) for cell in grid]
    return figure, np.concatenate([part.subplots(squeeze=False, **options) for part in close])


def finish(figure: Figure, title: str = "") -> Figure:
    """Put a title over all panels, fit them into the figure, and return it."""
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            _simplify(axis)
    figure.align_ylabels()
    figure.tight_layout()
    return figure


def _simplify(axis: Axis) -> None:
    """Let an axis show the same for less: no ticks that nobody sees, and powers as plain text."""
    if type(axis.get_major_formatter()) is LogFormatterSciNotation:
        axis.set_major_formatter(_Powers(axis.get_major_formatter()))
    # minor ticks have no length in this style, so that a label is all there is to see of them
    if not any(axis.get_minor_formatter().format_ticks(axis.get_minorticklocs())):
        axis.set_minor_locator(NullLocator())


class _Powers(Formatter):
    """Powers as text, 10⁻³, as another formatter sets them as a formula, which takes far longer."""

    def __init__(self, formula: Formatter):
        self._formula = formula

    def set_locs(self, locs) -> None:
        super().set_locs(locs)
        self._formula.set_locs(locs)

    def __call__(self, x, pos=None) -> str:
        return _POWER.sub(
            lambda found: found[1] + (found[2] or "").translate(_RAISED), self._formula(x, pos)
        )


def save(figure: Figure, svg, png) -> None:
    """Save a figure as SVG and PNG without dates, so that equal data give equal files.

    The canvases are asked directly, because `Figure.savefig` draws a figure twice for each file.

    Parameters
    ----------
    figure : Figure
        Laid out by `finish`; one that has not been laid out is.
    svg, png : path
    """
    with mpl.rc_context(STYLE):
        if figure.get_layout_engine() is None:
            figure.tight_layout()
        # the canvas that it was laid out on remembers the sizes of all texts
        own = isinstance(figure.canvas, FigureCanvasAgg)
        canvas = figure.canvas if own else FigureCanvasAgg(figure)
        with whole(png) as temporary:
            canvas.print_png(temporary, metadata={"Software": None}, pil_kwargs=QUICK)
        with whole(svg) as temporary:
            FigureCanvasSVG(figure).print_svg(temporary, metadata={"Date": None, "Creator": None})
            temporary.write_text(lighten(temporary.read_text()))


def legend_above(axis: Axes, handles: Sequence) -> None:
    """Put a legend in one line above the axis, which keeps its width."""
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


def strokes(axis: Axes, starts: Iterable, ends: Iterable, **look) -> Line2D:
    """Draw many straight strokes as one line with gaps, which is quick and small in an SVG.

    Parameters
    ----------
    axis : Axes
    starts, ends : (x, y)
        Arrays or numbers; stroke i goes from starts[i] to ends[i], in data units.
    look
        Colour and width, as `Axes.plot` takes them.

    Returns
    -------
    Line2D
        Its data are start, end and a gap for each stroke.
    """
    gap = np.nan
    x, y = (
        np.column_stack(np.broadcast_arrays(*pair, gap)).ravel()
        for pair in zip(starts, ends, strict=True)
    )
    (line,) = axis.plot(x, y, **{"solid_capstyle": "butt", **look})
    return line


@styled
def message(title: str, text: str) -> Figure:
    """Make a figure that says why there is none."""
    figure, axes = panels(1, 1, (9.5, 2.4))
    axis = axes[0, 0]
    axis.set_title(title, loc="left")
    axis.set_axis_off()
    axis.text(0.5, 0.5, text, ha="center", va="center", transform=axis.transAxes)
    return figure
