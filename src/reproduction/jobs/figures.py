"""Save figures as SVG and PNG."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from isdp.plots.style import save


def save_figures(drawn: Mapping[str, Figure], output) -> None:
    """Save each figure as SVG and PNG to the outputs that have its name."""
    for name, figure in drawn.items():
        save(figure, output[name], output[f"{name}_png"])
