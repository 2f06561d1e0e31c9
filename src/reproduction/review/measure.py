"""Taking a number of a results table, with its Monte Carlo error, for a claim."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

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
    counted : str
        What these draws are: the table's own word.
    paper_errors : list of float
        Standard error of the paper's own value, where a distance from it takes it in.
    formulas : list
        What the paper's formula gives for each value; empty where the claim has a number.
    names : list of str
        What each value is of; empty where the claim does not say.
    """

    values: list
    errors: list[float]
    ranges: list[tuple]
    draws: float | None = None
    counted: str = "draws"
    paper_errors: list[float] = field(default_factory=list)
    formulas: list = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    @property
    def missing(self) -> bool:
        """Whether there is no value, or one that is not a number."""
        return not self.values or any(pd.api.types.is_scalar(x) and pd.isna(x) for x in self.values)

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
        column, or of the column `by`, in whose row the value is then taken), only (of the one
        row), each (all rows, in their order), sum, rows (their number) or values (the sorted
        set); `among`, a query for the rows among which `rows` are counted, all where it is left
        out; `error`, the column with standard errors, or `limits`, the two columns between which
        the value may lie; `draws`, the column with the number of draws; `formula`, the column with
        what the paper's formula gives in that row; `paper_error`, that with the standard error of
        the paper's own value; `named`, a text with columns in braces that says what a row is of.
    tables : mapping from name to DataFrame

    Raises
    ------
    InputError
        If the rows cannot be selected, a column is not there, or the only row is not the only one.

    Notes
    -----
    A missing entry among the rows is no value: it may be the very one that would miss the bar. A
    claim that may pass over missing entries says so in its query. Nor are there no exceptions where
    nothing was looked at: a number of rows among none is no value.
    """
    among = _queried(claim, how, "among", tables[how["table"]])
    table = selected(claim, how, among)
    column, take = how.get("column", table.columns[0]), how["take"]
    if take == "rows":
        return _certain(len(table) if len(among) else math.nan)
    if take == "values":
        return _certain(sorted(set(table[column])))
    if take == "sum":
        return _certain(_plain(table[column].sum(skipna=False)) if len(table) else math.nan)
    if take == "only" and len(table) > 1:
        raise InputError(
            f"claim {claim}: rows {how.get('rows', '')!r} of table {how['table']} are "
            f"{len(table)}, and should be one"
        )
    if take not in ("each", "only"):
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
    formulas = [_plain(value) for value in table[how["formula"]]] if "formula" in how else []
    counted = how.get("draws", "draws").replace("_", " ")
    # none where the paper's value is of another table than this run's
    theirs = [float(x) for x in table[how["paper_error"]].dropna()] if "paper_error" in how else []
    rows = table.to_dict("records") if "named" in how else []
    names = [how["named"].format_map(row) for row in rows]
    return Measured(values, errors, ranges, draws, counted, theirs, formulas, names)


def selected(claim: str, how: Mapping, table: pd.DataFrame) -> pd.DataFrame:
    """Rows of a table that a claim is about; an error names the claim."""
    table = _queried(claim, how, "rows", table)
    for column in columns_of(how):
        if column not in table:
            raise InputError(f"claim {claim}: table {how['table']} has no column {column!r}")
    return table


def _queried(claim: str, how: Mapping, key: str, table: pd.DataFrame) -> pd.DataFrame:
    """Rows that the query of this key selects; all where there is none."""
    if key not in how:
        return table
    try:
        return table.query(how[key])
    except Exception as error:
        raise InputError(
            f"claim {claim}: {key} {how[key]!r} cannot be selected in table "
            f"{how['table']} ({error})"
        ) from error


def _extreme(table: pd.DataFrame, column: str, take: str) -> pd.DataFrame:
    """Take the row with the largest, smallest or farthest value; no row where one is missing."""
    sizes = table[column].abs() if take == "max_abs" else table[column]
    sizes = sizes.reset_index(drop=True)
    if sizes.empty or sizes.isna().any():
        return table.iloc[:0]
    place = sizes.idxmin() if take == "min" else sizes.idxmax()
    return table.iloc[[place]]


def _certain(value) -> Measured:
    return Measured([value], [], [(value, value)])


def _around(value, far: float) -> tuple:
    return (value - far, value + far) if far else (value, value)


def _plain(value):
    return value.item() if hasattr(value, "item") else value
