"""Figures of noise, distributions and errors, which need the extra `plots`."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOG = logging.getLogger(__name__)


def try_to_draw(figure: Callable[[], Figure]) -> Callable[[Path, Path], None] | None:
    """Render the figure that ``figure()`` returns, and return a function that writes the files.

    A figure never prevents a release. If matplotlib is not installed, or cannot render the figure,
    the result is None. In the second case, a warning is logged that quotes no label.

    Returns
    -------
    callable or None
        ``save(svg, png)`` writes two files.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # for example, about letters that a font lacks
            from isdp.plots.style import render

            files = render(figure())
    except ModuleNotFoundError:
        return None
    except Exception as problem:
        LOG.warning("no picture: matplotlib raised %s", type(problem).__name__)
        return None

    def save(*paths: Path) -> None:
        for path, content in zip(paths, files, strict=True):
            path.write_bytes(content)

    return save
