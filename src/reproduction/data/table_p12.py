"""Census Table P12, sex by age: 23 age groups for each sex, and reading a county's from a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError

AGE_GROUPS = (
    "under 5",
    "5-9",
    "10-14",
    "15-17",
    "18-19",
    "20",
    "21",
    "22-24",
    "25-29",
    "30-34",
    "35-39",
    "40-44",
    "45-49",
    "50-54",
    "55-59",
    "60-61",
    "62-64",
    "65-66",
    "67-69",
    "70-74",
    "75-79",
    "80-84",
    "85 and over",
)
MINORS = 4  # age groups below 18
SEXES = ("female", "male")
GROUPS = len(AGE_GROUPS)
CELLS = [f"{sex}, {age}" for sex in SEXES for age in AGE_GROUPS]
# items of H76 (2010 Summary File 1, Table P12): the total, each sex's total and its age groups
TOTAL, MALE, FEMALE = 1, 2, 26
LAST = 49


def sex_by_age_invariants() -> Invariants:
    """Equalities of CDP, Section 3: total population, females, and people of voting age."""
    cells = range(2 * GROUPS)
    adults = [cell for cell in cells if cell % GROUPS >= MINORS]
    return Invariants.subsets(
        [cells, range(GROUPS), adults],
        2 * GROUPS,
        ["total population", "female population", "population of voting age"],
    )


def table_of(counts: Mapping[str, list[int]]) -> np.ndarray:
    """Put the counts of both sexes into one vector, female first.

    Parameters
    ----------
    counts : mapping
        `female` and `male`, each with 23 counts.

    Returns
    -------
    int64 array, shape (46,)

    Raises
    ------
    InputError
        Naming the sex and the age group that will not do.
    """
    if set(counts) != set(SEXES):
        raise InputError(f"sex by age: wanted the keys female and male, got {', '.join(counts)}")
    for sex in SEXES:
        if len(counts[sex]) != GROUPS:
            raise InputError(
                f"sex by age: {sex} has {len(counts[sex])} age groups; Table P12 has {GROUPS}, "
                f"from under 5 to 85 and over"
            )
        for age, count in zip(AGE_GROUPS, counts[sex], strict=True):
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
                raise InputError(
                    f"sex by age: {sex}, {age}: {count!r} is not a count (a whole number from 0 up)"
                )
    return np.array([*counts["female"], *counts["male"]], dtype=np.int64)


def read_p12(path, county: str) -> tuple[np.ndarray, str]:
    """Read one county's Table P12 from a csv.

    Parameters
    ----------
    path : path
        With the columns H76001 to H76049, whose names may go on after the item (H76001_sf), and
        `name`, `gisjoin` or `fips` to find the county by.
    county : str
        Its name, its GISJOIN code or its five-digit FIPS code.

    Returns
    -------
    counts : int64 array, shape (46,)
        Female first.
    name : str

    Raises
    ------
    InputError
        Naming the file, the county and the column: a file that is missing or no table, an age
        group that is missing, a county that is missing or stands twice, counts that are
        negative, not whole or do not add up.
    """
    path = Path(path)
    try:
        table = pd.read_csv(path, dtype=str, encoding="utf-8-sig", keep_default_na=False)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; correct sex_by_age.file") from None
    except (UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InputError(f"{path}: this is no csv table ({error})") from None
    items = _items(table, path)
    row, name = _row_of(table, county, path)
    counts = {item: _count(row[column], path, name, column) for item, column in items.items()}
    male, female = ([counts[first + 1 + i] for i in range(GROUPS)] for first in (MALE, FEMALE))
    for item, parts, what in (
        (MALE, male, "men and boys"),
        (FEMALE, female, "women and girls"),
        (TOTAL, [*male, *female], "all people"),
    ):
        if counts[item] != sum(parts):
            raise InputError(
                f"{path}: {name}: {items[item]} says {counts[item]} {what}, but the age groups add "
                f"up to {sum(parts)}"
            )
    return np.array([*female, *male], dtype=np.int64), name


def _items(table: pd.DataFrame, path: Path) -> dict[int, str]:
    """Column of each item of Table P12."""
    items: dict[int, str] = {}
    for column in table.columns:
        found = re.fullmatch(r"H76(\d{3})(?:_sf)?", column)
        if found and 1 <= int(found[1]) <= LAST:
            items[int(found[1])] = column
    missing = [f"H76{item:03}" for item in range(1, LAST + 1) if item not in items]
    if missing:
        raise InputError(
            f"{path}: {len(missing)} of the {LAST} columns of Table P12 are missing, the first is "
            f"{missing[0]}; wanted: H76001 to H76049, 23 age groups for each sex with their totals"
        )
    return items


def _row_of(table: pd.DataFrame, county: str, path: Path) -> tuple[pd.Series, str]:
    """Row of a county, found by name or code, and what to call it."""
    county = str(county).strip()
    found = pd.Series(False, index=table.index)
    for column in ("name", "gisjoin", "fips"):
        if column in table:
            found |= table[column].str.strip() == county
    if re.fullmatch(r"\d{5}", county) and "gisjoin" in table:
        found |= table["gisjoin"] == f"G{county[:2]}0{county[2:]}0"
    if found.sum() != 1:
        names = table["name"] if "name" in table else table.iloc[:, 0]
        raise InputError(
            f"{path}: {county!r} stands in {int(found.sum())} rows, wanted one; there are "
            f"{len(table)}, such as {', '.join(names.head(3))}"
        )
    row = table[found].iloc[0]
    return row, row.get("name", county)


def _count(text: str, path: Path, name: str, column: str) -> int:
    if not re.fullmatch(r"\s*\d{1,12}\s*", text):
        raise InputError(
            f"{path}: {name}: {column} holds {text!r}, wanted a whole number from 0 up, without "
            f"separators"
        )
    return int(text)
