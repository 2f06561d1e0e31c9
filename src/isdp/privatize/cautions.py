"""What a user should know before a noisy table is published, in one line each.

Those of the table may depend on its confidential counts: they are for the user alone, and never
enter the certificate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

import numpy as np

from isdp.io.columns import PIECE
from isdp.privatize.freedom import Freedom
from isdp.privatize.margins import Unchanged
from isdp.privatize.table import Table

LEAST_ORDERED = 6  # rows; fewer may well be in some order by chance
NEARLY_AS_IT_IS = 0.95  # the chance of a cell to keep its count
MOST_NAMED = 5
UNEVEN = re.compile(r"^\s|\s$|\s\s|[^\S ]")  # blanks that joining the words would change
FORMULA = ("=", "+", "-", "@")  # as a first character, to spreadsheets


def cautions_of_table(table: Table) -> list[str]:
    """Order of the rows, look-alike values, and values that spreadsheets take for formulas."""
    found = []
    if _ordered(table.counts):
        found.append(
            f"{table.path}: the rows are in the order of their counts, and their order is "
            f"published; sort them by name, and run again with --force"
        )
    found += cautions_of_names(table)
    for column, values in table.columns.items():
        formula = next(filter(_formula, chain([column], _in_pieces(values.texts))), None)
        if formula is not None:
            found.append(
                f"{table.path}: {column}: {formula!r} is published as it stands, and spreadsheets "
                f"take it for a formula"
            )
    return found


def cautions_of_names(table: Table) -> list[str]:
    """Look-alike values, a line for each column that has some."""
    return [
        caution
        for column, values in table.columns.items()
        for caution in _look_alikes(table, column, values.texts)
    ]


def _ordered(counts: np.ndarray) -> bool:
    """Whether the rows seem to be sorted by their counts, up or down."""
    steps = np.diff(counts)
    varied = len(np.unique(counts)) > 2 and len(counts) >= LEAST_ORDERED
    return bool(varied and ((steps >= 0).all() or (steps <= 0).all()))


def _look_alikes(table: Table, column: str, texts: np.ndarray) -> list[str]:
    """Two values of a column that are the same but for blanks."""
    uneven = {text: " ".join(text.split()) for text in _in_pieces(texts) if UNEVEN.search(text)}
    there = set(_in_pieces(texts)).intersection(uneven.values()) if uneven else set()
    seen: dict[str, str] = {}
    for text, plain in uneven.items():
        if plain != text:
            other = plain if plain in there else seen.setdefault(plain, text)
            if other != text:
                return [
                    f"{table.path}: {column}: {other!r} and {text!r} differ in blanks alone, and "
                    f"count as different values"
                ]
    return []


def _in_pieces(texts: np.ndarray) -> Iterator[str]:
    """All of the texts, of which few at a time are there as Python's own."""
    for start in range(0, len(texts), PIECE):
        yield from texts[start : start + PIECE].astype(object)


def _formula(text: str) -> bool:
    if not text.startswith(FORMULA) or text in FORMULA:
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False


def cautions_of_freedom(table: Table, free: Freedom) -> list[str]:
    """Cells of which the totals give away the remainder."""
    if not len(free.residues):
        return []
    return [
        f"the totals give {len(free.residues):,} counts away up to a multiple: "
        f"{residues_listed(table, free, MOST_NAMED)}"
    ]


def residues_listed(table: Table, free: Freedom, most: int) -> str:
    """Names of cells that are published modulo a number, each with it."""
    named = [f"{table.name(row)} modulo {free.steps[row]}" for row in free.residues[:most]]
    return "; ".join([*named, "..."] if len(free.residues) > most else named)


def cautions_of_law(unchanged: Unchanged | None) -> list[str]:
    """Noise so small that cells are published nearly as they are."""
    if unchanged is None or unchanged.most < NEARLY_AS_IT_IS:
        return []
    return [
        f"a count stays as it is with a chance of {unchanged.most:.1%} ({unchanged.mean:.1%} on "
        f"average), so that it is published nearly as it is; a smaller epsilon or rho, or a larger "
        f"sigma, protects it"
    ]
