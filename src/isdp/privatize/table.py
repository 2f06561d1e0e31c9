"""A table of counts from a csv."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from isdp.errors import InputError

JOINT = ", "  # between the parts of a cell's name


@dataclass(frozen=True, eq=False)
class Table:
    """A table of counts, one row a cell.

    Attributes
    ----------
    path : Path
    frame : DataFrame
        All columns as in the file, as text (categories); the counts are confidential.
    count : str
        The column of counts.
    names : list of str
        The columns that name a cell.
    counts : int64 array, shape (cells,)
    """

    path: Path
    frame: pd.DataFrame
    count: str
    names: list[str]
    counts: np.ndarray

    @property
    def described_by(self) -> list[str]:
        """All columns but the counts; they are published as they are."""
        return [column for column in self.frame.columns if column != self.count]

    def name(self, row: int) -> str:
        """Name of the cell in a row, counted from 0."""
        return JOINT.join(str(self.frame[column].iloc[row]) for column in self.names)

    def groups(self, columns: list[str]) -> np.ndarray:
        """Give each combination of values in `columns` a number from 0 up; int64 (cells,)."""
        codes = np.zeros(len(self.frame), dtype=np.int64)
        for column in columns:
            values = self.frame[column].cat
            codes = codes * len(values.categories) + values.codes
            codes = pd.factorize(codes)[0].astype(np.int64)
        return codes

    def replaced(self, counts: np.ndarray) -> pd.DataFrame:
        """Build the table with other counts; same columns, rows and orders."""
        return self.frame.assign(**{self.count: counts})


def read_bytes(path, what: str) -> bytes:
    """Read a file whole.

    Raises
    ------
    InputError
        If there is no such file or it cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; wanted {what}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); wanted {what}") from None


def read_table(
    path, count: str = "count", names: list[str] | None = None, raw: bytes | None = None
) -> Table:
    """Read a table of counts.

    Parameters
    ----------
    path : path
        A csv in UTF-8, with or without a byte-order mark.
    count : str
        The column of counts.
    names : list of str, optional
        The columns that name a cell; by default all but the counts.
    raw : bytes, optional
        The file's content, where it has been read already.

    Raises
    ------
    InputError
        Naming the file, the row (counted from 1 below the header) and the column.
    """
    path = Path(path)
    frame = _read_frame(path, read_bytes(path, "a csv table") if raw is None else raw, count)
    if names is None:
        names = [column for column in frame.columns if column != count]
    if not names:
        raise InputError(f"{path}: no column beside {count!r} says what a row is; add one")
    for name in names:
        if name not in frame or name == count:
            raise InputError(f"{path}: --name {name!r} is not one of {_listed(frame, count)}")
    counts = _counts(frame, path, count, names)
    table = Table(path, frame, count, names, counts)
    for column in names:
        refuse_empty(table, column)
    codes = table.groups(names)
    if codes.max() + 1 < len(codes):
        row = int(np.flatnonzero(pd.Series(codes).duplicated())[0])
        first = int(np.flatnonzero(codes == codes[row])[0])
        raise InputError(
            f"{path}: rows {first + 1} and {row + 1} are both called {table.name(row)!r}; each "
            f"cell needs one row (--name says which columns name a cell)"
        )
    return table


def _read_frame(path: Path, raw: bytes, count: str) -> pd.DataFrame:
    if raw.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise InputError(f"{path}: this is a spreadsheet, not a csv; save it as csv (UTF-8)")
    if b"\0" in raw:
        raise InputError(f"{path}: this is no csv table (it holds zero bytes)")
    options = {"encoding": "utf-8-sig", "na_filter": False, "low_memory": False}
    try:
        first = pd.read_csv(io.BytesIO(raw), header=None, nrows=1, dtype=str, **options)
        columns = [str(name) for name in first.iloc[0]]
        if count not in columns:
            hint = "; is ';' the separator? wanted commas" if ";" in columns[0] else ""
            raise InputError(
                f"{path}: no column {count!r}; there are {', '.join(map(repr, columns))}{hint} "
                f"(--count names the column of counts)"
            )
        twice = [name for name in columns if columns.count(name) > 1]
        if twice:
            raise InputError(f"{path}: the column {twice[0]!r} stands there twice")
        frame = pd.read_csv(io.BytesIO(raw), dtype=str, **options)
    except pd.errors.EmptyDataError:
        raise InputError(f"{path}: the file is empty; wanted a header and a row a cell") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: this is no csv table in UTF-8; save it as csv (UTF-8)") from None
    except (pd.errors.ParserError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        words = " ".join(str(error).split())
        raise InputError(f"{path}: this is no csv table ({words})") from None
    if not isinstance(frame.index, pd.RangeIndex) or len(frame.columns) != len(columns):
        raise InputError(f"{path}: the rows have more fields than the header has names")
    if frame.empty:
        raise InputError(f"{path}: the table has no rows; wanted one a cell")
    frame.columns = columns
    for column in columns:  # not by read_csv, whose categories of digits turn into numbers
        codes, texts = pd.factorize(frame[column])
        frame[column] = pd.Categorical.from_codes(codes, pd.Index(texts, dtype=object))
    return frame


def _counts(frame: pd.DataFrame, path: Path, count: str, names: list[str]) -> np.ndarray:
    """Read the counts, value by distinct value."""
    values = frame[count].cat
    texts = values.categories.to_numpy()
    good = [re.fullmatch(r"\s*[0-9]{1,12}\s*", text) is not None for text in texts]
    if not all(good):
        row = int(np.flatnonzero(~np.array(good)[values.codes])[0])
        text = texts[values.codes.iloc[row]]
        name = JOINT.join(str(frame[column].iloc[row]) for column in names)
        wrong = "is missing" if not text.strip() else f"is {text!r}"
        for pattern, words in (
            (r"\s*-.*", "which is negative"),
            (r"\s*[0-9]{1,3}([,' ][0-9]{3})+\s*", "with a thousands separator"),
            (r"\s*[0-9]*\.[0-9]*\s*", "with a decimal point"),
        ):
            if re.fullmatch(pattern, text):
                wrong += f", {words}"
        raise InputError(
            f"{path}: row {row + 1} ({name}): {count} {wrong}; wanted a whole number from 0 up, "
            f"of at most 12 digits and nothing else"
        )
    numbers = np.array([int(text) for text in texts], dtype=np.int64)
    return numbers[values.codes]


def refuse_empty(table: Table, column: str) -> None:
    """Raise `InputError` if a value of a column is empty or blank."""
    values = table.frame[column].cat
    empty = [not str(text).strip() for text in values.categories]
    if any(empty):
        row = int(np.flatnonzero(np.array(empty)[values.codes])[0])
        raise InputError(f"{table.path}: row {row + 1}: {column} is empty")


def _listed(frame: pd.DataFrame, count: str) -> str:
    return ", ".join(repr(column) for column in frame.columns if column != count)
