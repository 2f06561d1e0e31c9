"""Taking a number of a results table, with its Monte Carlo error, for a claim."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from isdp.errors import InputError
from reproduction.review.claims import list_columns

RANGE_ERRORS = 3  # standard errors on either side within which a number is not told from another
# what is taken of all rows together
AGGREGATES = {
    "rows": len,
    "values": lambda column: sorted(set(column)),
    "sum": lambda column: column.sum(skipna=False),
}


@dataclass(frozen=True)
class Measured:
    """The value of a claim in this run: one, or several where the claim is about several.

    Attributes
    ----------
    errors : list of float
        Monte Carlo standard errors; empty where there is none, as for a count.
    ranges : list of (float, float)
        Limits of each value: the table's own, or three standard errors on either side; the value
        itself where nothing is random.
    draws, counted : float or None, str
        The number of draws behind the value, and the table's word for these.
    paper_errors : list of float
        Standard errors of the paper's own values, where a distance from them allows for these.
    formulas : list
        The values of the paper's formula; empty where the claim has a number.
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
    """Take the value of a claim from the tables; the schema of the claims explains a measure.

    A missing entry among the rows is no value: it may be the very one that would miss the bar. A
    claim that may pass over missing entries says so in its query. Nor is a number of rows among
    none a value: without rows there is nothing to find an exception in.

    Raises
    ------
    InputError
        If the rows cannot be selected, a column is not there, or the only row is not the only one.
    """
    among = _queried(claim, how, "among", tables[how["table"]])
    table = _queried(claim, how, "rows", among)
    for column in list_columns(how):
        if column not in table:
            raise InputError(f"claim {claim}: table {how['table']} has no column {column!r}")
    column, take = how.get("column", table.columns[0]), how["take"]
    if take in AGGREGATES:
        unseen = not len({"rows": among, "sum": table}.get(take, [0]))
        value = math.nan if unseen else AGGREGATES[take](table[column])
        return Measured([_plain(value)], [], [(value, value)])
    if take == "only" and len(table) > 1:
        raise InputError(
            f"claim {claim}: rows {how.get('rows', '')!r} of table {how['table']} are "
            f"{len(table)}, and should be one"
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
        # none where the paper's value is of another table than this run's
        paper_errors=[float(error) for error in listed("paper_error") if not pd.isna(error)],
        formulas=listed("formula"),
        names=[how["named"].format_map(row) for row in table.to_dict("records")]
        if "named" in how
        else [],
    )


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


def _plain(value):
    return value.item() if hasattr(value, "item") else value
