"""Value of a claim, with its Monte Carlo error, from a results table."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from isdp.errors import InputError
from reproduction.review.claims import list_columns

RANGE_ERRORS = 3  # standard errors on either side of a value, for its Monte Carlo range
# functions of all rows together
AGGREGATES = {
    "rows": len,
    "values": lambda column: sorted(set(column)),
    "sum": lambda column: column.sum(skipna=False),
}


@dataclass(frozen=True)
class Measured:
    """Value of a claim in this run: one number, or several for a claim about several.

    Attributes
    ----------
    errors : list of float
        Monte Carlo standard errors; empty for values without one, such as counts.
    ranges : list of (float, float)
        Limits of each value: those of the table, or three standard errors on either side. A
        value that is not random is its own limits.
    draws, counted : float or None, str
        Number of draws behind the value, and the table's name for draws.
    paper_errors : list of float
        Standard errors of the paper's values.
    formulas : list
        Values of the paper's formula; empty if the claim has a number.
    names : list of str
        Subject of each value; empty if the claim does not name it.
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
        """True if there is no value, or a value that is not a number."""
        return not self.values or any(pd.api.types.is_scalar(x) and pd.isna(x) for x in self.values)

    @property
    def one(self):
        """The single value to which conditions apply, or the list of several values."""
        return self.values[0] if len(self.values) == 1 else self.values


def measure(claim: str, how: Mapping, tables: Mapping[str, pd.DataFrame]) -> Measured:
    """Measure the value of a claim in the tables; the schema of the claims defines a measure.

    A missing entry among the rows gives no value, as it may be the entry that fails the criterion.
    The query of a claim can exclude missing entries. A count of rows among no rows is no value
    either.

    Raises InputError if the query fails, a column is missing, or there are several rows for `only`.
    """
    among = _queried(claim, how, "among", tables[how["table"]])
    table = _queried(claim, how, "rows", among)
    for column in list_columns(how):
        if column not in table:
            raise InputError(
                f"claim {claim}: table {how['table']} has no column {column!r}; correct the claim"
            )
    column, take = how.get("column", table.columns[0]), how["take"]
    if take in AGGREGATES:
        unseen = not len({"rows": among, "sum": table}.get(take, [0]))
        value = math.nan if unseen else AGGREGATES[take](table[column])
        return Measured([_plain(value)], [], [(value, value)])
    if take == "only" and len(table) > 1:
        raise InputError(
            f"claim {claim}: rows {how.get('rows', '')!r} of table {how['table']} are "
            f"{len(table)}; make the query select one"
        )
    if take not in ("each", "only"):
        table = _extreme(table, how.get("by", column), take)

    def listed(key: str) -> list:
        return table[how[key]].tolist() if key in how else []

    values = table[column].tolist()
    if take == "max_abs" and "by" not in how:
        values = [abs(value) for value in values]
    errors = [float(error) for error in listed("error")]
    if "limits" in how:
        low, high = how["limits"]
        ranges = list(zip(table[low].astype(float), table[high].astype(float), strict=True))
    else:
        reach = [RANGE_ERRORS * error for error in errors] or [0] * len(values)
        ranges = [
            (value - far, value + far) if far else (value, value)
            for value, far in zip(values, reach, strict=True)
        ]
    return Measured(
        values,
        errors,
        ranges,
        draws=next(map(float, listed("draws")), None),
        counted=how.get("draws", "draws").replace("_", " "),
        # missing where the paper's value is for another table
        paper_errors=[float(error) for error in listed("paper_error") if not pd.isna(error)],
        formulas=listed("formula"),
        names=[how["named"].format_map(row) for row in table.to_dict("records")]
        if "named" in how
        else [],
    )


def _queried(claim: str, how: Mapping, key: str, table: pd.DataFrame) -> pd.DataFrame:
    """Select the rows by the query of this key; return all rows without a query."""
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
    """Select the row with the largest, smallest or farthest value; none if a value is missing."""
    sizes = table[column].abs() if take == "max_abs" else table[column]
    sizes = sizes.reset_index(drop=True)
    if sizes.empty or sizes.isna().any():
        return table.iloc[:0]
    place = sizes.idxmin() if take == "min" else sizes.idxmax()
    return table.iloc[[place]]


def _plain(value):
    return value.item() if hasattr(value, "item") else value
