"""Records of a csv, as codes of the texts in each column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from isdp.errors import InputError
from isdp.io.columns import read_columns, refuse_line_breaks

WEIGHT = re.compile(
    r"(^|[_ .-])([fp]?weights?|p?wgts?|wts?|perwt|hhwt|p?wgtp)([_ .-]|\d*$)"
    r"|(wt|wgt|(final|base|design|sample|person|household|survey|replicate)weights?)\d*$"
    r"|^wt(finl|supp)$",
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
    codes, texts = {}, {}
    columns = read_columns(path, "a csv with one row for each record")
    refuse_line_breaks(columns, path)
    for name, column in columns.items():
        different = column.texts.astype(object)
        in_order = np.argsort(different, kind="stable")
        rank = np.empty(len(different), dtype=np.int64)
        rank[in_order] = np.arange(len(different))
        codes[name], texts[name] = rank[column.codes], different[in_order]
    return Records(tuple(codes), codes, texts)


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
