"""Records of a csv, as codes of the texts in each column."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from isdp.errors import InputError

WEIGHT = re.compile(
    r"(^|[_ .-])(weights?|wgts?|wts?|perwt|hhwt|pwgtp|wgtp|pweights?|fweights?)([_ .-]|\d*$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class Records:
    """Records, a row each, as they stand in a file.

    Attributes
    ----------
    columns : tuple of str
    codes : dict of str to int array, shape (records,)
        For each column the number of its text in each record.
    texts : dict of str to object array
        For each column its different texts, sorted.
    """

    columns: tuple[str, ...]
    codes: dict[str, np.ndarray]
    texts: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.codes[self.columns[0]])

    def groups(self, columns: Sequence[str]) -> np.ndarray:
        """Give each combination of values in `columns` a number from 0 up, in sorted order."""
        labels = np.zeros(len(self), dtype=np.int64)
        for column in columns:
            labels = labels * len(self.texts[column]) + self.codes[column]
            labels = np.unique(labels, return_inverse=True)[1]
        return labels

    def taken(self, columns: Sequence[str], sources: np.ndarray) -> Records:
        """Give each record the values that another one has in some columns."""
        moved = {column: self.codes[column][sources] for column in columns}
        return Records(self.columns, self.codes | moved, self.texts)

    def in_order(self) -> Records:
        """Sort the records by their own columns, so that their order tells nothing more."""
        order = np.lexsort([self.codes[column] for column in reversed(self.columns)])
        codes = {column: self.codes[column][order] for column in self.columns}
        return Records(self.columns, codes, self.texts)

    def followed_by(self, other: Records) -> Records:
        """Put records of the same columns and texts below these."""
        codes = {c: np.concatenate([self.codes[c], other.codes[c]]) for c in self.columns}
        return Records(self.columns, codes, self.texts)

    def frame(self) -> pd.DataFrame:
        """Return the records as a data frame of text."""
        return pd.DataFrame(
            {c: pd.Categorical.from_codes(self.codes[c], self.texts[c]) for c in self.columns}
        )


def read_records(path) -> Records:
    """Read a csv of records, all columns as text.

    Parameters
    ----------
    path : path
        A csv in UTF-8 with a header, with or without a byte-order mark.

    Raises
    ------
    InputError
        Naming the file and what is wrong with it, without any record's values.
    """
    path = Path(path)
    columns = _header(path)
    try:
        frame = pd.read_csv(
            path, dtype=str, encoding="utf-8-sig", na_filter=False, low_memory=False
        )
    except UnicodeDecodeError:
        raise InputError(f"{path}: this is no csv in UTF-8; save it as csv (UTF-8)") from None
    except (pd.errors.ParserError, ValueError):
        raise InputError(
            f"{path}: this is no csv of records; do all rows have as many fields as the header?"
        ) from None
    if not isinstance(frame.index, pd.RangeIndex) or len(frame.columns) != len(columns):
        raise InputError(f"{path}: the rows have more fields than the header has names")
    if frame.empty:
        raise InputError(f"{path}: there is no record; wanted one a row below the header")
    codes, texts = {}, {}
    for place, column in enumerate(columns):
        codes[column], different = pd.factorize(frame.iloc[:, place], sort=True)
        texts[column] = np.asarray(different, dtype=object)
    return Records(columns, codes, texts)


def _header(path: Path) -> tuple[str, ...]:
    try:
        with path.open("rb") as file:
            start = file.read(4)
            if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
                raise InputError(f"{path}: this is a spreadsheet; save it as csv (UTF-8)")
            file.seek(0)
            text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            columns = next(csv.reader(text), [])
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; wanted a csv of records") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: this is no csv in UTF-8; save it as csv (UTF-8)") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except csv.Error:
        raise InputError(f"{path}: the header cannot be read as csv") from None
    if not columns:
        raise InputError(f"{path}: the file is empty; wanted a header and a row a record")
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        raise InputError(f"{path}: the column {twice[0]!r} stands there twice; rename one")
    return tuple(columns)


def refuse_missing(records: Records, columns: Sequence[str], path) -> None:
    """Refuse records without a value in a column that they are swapped by.

    Raises
    ------
    InputError
        Naming the first such row, counted from 1 below the header, and the column.
    """
    for column in columns:
        empty = np.array([not text.strip() for text in records.texts[column]])
        bad = np.flatnonzero(empty[records.codes[column]])
        if len(bad):
            raise InputError(
                f"{path}: row {bad[0] + 1}: {column} is missing ({len(bad):,} such rows); give "
                f"these records a category of their own, or leave them out before"
            )


def refuse_weights(records: Records, path) -> None:
    """Refuse records that stand for others, which the theorem does not cover.

    Raises
    ------
    InputError
        If a column is called as survey weights are.
    """
    for column in records.columns:
        if WEIGHT.search(column):
            raise InputError(
                f"{path}: the column {column!r} is called like a weight; swapping has no guarantee "
                f"for weighted records (rename the column if it is none)"
            )
