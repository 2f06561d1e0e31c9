"""Tables of counts, which are read from CSV or Parquet files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isdp.arrays import IntArray
from isdp.commands.shared.code_list import add_regions
from isdp.errors import InputError
from isdp.io.csv_files import (
    Column,
    combined,
    quoted_names,
    refuse_line_breaks,
    whole_numbers,
    without_number,
)
from isdp.io.tables import ROW_PER_CELL, read_columns

JOINT = ", "  # separates the parts of a cell's name
MAX_COUNT = 10**12 - 1
MAX_NOISY_COUNT = 10**18 - 1  # noise of the smallest epsilon has up to 16 digits


@dataclass(frozen=True, eq=False)
class Table:
    """A table of counts with one row per cell.

    Attributes
    ----------
    columns : dict of str to Column
        All columns except the counts. They are published unchanged.
    place : int
        Number of columns before the column of counts.
    names : list of str
        The columns that name a cell.
    counts : int64 array, shape (cells,)
        The confidential counts.
    """

    path: Path
    columns: dict[str, Column]
    count: str
    place: int
    names: list[str]
    counts: IntArray

    def __len__(self) -> int:
        return len(self.counts)

    def name(self, row: int) -> str:
        """Return the name of the cell in a row. Rows are counted from 0."""
        return JOINT.join(self.columns[column].text(row) for column in self.names)

    def name_in_message(self, row: int) -> str:
        """Return the name of the cell in a row, and replace numbers, which may be counts."""
        return JOINT.join(without_number(self.columns[column].text(row)) for column in self.names)

    def groups(self, columns: Sequence[str]) -> NDArray[np.int32]:
        """Return the number of each row's combination of values, from 0, as int32 (cells,)."""
        if len(columns) == 1:  # the codes of a column number its values from 0
            return self.columns[columns[0]].codes
        numbers = combined([self.columns[column] for column in columns])
        groups: NDArray[np.int32] = pd.factorize(numbers)[0].astype(np.int32)
        return groups

    def replaced(self, counts: IntArray) -> dict[str, Column | IntArray]:
        """Return all columns with other counts, in the order of the file."""
        columns = list(self.columns.items())
        return dict([*columns[: self.place], (self.count, counts), *columns[self.place :]])


def read_table(
    path: str | Path,
    count: str = "count",
    names: list[str] | None = None,
    negative: bool = False,
    hierarchies: Mapping[str, str | Path] | None = None,
    regions: Collection[str] | None = None,
) -> Table:
    """Read a table of counts.

    Parameters
    ----------
    path : path
        A CSV file in UTF-8, with or without a byte-order mark, or a Parquet file (.parquet).
    names : list of str, optional
        The columns that name a cell. The default is all columns except the counts.
    negative : bool
        True if counts may be negative, as in a noisy table.
    hierarchies : mapping of str to path, optional
        Code lists of columns, as in `isdp.commands.shared.code_list.add_regions`.
    regions : collection of str, optional
        The columns that code lists add, by default all.

    Raises
    ------
    InputError
        If the file is invalid. The message names the file, the column and the row, counted from 1
        below the header.
    """
    path = Path(path)
    columns = read_columns(path, ROW_PER_CELL)
    columns = add_regions(columns, hierarchies or {}, path, count, regions)
    header = list(columns)
    if count not in columns:
        raise missing_count(path, header, count)
    texts = columns.pop(count)
    table = describe_cells(path, columns, names, count)
    counts = read_counts(texts, table, negative)
    return Table(path, columns, count, header.index(count), table.names, counts)


def missing_count(path: Path, header: Sequence[str], count: str) -> InputError:
    """Return the error of a table without its column of counts."""
    hint = " Separate the columns by commas, not by ';'." if ";" in header[0] else ""
    return InputError(
        f"{path}: there is no column {count!r}. The columns are {quoted_names(header)}. Name the "
        f"column of counts by --count.{hint}"
    )


def describe_cells(
    path: Path, columns: dict[str, Column], names: list[str] | None, count: str = ""
) -> Table:
    """Build a table of cells whose counts are 0, and check the names of the cells.

    Raises
    ------
    InputError
        If no column names the cells, a value has a line break, a name is empty, or two cells have
        the same name.
    """
    refuse_line_breaks(columns, path, count)
    names = list(columns) if names is None else names
    if not names:
        raise InputError(f"{path}: no column except {count!r} describes the rows. Add one.")
    for name in names:
        if name not in columns:
            raise InputError(
                f"{path}: --name: there is no column {name!r}. Use one of {quoted_names(columns)}."
            )
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
            f"{table.path}: rows {first + 1} and {row + 1} are both called "
            f"{table.name_in_message(row)!r}. "
            f"Give each cell one row, or add columns to its name by --name."
        )


def read_counts(column: Column, table: Table, negative: bool = False) -> IntArray:
    """Read a column of counts as an int64 array (cells,).

    Negative counts, if they are allowed, may have up to 18 digits. A message names the row of an
    invalid count by the names in `table`, and does not quote the count.
    """
    return whole_numbers(
        column,
        lambda row: (
            f"{table.path}: row {row + 1} ({table.name_in_message(row)}), column {table.count!r}"
        ),
        "Counts must be whole numbers of at most 18 digits."
        if negative
        else "Counts must be whole numbers of 0 or more, with at most 12 digits.",
        max_magnitude=MAX_NOISY_COUNT if negative else MAX_COUNT,
        negative=negative,
    )


def refuse_blank_values(table: Table, column: str) -> None:
    """Raise `InputError` if a value of a column is empty or whitespace."""
    values = table.columns[column]
    row = values.first(values.is_blank())
    if row is not None:
        raise InputError(f"{table.path}: row {row + 1}: {column} is empty. Give it a value.")
