"""Save figures as SVG, PNG and thumbnail."""

from collections.abc import Mapping

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import FixedLocator

from isdp.io.files import write_atomically
from isdp.plots.style import STYLE, save

THUMBNAIL_SIZE = (3.2, 1.9)  # inches
DPI = 200  # twice the resolution of thumbnails in pages, for high-resolution screens
MAX_THICK_LINES = 200  # maximum number of thick lines in a thumbnail; box plots can exceed it
MAX_TICK_LABELS = 9  # maximum number of labels of categories on an axis of a thumbnail


def save_figures(drawn: Mapping[str, Figure], output) -> None:
    """Save each figure as SVG, PNG and thumbnail to the outputs that have its name."""
    for name, figure in drawn.items():
        save(figure, output[name], output[f"{name}_png"])
        save_thumbnail(figure, output[f"{name}_thumbnail"])


def save_thumbnail(figure: Figure, png) -> None:
    """Save the first panel of a figure at thumbnail size, with tick labels as its only text.

    The function changes the figure, which must not be used afterwards.
    """
    first = figure.axes[0]
    place = first.get_subplotspec()
    for axis in figure.axes[1:]:
        if axis.get_subplotspec() != place:  # the first panel may have a second scale
            axis.remove()
    figure.suptitle("")
    for words in (*figure.legends, *figure.texts):
        words.remove()
    figure.set_size_inches(THUMBNAIL_SIZE)
    for axis in figure.axes:
        axis.set_subplotspec(GridSpec(1, 1, figure=figure)[0])
        axis.set(title="", xlabel="", ylabel="")
        axis.set_title("", loc="left")
        axis.tick_params(labelsize=7)
        for words in filter(None, (*axis.texts, axis.get_legend())):
            words.remove()
        if len(axis.lines) > MAX_THICK_LINES:
            for line in (*axis.lines, *axis.patches):
                line.set_linewidth(0.3)
        for side in (axis.xaxis, axis.yaxis):
            named = isinstance(side.get_major_locator(), FixedLocator)
            if named and len(side.get_ticklocs()) > MAX_TICK_LABELS:
                side.set_ticklabels([])
    with mpl.rc_context(STYLE), write_atomically(png) as temporary:
        figure.tight_layout(pad=0.4)
        figure.savefig(
            temporary, format="png", dpi=DPI, transparent=False, metadata={"Software": None}
        )
