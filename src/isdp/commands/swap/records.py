"""Records of individuals, which are read from files, and the roles of their columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isdp.arrays import IntArray
from isdp.errors import InputError
from isdp.io.csv_files import Column, refuse_line_breaks
from isdp.io.tables import ROW_PER_RECORD, read_columns
from isdp.io.wording import counted

WEIGHT = re.compile(
    r"(^|[_ .-])([fp]?weights?|p?wgts?|wts?|perwt|hhwt|p?wgtp)([_ .-]|\d*$)"
    r"|(wt|wgt|(final|base|design|sample|person|household|survey|replicate)weights?)\d*$"
    r"|^wt(finl|supp)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class Records:
    """Records of individuals, with sorted strings in each column."""

    columns: dict[str, Column]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())).codes)

    def groups(self, columns: Sequence[str]) -> IntArray:
        """Return the index of each record's combination of values, as int64 (records,).

        The combinations of values are numbered from 0 in sorted order.
        """
        labels = np.zeros(len(self), dtype=np.int64)
        for name in columns:
            codes, texts = self.columns[name]
            labels = np.unique(labels * len(texts) + codes, return_inverse=True)[1]
        return labels

    def taken(self, columns: Sequence[str], sources: IntArray) -> Records:
        """Replace the values of some columns by the values of the records `sources`."""
        moved = {name: self.columns[name].taken(sources) for name in columns}
        return Records(self.columns | moved)

    def in_order(self) -> Records:
        """Sort the records by their columns, so that their order reveals nothing else."""
        order = np.lexsort([column.codes for column in reversed(self.columns.values())])
        return Records({name: column.taken(order) for name, column in self.columns.items()})

    def followed_by(self, other: Records) -> Records:
        """Append records with the same columns and strings."""
        return Records(
            {
                name: Column(np.concatenate([codes, other.columns[name].codes]), texts)
                for name, (codes, texts) in self.columns.items()
            }
        )


@dataclass(frozen=True)
class Roles:
    """The roles of the columns.

    Attributes
    ----------
    match : tuple of str
        The swap key V_Match. Records are swapped with records of equal values.
    swap : tuple of str
        The swapping variable V_Swap.
    carry : tuple of str
        Columns that move with the swapping variable, such as the tract of a county.
    public : tuple of str
        Columns that stay with their records and may identify them.
    """

    match: tuple[str, ...]
    swap: tuple[str, ...]
    carry: tuple[str, ...] = ()
    public: tuple[str, ...] = ()

    @property
    def moving(self) -> tuple[str, ...]:
        """The columns whose values move together."""
        return self.swap + self.carry

    def held(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Return the columns V_Hold, which do not move."""
        return tuple(column for column in columns if column not in self.moving)


def read_records(path: str | Path) -> Records:
    """Read a CSV or Parquet file of records, with all values as strings."""
    columns = read_columns(path, ROW_PER_RECORD)
    refuse_line_breaks(columns, path)
    return Records({name: column.sorted() for name, column in columns.items()})


def refuse_missing(records: Records, columns: Sequence[str], path: str | Path) -> None:
    """Refuse records with a missing value in one of the given columns."""
    for name in columns:
        column = records.columns[name]
        blank = column.is_blank()
        row = column.first(blank)
        if row is not None:
            rows = counted(int(blank[column.codes].sum()), "row")
            raise InputError(
                f"{path}: row {row + 1}: {name} is missing, in {rows} in all. Give "
                f"these records their own category, or remove them."
            )


def refuse_weights(records: Records, path: str | Path) -> None:
    """Refuse weighted records, for which swapping has no guarantee."""
    for column in records.columns:
        if WEIGHT.search(column):
            raise InputError(
                f"{path}: the name of the column {column!r} suggests survey weights. Swapping has "
                f"no guarantee for weighted records. Rename the column if it has no weights."
            )
