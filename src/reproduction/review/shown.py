"""Tables and figures of a run, by the names in claims and pages.

A results folder may also contain files of a run with another config. Pages must not show these
files.
"""

import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

SHOWN_FILE = "shown.txt"
SUFFIXES = {"tables": (".csv", ".md", ".html"), "figures": (".csv", ".svg", ".png")}


def list_shown(paths: Iterable) -> list[str]:
    """List the tables and figures among the files of a run, as folder/name, sorted."""
    return sorted(f"{kind}/{name}" for kind in SUFFIXES for name in _made(kind, paths))


def find_files(kind: str, names: Iterable[str], paths: Iterable) -> dict[str, list[str]]:
    """Find the "tables" or "figures" of a run under each name in claims and pages.

    A name may contain `{state}`, which matches each state. The files of a name are given without
    extensions, in the order of the paths.
    """
    made = _made(kind, paths)
    patterns = {name: re.escape(name).replace(r"\{state\}", "[A-Z]{2}") for name in names}
    return {
        name: [file for file in made if re.fullmatch(pattern, file)]
        for name, pattern in patterns.items()
    }


def list_made_tables(names: Iterable[str], targets: Iterable[Iterable], wildcards) -> list[str]:
    """List the CSV files of those named tables that are inputs of the target rules.

    The inputs are paths and Snakemake's input functions, which are called with the wildcards.
    """
    files: list[str] = []
    for item in chain.from_iterable(targets):
        found = item(wildcards) if callable(item) else item
        files += [found] if isinstance(found, str) else found
    found = find_files("tables", names, files).values()
    return [f"results/tables/{name}.csv" for name in chain.from_iterable(found)]


def _made(kind: str, paths: Iterable) -> list[str]:
    files = map(Path, paths)
    found = (f.stem for f in files if f.parent.name == kind and f.suffix in SUFFIXES[kind])
    return list(dict.fromkeys(found))


def read_shown(folder: Path) -> set[str]:
    """Read the names that `list_shown` listed from the results folder."""
    return set((folder / SHOWN_FILE).read_text().split())
