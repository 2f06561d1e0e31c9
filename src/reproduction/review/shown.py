"""Which tables and figures a run shows.

A results folder may also hold those of a run with another config, which no page may pass off as
its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

FOLDERS = ("tables", "figures")
FILE = "shown.txt"


def shown_names(paths: Iterable) -> list[str]:
    """Take the tables and figures among some files, as folder/name without the ending, sorted.

    Parameters
    ----------
    paths : iterable of path
        What a run has made, in any of its endings; others than tables and figures are left out.
    """
    files = map(Path, paths)
    return sorted({f"{file.parent.name}/{file.stem}" for file in files if _shown(file)})


def _shown(file: Path) -> bool:
    return file.parent.name in FOLDERS and file.suffix != ".py"


def read_shown(folder: Path) -> set[str]:
    """Read the names that `shown_names` gave, from the results folder."""
    return set((folder / FILE).read_text().split())
