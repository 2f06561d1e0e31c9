"""Warnings before a noisy table is published, in one line each; none depends on a count.

What depends on counts is refused instead; see `isdp.commands.shared.refusals`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

import numpy as np

from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom
from isdp.commands.shared.table import Table
from isdp.io.csv_files import ROWS_PER_CHUNK
from isdp.io.wording import counted

MAX_NAMED = 5
UNEVEN = re.compile(r"^\s|\s$|\s\s|[^\S ]")  # blanks that joining the words would change
FORMULA = ("=", "+", "-", "@")  # as a first character, to spreadsheets


def warnings_of_table(table: Table) -> list[str]:
    """Find look-alike values, and values that spreadsheets take for formulas."""
    found = warnings_of_names(table)
    for column, values in table.columns.items():
        formula = next(filter(_formula, chain([column], _in_pieces(values.texts))), None)
        if formula is not None:
            found.append(
                f"{table.path}: {column}: {formula!r} is published as it stands, and spreadsheets "
                f"take it for a formula"
            )
    return found


def warnings_of_names(table: Table) -> list[str]:
    """Look-alike values, a line for each column that has some."""
    return [
        caution
        for column, values in table.columns.items()
        for caution in _look_alikes(table, column, values.texts)
    ]


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
    for start in range(0, len(texts), ROWS_PER_CHUNK):
        yield from texts[start : start + ROWS_PER_CHUNK].astype(object)


def _formula(text: str) -> bool:
    if not text.startswith(FORMULA) or text in FORMULA:
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False


def warnings_of_revealed_residues(table: Table, free: DegreesOfFreedom) -> list[str]:
    """Cells of which the totals give away the remainder."""
    if not len(free.revealed_residues):
        return []
    return [
        f"the totals give {counted(len(free.revealed_residues), 'count')} away up to a multiple: "
        f"{list_revealed_residues(table, free, MAX_NAMED)}"
    ]


def list_revealed_residues(table: Table, free: DegreesOfFreedom, most: int) -> str:
    """Names of cells that are published modulo a number, each with it."""
    named = [f"{table.name(row)} modulo {free.steps[row]}" for row in free.revealed_residues[:most]]
    return "; ".join([*named, "..."] if len(free.revealed_residues) > most else named)
