"""Declaration of a claim of a paper, and its evidence in the tables of a run.

A claim is a function in `reproduction.STUDY.claims`. It takes tables of the run and returns their
evidence: our value with its error, and the criterion for the verdict.
"""

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

import pandas as pd

from isdp.errors import InputError
from reproduction.jobs.rules import find_rule

Paper = Literal["ISDP", "SDP", "CDP", "TDA", "SWAP"]
Whose = Literal["paper", "ours"]
WhoIsRight = Literal["error in the paper", "our numbers differ", "depends on the reading"]
RANGE_ERRORS = 3  # number of standard errors on each side of a value, in its Monte Carlo range
# for statements that are checked by exact computation
MARGIN = 1 + 1e-9  # a ratio of 1, with rounding errors
LARGEST_RATIO = "ratio of the value to its bound (maximum over the settings)"
FAILURES = "cases in which the statement fails"
NO_PROOF = "This is evidence on {} settings and no proof."
RELATIONS: dict[str, Callable] = {
    "=": operator.eq,
    ">=": operator.ge,
    "<=": operator.le,
    "contains": operator.contains,
}


@dataclass(frozen=True)
class Criterion:
    """Conditions on a value, and their source. Each condition is a relation and a bound."""

    conditions: tuple[tuple[str, float | str | bool], ...]
    whose: Whose

    def is_met_by(self, value) -> bool:
        """Return True if a value meets every condition."""
        return all(RELATIONS[relation](value, bound) for relation, bound in self.conditions)

    def is_met_within(self, low, high) -> bool:
        """Return True if some value in a range meets every condition. A limit of NaN is unknown."""
        if isinstance(low, str | list) or "contains" in dict(self.conditions):
            return self.is_met_by(low)
        low, high = -math.inf if math.isnan(low) else low, math.inf if math.isnan(high) else high
        bounds = dict(self.conditions)
        lower = max(bounds.get(relation, -math.inf) for relation in (">=", "="))
        upper = min(bounds.get(relation, math.inf) for relation in ("<=", "="))
        return max(low, lower) <= min(high, upper)


def equals(bound: float | str | bool, whose: Whose) -> Criterion:
    """Return the criterion that a value equals the bound."""
    return Criterion((("=", bound),), whose)


def at_least(bound: float, whose: Whose) -> Criterion:
    """Return the criterion that a value is at least the bound."""
    return Criterion(((">=", bound),), whose)


def at_most(bound: float, whose: Whose) -> Criterion:
    """Return the criterion that a value is at most the bound."""
    return Criterion((("<=", bound),), whose)


def between(low: float, high: float, whose: Whose) -> Criterion:
    """Return the criterion that a value is in a closed interval."""
    return Criterion(((">=", low), ("<=", high)), whose)


def contains(member: str, whose: Whose) -> Criterion:
    """Return the criterion that a list contains a member."""
    return Criterion((("contains", member),), whose)


@dataclass(frozen=True)
class Quantity:
    """One number, or several numbers of one kind, with their errors and their source.

    Attributes
    ----------
    errors
        Monte Carlo standard errors. Values without an error, such as counts, have none.
    limits
        Confidence limits of each value, from the table. Without limits, the range is three standard
        errors on either side of the value.
    names
        Subject of each value, if there are several values.
    n_draws, draws_name
        Number of draws from which the value is computed, and their name in the table.
    exact
        True if the value is computed without random numbers.
    table, rows, column
        Name of the table, numbers of its rows (counted from 0), and name of the column.
    """

    values: list
    errors: list[float] = field(default_factory=list)
    limits: list[tuple] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    n_draws: float | None = None
    draws_name: str = "draws"
    exact: bool = False
    table: str = ""
    rows: list[int] = field(default_factory=list)
    column: str = ""

    @property
    def ranges(self) -> list[tuple]:
        """Range of each value. The range of a value without an error is the value itself."""
        if self.limits:
            return self.limits
        reach = [RANGE_ERRORS * error for error in self.errors] or [0] * len(self.values)
        return [
            (value - far, value + far) if far else (value, value)
            for value, far in zip(self.values, reach, strict=True)
        ]

    @property
    def is_missing(self) -> bool:
        """True if there is no value, or a value that is not a number."""
        return not self.values or any(pd.api.types.is_scalar(x) and pd.isna(x) for x in self.values)


def quantity(
    rows: pd.DataFrame,
    column: str,
    *,
    error: str = "",
    limits: tuple[str, str] | None = None,
    draws: str = "",
    names: Callable[[Mapping], str] | None = None,
    absolute: bool = False,
    exact: bool = False,
) -> Quantity:
    """Return the values of a column in some rows, with the columns of their errors or limits."""
    values = rows[column].abs() if absolute else rows[column]
    return Quantity(
        values.tolist(),
        errors=[float(each) for each in rows[error]] if error else [],
        limits=[(float(low), float(high)) for low, high in rows[list(limits)].to_numpy()]
        if limits
        else [],
        names=[names(row) for row in rows.to_dict("records")] if names else [],
        n_draws=float(rows[draws].iloc[0]) if draws and len(rows) else None,
        draws_name=draws.replace("_", " ") or "draws",
        exact=exact,
        **_source(rows, column),
    )


def count(
    rows: pd.DataFrame, *, among: pd.DataFrame | None = None, exact: bool = False
) -> Quantity:
    """Return the number of rows, or NaN if `among` is given and has no rows."""
    value = math.nan if among is not None and among.empty else len(rows)
    return Quantity([value], exact=exact, **_source(rows))


def total(rows: pd.DataFrame, column: str, *, exact: bool = False) -> Quantity:
    """Return the sum of a column. It is missing if there are no rows, or if an entry is missing."""
    value = rows[column].sum(skipna=False).item() if len(rows) else math.nan
    return Quantity([value], exact=exact, **_source(rows, column))


def distinct(rows: pd.DataFrame, column: str, *, exact: bool = False) -> Quantity:
    """Return the sorted list of the distinct values of a column."""
    return Quantity([sorted(set(rows[column]))], exact=exact, **_source(rows, column))


def _source(rows: pd.DataFrame, column: str = "") -> dict:
    return {"table": rows.index.name or "", "rows": rows.index.tolist(), "column": column}


def only_row(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows if there is at most one row. Raises InputError if there are several rows."""
    if len(rows) > 1:
        raise InputError(f"table {rows.index.name}: {len(rows)} rows are selected. Select one.")
    return rows


def extreme_row(
    rows: pd.DataFrame, column: str, extreme: Literal["max", "min", "max_abs"]
) -> pd.DataFrame:
    """Return the row with the extreme value of a column, or no row if a value is missing.

    A missing value could be the extreme one.
    """
    sizes = rows[column].abs() if extreme == "max_abs" else rows[column]
    sizes = sizes.reset_index(drop=True)
    if sizes.empty or sizes.isna().any():
        return rows.iloc[:0]
    place = sizes.idxmin() if extreme == "min" else sizes.idxmax()
    return rows.iloc[[place]]


def extreme(
    rows: pd.DataFrame, column: str, which: Literal["max", "min", "max_abs"], **options
) -> Quantity:
    """Return the extreme value of a column. The options are those of `quantity`."""
    row = extreme_row(rows, column, which)
    return quantity(row, column, absolute=which == "max_abs", **options)


@dataclass(frozen=True)
class Requirement:
    """Minimum size of a run, with the name of the counted objects and the size of this run."""

    what: str
    found: Quantity
    minimum: float

    @property
    def shortfall(self) -> str:
        """Description of the shortfall. It is empty if the run is large enough."""
        have = math.nan if self.found.is_missing else float(self.found.values[0])
        if have >= self.minimum:
            return ""
        number = "does not state its number of" if math.isnan(have) else f"has {have:,.4g}"
        return f"this run {number} {self.what}, and the minimum is {self.minimum:,.10g}"


@dataclass(frozen=True)
class Evidence:
    """Evidence of a run on a claim.

    Attributes
    ----------
    ours
        Our value, in the unit of the claim.
    criterion
        Criterion for the verdict.
    statistic, statistic_name
        Quantity to which the criterion applies, and its description. By default it is our value.
    decides
        Minimum size of a run. In a smaller run, a value that fails the criterion gives the verdict
        "undecided".
    needs
        Minimum size of a run. A smaller run cannot check the claim.
    paper
        Values of the paper's formula for the same rows, if the paper has a formula.
    """

    ours: Quantity
    criterion: Criterion
    _: KW_ONLY
    statistic: Quantity | None = None
    statistic_name: str = ""
    decides: Requirement | None = None
    needs: Requirement | None = None
    paper: Quantity | None = None


def farthest(
    rows: pd.DataFrame,
    distance: str,
    maximum: float,
    unit: str,
    *,
    value: str,
    paper: str = "",
    **options,
) -> Evidence:
    """Return the value that is farthest from its expectation, and our maximum of the distance.

    `distance`, `value` and `paper` are columns, and `unit` describes the distance. The options are
    those of `quantity` for the value.
    """
    row = extreme_row(rows, distance, "max_abs")
    return Evidence(
        quantity(row, value, **options),
        at_most(maximum, "ours"),
        statistic=quantity(row, distance, absolute=True),
        statistic_name=unit,
        paper=quantity(row, paper) if paper else None,
    )


def select_statements(table: pd.DataFrame, *statements: str) -> pd.DataFrame:
    """Select the rows of some statements, or no row if a statement is missing."""
    rows = table[table["statement"].isin(statements)]
    return rows if set(rows["statement"]) == set(statements) else rows[:0]


def within_bound(table: pd.DataFrame, *statements: str) -> Evidence:
    """Compare the largest ratio of a value to its bound with 1."""
    ratio = extreme(select_statements(table, *statements), "ratio", "max", exact=True)
    return Evidence(ratio, at_most(MARGIN, "paper"))


def without_failures(table: pd.DataFrame, *statements: str) -> Evidence:
    """Compare the number of cases in which some statements fail with 0."""
    failures = total(select_statements(table, *statements), "failures", exact=True)
    return Evidence(failures, equals(0, "paper"))


@dataclass(frozen=True)
class Claim:
    """Statement of a paper, and the function that takes its evidence from tables.

    Attributes
    ----------
    paper_value
        The value in the paper's words, or "" if the paper has no number.
    where
        Section, theorem, figure or table of the paper.
    experiment
        Heading under which the claim is listed.
    tables
        Tables of the run, in the order of the function's arguments.
    figures
        Figures that show the claim. `{state}` is replaced by each state.
    read_off
        True if the paper's value is read off a figure and is not printed.
    needs_vintage
        Vintage of the demonstration data to which the claim refers.
    if_differs
        Who is right if the verdict is "differs".
    transcription
        True for a check of printed numbers against each other or against published data. These
        checks have their own table.
    """

    function: Callable[..., Evidence]
    paper: Paper
    where: str
    statement: str
    tables: Sequence[str]
    _: KW_ONLY
    experiment: str
    paper_value: str = ""
    unit: str = ""
    figures: Sequence[str] = ()
    read_off: bool = False
    needs_vintage: str = ""
    if_differs: WhoIsRight = "our numbers differ"
    transcription: bool = False
    note: str = ""

    @property
    def name(self) -> str:
        """Name of the claim: that of its function, with hyphens."""
        return self.function.__name__.replace("_", "-")

    @property
    def study(self) -> str:
        """Study whose module defines the claim."""
        return self.function.__module__.split(".")[-2]

    def missing_tables(self, tables: Mapping[str, pd.DataFrame]) -> list[str]:
        """List the tables that the claim needs and the run does not have."""
        return [name for name in self.tables if name not in tables]

    def evidence(self, tables: Mapping[str, pd.DataFrame]) -> Evidence:
        """Return the evidence in the tables of a run.

        Raises InputError, naming the claim, if a table or a column is missing.
        """
        for name in self.missing_tables(tables):
            raise InputError(
                f"claim {self.name}: the table {name} is missing. The rule {find_rule(name)} makes "
                f"it. Run `snakemake --cores all results/tables/{name}.csv`."
            )
        try:
            return self.function(*(tables[name].rename_axis(name) for name in self.tables))
        except Exception as error:
            where = f"claim {self.name} (tables {', '.join(self.tables)})"
            raise InputError(f"{where}: {type(error).__name__}: {error}") from error


def claim(
    *, paper: Paper, where: str, statement: str, tables: Iterable[str], **details
) -> Callable[[Callable[..., Evidence]], Claim]:
    """Declare a function as a claim. `Claim` describes the arguments."""
    return lambda function: Claim(function, paper, where, statement, tuple(tables), **details)
