"""Table P12 of the 2010 Census: sex by age, with 23 age groups for each sex.

CDP is *Congenial Differential Privacy under Mandated Disclosure*.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.io.csv_files import counts_of, read_cells
from reproduction.data.published import FIPS_PATTERN

AGE_GROUPS = (
    *("under 5", "5-9", "10-14", "15-17", "18-19", "20", "21", "22-24", "25-29", "30-34"),
    *("35-39", "40-44", "45-49", "50-54", "55-59", "60-61", "62-64", "65-66", "67-69"),
    *("70-74", "75-79", "80-84", "85 and over"),
)
N_MINOR_GROUPS = 4  # age groups below 18
SEXES = ("female", "male")
N_GROUPS = len(AGE_GROUPS)
CELLS = [f"{sex}, {age}" for sex in SEXES for age in AGE_GROUPS]
# The columns of Table P12 are H76001 to H76049. The first is the total of all persons. It is
# followed by the total and the age groups of each sex.
TOTAL_ITEM, MALE_ITEM, FEMALE_ITEM = 1, 2, 26
LAST_ITEM = 49


def sex_by_age_invariants() -> Invariants:
    """Build the invariants of CDP, Section 3: all persons, females, persons of voting age."""
    cells = range(2 * N_GROUPS)
    adults = [cell for cell in cells if cell % N_GROUPS >= N_MINOR_GROUPS]
    return Invariants.subsets(
        [cells, range(N_GROUPS), adults],
        2 * N_GROUPS,
        ["total population", "female population", "population of voting age"],
    )


def build_table(counts: Mapping[str, list[int]]) -> np.ndarray:
    """Combine the 23 counts of each sex into one int64 array of 46 cells, females first."""
    if set(counts) != set(SEXES):
        raise InputError(f"sex by age: expected the keys female and male, got {', '.join(counts)}.")
    for sex in SEXES:
        if len(counts[sex]) != N_GROUPS:
            raise InputError(
                f"sex by age: {sex} has {len(counts[sex])} age groups. Give the {N_GROUPS} age "
                f"groups of Table P12, from under 5 to 85 and over."
            )
        for age, count in zip(AGE_GROUPS, counts[sex], strict=True):
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
                raise InputError(f"sex by age: {sex}, {age}: give a whole number of 0 or more.")
    return np.array([*counts["female"], *counts["male"]], dtype=np.int64)


def read_p12(path, county: str) -> tuple[np.ndarray, str]:
    """Read Table P12 of one county from a CSV file. Return its cells and the county's name.

    `build_table` describes the array of cells. The file has the columns H76001 to H76049, which
    may end in "_sf", and at least one of `name`, `gisjoin` and `fips`. Raises InputError if a
    column is missing, the county does not match exactly one row, or its counts are invalid or
    inconsistent.
    """
    place, cells = Path(path).name, read_cells(path)
    items = _items(cells, place)
    row = _row_of(cells, str(county).strip(), place)
    name = row.get("name", county)
    numbers = counts_of(
        row[items],
        lambda column: f"{place}: {name}: {column}",
        "Give a whole number of 0 or more, without separators.",
    )
    # item n has index n - 1; the age groups of a sex follow its total
    male, female = (numbers[item : item + N_GROUPS] for item in (MALE_ITEM, FEMALE_ITEM))
    sums = {MALE_ITEM: male.sum(), FEMALE_ITEM: female.sum()}
    for item, persons in (sums | {TOTAL_ITEM: sum(sums.values())}).items():
        if numbers[item - 1] != persons:
            raise InputError(
                f"{place}: {name}: {items[item - 1]}: the age groups do not sum to this total. "
                f"Correct the counts."
            )
    return np.concatenate([female, male]), name


def _items(cells: pd.DataFrame, place: str) -> list[str]:
    found = {column: re.fullmatch(r"H76(\d{3})(?:_sf)?", column) for column in cells}
    items = {int(match[1]): column for column, match in found.items() if match}
    missing = [f"H76{item:03}" for item in range(1, LAST_ITEM + 1) if item not in items]
    if missing:
        raise InputError(
            f"{place}: {len(missing)} of the {LAST_ITEM} columns of Table P12 are missing, and the "
            f"first is {missing[0]}. Give a table with the columns H76001 to H76049."
        )
    return [items[item] for item in range(1, LAST_ITEM + 1)]


def _row_of(cells: pd.DataFrame, county: str, place: str) -> pd.Series:
    wanted = {county}
    if re.fullmatch(FIPS_PATTERN, county):
        wanted.add(f"G{county[:2]}0{county[2:]}0")
    keys = [column for column in ("name", "gisjoin", "fips") if column in cells]
    found = cells[keys].isin(wanted).any(axis=1)
    if found.sum() != 1:
        names = cells[keys[0]] if keys else cells.iloc[:, 0]
        raise InputError(
            f"{place}: {county!r} matches {int(found.sum())} of {len(cells)} rows. Give a county "
            f"that matches one row, such as {', '.join(names.head(3))}."
        )
    return cells[found].iloc[0]
