"""Warnings that a command gives before it draws noise. No warning depends on a count.

A risk that depends on counts is refused instead (`isdp.commands.shared.refusals`).
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
UNEVEN = re.compile(r"^\s|\s$|\s\s|[^\S ]")  # whitespace that splitting and joining changes
FORMULA = ("=", "+", "-", "@")  # first characters of formulas in spreadsheets


def warnings_of_table(table: Table) -> list[str]:
    """Warn about values that differ only in whitespace or that spreadsheets read as formulas."""
    found = warnings_of_names(table)
    for column, values in table.columns.items():
        formula = next(filter(_is_formula, chain([column], _in_pieces(values.texts))), None)
        if formula is not None:
            found.append(
                f"{table.path}: {column}: {formula!r} is published unchanged, and spreadsheets "
                f"interpret it as a formula"
            )
    return found


def warnings_of_names(table: Table) -> list[str]:
    """Return one warning for each column in which values differ only in whitespace."""
    return [
        warning
        for column, values in table.columns.items()
        for warning in _look_alikes(table, column, values.texts)
    ]


def _look_alikes(table: Table, column: str, texts: np.ndarray) -> list[str]:
    uneven = {text: " ".join(text.split()) for text in _in_pieces(texts) if UNEVEN.search(text)}
    there = set(_in_pieces(texts)).intersection(uneven.values()) if uneven else set()
    seen: dict[str, str] = {}
    for text, plain in uneven.items():
        if plain != text:
            other = plain if plain in there else seen.setdefault(plain, text)
            if other != text:
                return [
                    f"{table.path}: {column}: {other!r} and {text!r} differ only in whitespace, "
                    f"and are treated as different values"
                ]
    return []


def _in_pieces(texts: np.ndarray) -> Iterator[str]:
    """Iterate over the values, and convert one chunk at a time to Python strings."""
    for start in range(0, len(texts), ROWS_PER_CHUNK):
        yield from texts[start : start + ROWS_PER_CHUNK].astype(object)


def _is_formula(text: str) -> bool:
    if not text.startswith(FORMULA) or text in FORMULA:
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False


def warnings_of_revealed_residues(table: Table, free: DegreesOfFreedom) -> list[str]:
    """Warn about counts that the totals reveal modulo a number."""
    if not len(free.revealed_residues):
        return []
    return [
        f"the totals reveal {counted(len(free.revealed_residues), 'count')} modulo a number: "
        f"{list_revealed_residues(table, free, MAX_NAMED)}"
    ]


def list_revealed_residues(table: Table, free: DegreesOfFreedom, max_listed: int) -> str:
    """List the cells whose counts are published modulo a number, with that number."""
    rows = free.revealed_residues
    named = [f"{table.name(row)} modulo {free.steps[row]}" for row in rows[:max_listed]]
    return "; ".join([*named, "..."] if len(rows) > max_listed else named)
