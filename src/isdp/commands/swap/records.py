"""Records of individuals from csv files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isdp.errors import InputError
from isdp.io.csv_files import Column, read_columns, refuse_line_breaks

WEIGHT = re.compile(
    r"(^|[_ .-])([fp]?weights?|p?wgts?|wts?|perwt|hhwt|p?wgtp)([_ .-]|\d*$)"
    r"|(wt|wgt|(final|base|design|sample|person|household|survey|replicate)weights?)\d*$"
    r"|^wt(finl|supp)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class Records:
    """Records of individuals.

    Attributes
    ----------
    columns : dict of str to Column
        Columns with sorted texts.
    """

    columns: dict[str, Column]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())).codes)

    def groups(self, columns: Sequence[str]) -> np.ndarray:
        """Give each combination of values in `columns` a number from 0 up, in sorted order."""
        labels = np.zeros(len(self), dtype=np.int64)
        for name in columns:
            codes, texts = self.columns[name]
            labels = np.unique(labels * len(texts) + codes, return_inverse=True)[1]
        return labels

    def taken(self, columns: Sequence[str], sources: np.ndarray) -> Records:
        """Replace the values of some columns by those of the records `sources`."""
        moved = {name: self.columns[name].taken(sources) for name in columns}
        return Records(self.columns | moved)

    def in_order(self) -> Records:
        """Sort the records by their columns, so that their order reveals nothing else."""
        order = np.lexsort([column.codes for column in reversed(self.columns.values())])
        return Records({name: column.taken(order) for name, column in self.columns.items()})

    def followed_by(self, other: Records) -> Records:
        """Put records of the same columns and texts below these."""
        return Records(
            {
                name: Column(np.concatenate([codes, other.columns[name].codes]), texts)
                for name, (codes, texts) in self.columns.items()
            }
        )


def read_records(path) -> Records:
    """Read a csv of records, all columns as text.

    Parameters
    ----------
    path : path
        A csv in UTF-8 with a header, with or without a byte order mark.

    Raises
    ------
    InputError
        If the file is invalid. The message quotes no values of records.
    """
    columns = read_columns(path, "a csv with one row for each record")
    refuse_line_breaks(columns, path)
    return Records({name: column.sorted() for name, column in columns.items()})


def refuse_missing(records: Records, columns: Sequence[str], path) -> None:
    """Refuse records without a value in a column of the swap.

    Raises
    ------
    InputError
        If a value is missing. The message names the first row, from 1 below the header, and the
        column.
    """
    for name in columns:
        column = records.columns[name]
        blank = column.is_blank()
        row = column.first(blank)
        if row is not None:
            raise InputError(
                f"{path}: row {row + 1}: {name} is missing ({blank[column.codes].sum():,} such "
                f"rows); give these records their own category, or remove them"
            )


def refuse_weights(records: Records, path) -> None:
    """Refuse weighted records, which the theorem does not cover.

    Raises
    ------
    InputError
        If the name of a column is one of survey weights.
    """
    for column in records.columns:
        if WEIGHT.search(column):
            raise InputError(
                f"{path}: the column {column!r} is named like a weight; swapping has no guarantee "
                f"for weighted records (rename the column if it has no weights)"
            )
