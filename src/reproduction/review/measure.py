"""Taking a number of a results table, with its Monte Carlo error, for a claim."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from isdp.errors import InputError
from reproduction.review.claims import columns_of

WIDTH = 3  # standard errors on either side within which a number is not told from another


@dataclass(frozen=True)
class Measured:
    """What a claim is about, in this run.

    Attributes
    ----------
    values : list
        One number or text, or several where a claim is about several.
    errors : list of float
        Monte Carlo standard error of each value; empty where there is none, as for a count.
    ranges : list of (float, float)
        Within which each value may lie: the table's own limits, or three standard errors on
        either side; the value itself where nothing is random.
    draws : float or None
        How many draws the value rests on, where the table says so.
    """

    values: list
    errors: list[float]
    ranges: list[tuple]
    draws: float | None = None

    @property
    def missing(self) -> bool:
        """Whether there is no value, or one that is not a number."""
        return not self.values or any(isinstance(x, float) and math.isnan(x) for x in self.values)

    @property
    def one(self):
        """The single value that conditions are asked of; all of them where there are several."""
        return self.values[0] if len(self.values) == 1 else self.values


def measure(claim: str, how: Mapping, tables: Mapping[str, pd.DataFrame]) -> Measured:
    """Take what a claim is about from the tables.

    Parameters
    ----------
    claim : str
        Name of the claim, for messages.
    how : mapping
        `table`; `rows`, an optional pandas query; `column`; `take`: max, min or max_abs (of the
        column, or of the column `by`, in whose row the value is then taken), each (all rows, in
        their order), sum, rows (their number) or values (the sorted set); `error`, the column with
        standard errors, or `limits`, the two columns between which the value may lie; `draws`,
        the column with the number of draws.
    tables : mapping from name to DataFrame

    Raises
    ------
    InputError
        If the rows cannot be selected or a column is not there.
    """
    table = selected(claim, how, tables[how["table"]])
    column, take = how.get("column", table.columns[0]), how["take"]
    if take == "rows":
        return _certain(len(table))
    if take == "values":
        return _certain(sorted(set(table[column])))
    if take == "sum":
        return _certain(_plain(table[column].sum()) if len(table) else math.nan)
    if take != "each":
        table = _extreme(table, how.get("by", column), take)
    values = [_plain(value) for value in table[column]]
    if take == "max_abs" and "by" not in how:
        values = [abs(value) for value in values]
    errors = [float(error) for error in table[how["error"]]] if "error" in how else []
    if "limits" in how:
        low, high = how["limits"]
        ranges = list(zip(table[low].astype(float), table[high].astype(float), strict=True))
    else:
        reach = [WIDTH * error for error in errors] or [0] * len(values)
        ranges = [_around(value, far) for value, far in zip(values, reach, strict=True)]
    draws = float(table[how["draws"]].iloc[0]) if "draws" in how and len(table) else None
    return Measured(values, errors, ranges, draws)


def selected(claim: str, how: Mapping, table: pd.DataFrame) -> pd.DataFrame:
    """Rows of a table that a claim is about; an error names the claim."""
    if "rows" in how:
        try:
            table = table.query(how["rows"])
        except Exception as error:
            raise InputError(
                f"claim {claim}: rows {how['rows']!r} cannot be selected in table "
                f"{how['table']} ({error})"
            ) from error
    for column in columns_of(how):
        if column not in table:
            raise InputError(f"claim {claim}: table {how['table']} has no column {column!r}")
    return table


def _extreme(table: pd.DataFrame, column: str, take: str) -> pd.DataFrame:
    """Take the row with the largest, smallest or farthest value; no row where all are missing."""
    sizes = table[column].abs() if take == "max_abs" else table[column]
    sizes = sizes.reset_index(drop=True).dropna()
    if sizes.empty:
        return table.iloc[:0]
    place = sizes.idxmin() if take == "min" else sizes.idxmax()
    return table.iloc[[place]]


def _certain(value) -> Measured:
    return Measured([value], [], [(value, value)])


def _around(value, far: float) -> tuple:
    return (value - far, value + far) if far else (value, value)


def _plain(value):
    return value.item() if hasattr(value, "item") else value
