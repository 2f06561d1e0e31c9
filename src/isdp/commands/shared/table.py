"""Tables of counts from csv files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from isdp.errors import InputError
from isdp.io.csv_files import Column, combined, read_columns, refuse_line_breaks, whole_numbers

JOINT = ", "  # between the parts of a cell's name
MAX_COUNT = 10**12 - 1
MAX_NOISY_COUNT = 10**18 - 1  # noise of the smallest epsilon has up to 16 digits


@dataclass(frozen=True, eq=False)
class Table:
    """A table of counts with one row per cell.

    Attributes
    ----------
    columns : dict of str to Column
        All columns except the counts, as in the file; they are published unchanged.
    place : int
        Number of columns before the column of counts.
    """

    path: Path
    columns: dict[str, Column]
    count: str
    place: int
    names: list[str]
    counts: np.ndarray  # confidential; int64 (cells,)

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def described_by(self) -> list[str]:
        """All columns except the counts; they are published unchanged."""
        return list(self.columns)

    def name(self, row: int) -> str:
        """Name of the cell in a row, counted from 0."""
        return JOINT.join(self.columns[column].text(row) for column in self.names)

    def groups(self, columns: Sequence[str]) -> np.ndarray:
        """Give each combination of values in `columns` a number from 0 up; int32 (cells,)."""
        if len(columns) == 1:  # the codes are such numbers
            return self.columns[columns[0]].codes
        numbers = combined([self.columns[column] for column in columns])
        return pd.factorize(numbers)[0].astype(np.int32)

    def replaced(self, counts: np.ndarray) -> dict[str, Column | np.ndarray]:
        """Replace the counts; the columns, the rows and their orders stay the same."""
        columns = list(self.columns.items())
        return dict([*columns[: self.place], (self.count, counts), *columns[self.place :]])


def read_table(
    path, count: str = "count", names: list[str] | None = None, negative: bool = False
) -> Table:
    """Read a table of counts.

    Parameters
    ----------
    path : path
        A csv in UTF-8, with or without a byte-order mark.
    names : list of str, optional
        The columns that name a cell; by default all except the counts.
    negative : bool
        Whether counts may be negative, as those of a noisy table.

    Raises
    ------
    InputError
        If the file is invalid. The message names the file, the row (from 1 below the header) and
        the column.
    """
    path = Path(path)
    columns = read_columns(path, "a csv with one row per cell")
    header = list(columns)
    if count not in columns:
        hint = "; is ';' the separator? wanted commas" if ";" in header[0] else ""
        raise InputError(
            f"{path}: no column {count!r}; there are {', '.join(map(repr, header))}{hint} "
            f"(--count names the column of counts)"
        )
    texts = columns.pop(count)
    table = describe_cells(path, columns, names, count)
    counts = read_counts(texts, table, negative)
    return Table(path, columns, count, header.index(count), table.names, counts)


def describe_cells(
    path: Path, columns: dict[str, Column], names: list[str] | None, count: str = ""
) -> Table:
    """Build a table of cells with counts of 0, and check the names of the cells.

    Raises
    ------
    InputError
        If no column names the cells, a label has a line break, a name is empty, or two cells have
        the same name.
    """
    refuse_line_breaks(columns, path, count)
    names = list(columns) if names is None else names
    if not names:
        raise InputError(f"{path}: no column except {count!r} describes the rows; add one")
    listed = ", ".join(map(repr, columns))
    for name in names:
        if name not in columns:
            raise InputError(f"{path}: --name {name!r} is not one of {listed}")
    cells = len(columns[names[0]].codes)
    table = Table(path, columns, count, 0, names, np.zeros(cells, dtype=np.int64))
    for column in names:
        refuse_blank_values(table, column)
    _refuse_same_names(table)
    return table


def _refuse_same_names(table: Table) -> None:
    parts = [table.columns[name] for name in table.names]
    if any(len(part.texts) == len(table) for part in parts):
        return
    numbers = combined(parts)
    in_order = np.sort(numbers)
    if (in_order[1:] == in_order[:-1]).any():
        row = int(np.flatnonzero(pd.Series(numbers).duplicated())[0])
        first = int(np.flatnonzero(numbers == numbers[row])[0])
        raise InputError(
            f"{table.path}: rows {first + 1} and {row + 1} are both called {table.name(row)!r}; "
            f"each cell needs one row (--name says which columns name a cell)"
        )


def read_counts(column: Column, table: Table, negative: bool = False) -> np.ndarray:
    """Read a column of counts; int64 (cells,).

    Parameters
    ----------
    table : Table
        Table whose rows the messages name.
    negative : bool
        Whether counts may be negative, and have up to 18 digits.

    Raises
    ------
    InputError
        If a count is invalid. The message names the row and does not quote the count.
    """
    return whole_numbers(
        column,
        lambda row: f"{table.path}: row {row + 1} ({table.name(row)}), column {table.count!r}",
        "Counts must be whole numbers of at most 18 digits."
        if negative
        else "Counts must be whole numbers of 0 or more, with at most 12 digits.",
        largest=MAX_NOISY_COUNT if negative else MAX_COUNT,
        negative=negative,
    )


def refuse_blank_values(table: Table, column: str) -> None:
    """Raise `InputError` if a value of a column is empty or blank."""
    values = table.columns[column]
    row = values.first(values.is_blank())
    if row is not None:
        raise InputError(f"{table.path}: row {row + 1}: {column} is empty")
