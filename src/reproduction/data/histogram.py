"""Published 2010 counts of each county by race, Hispanic origin and adulthood; group quarters.

Tables P8 to P11, P42 and H3 of Summary File 1. A cell of the histogram is named as in the file:
letters of the races (W White, B Black, I American Indian, A Asian, P Pacific islander, S some other
race), n or h (not Hispanic, Hispanic), c or a (under 18, adult).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from isdp.errors import InputError
from isdp.io.csv_files import cells_of, counts_of, read_cells
from reproduction.data.demonstration import county_text
from reproduction.data.published import fips_of

MAX_BYTES = 50_000_000
AXES = ("race", "hispanic", "adult")
SHAPE = (63, 2, 2)
RACES = tuple("".join(some) for k in range(1, 7) for some in combinations("WBIAPS", k))
CELLS = tuple(f"{race}:{h}:{a}" for race in RACES for h in "nh" for a in "ca")
KINDS = (
    "correctional",
    "juvenile",
    "nursing",
    "other_institutional",
    "student_housing",
    "military",
    "other_noninstitutional",
)
MEND = "take the file from the repository again"
# items of H72 (P8), H73 (P9), H74 (P10), H75 (P11) before the first race: P9 and P11 begin with
# the Hispanic and the others
SHIFTS = {"H72": 0, "H73": 2, "H74": 0, "H75": 2}


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts of all counties.

    Attributes
    ----------
    counties : DataFrame
        Columns fips, state, county and population, a row a county.
    counts : int64 array, shape (counties, 252)
        In the order of `CELLS`.
    """

    counties: pd.DataFrame
    counts: np.ndarray


def read_histogram(path, published: pd.DataFrame) -> Histogram:
    """Read the histogram of all counties; a blank is a zero.

    Parameters
    ----------
    path : path
    published : DataFrame
        From `reproduction.data.published.read_published`.

    Raises
    ------
    InputError
        If the file is no such table, a count is none, a county is missing or unknown, or a
        county's cells do not add up to its published population.
    """
    fips, counts = _read(path, CELLS, blank_is_zero=True)
    counties = _named(fips, published, Path(path).name)
    _check_sums(counties, counts, Path(path).name)
    return Histogram(counties, counts)


def read_group_quarters(path, published: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """Read the group quarters population of all counties by kind, and the housing units.

    Returns
    -------
    counties : DataFrame
        Columns fips, state, county, population, housing_units and occupied.
    people : int64 array, shape (counties, 7)
        In the order of `KINDS`.

    Raises
    ------
    InputError
        As `read_histogram`, or if more people live in group quarters than in the county, or
        more units are occupied than there are.
    """
    place = Path(path).name
    fips, numbers = _read(path, (*KINDS, "housing_units", "occupied"), blank_is_zero=False)
    counties = _named(fips, published, place).assign(
        housing_units=numbers[:, -2], occupied=numbers[:, -1]
    )
    people = numbers[:, : len(KINDS)]
    over = (people.sum(axis=1) > counties["population"]) | (numbers[:, -1] > numbers[:, -2])
    if over.any():
        raise InputError(
            f"{place}: county {counties['fips'][over].iloc[0]} has more people in group quarters "
            f"than inhabitants, or more occupied units than units; {MEND}"
        )
    return counties, people


def read_demonstration_histogram(path, published: pd.DataFrame) -> tuple[Histogram, Histogram, str]:
    """Derive both histograms of the demonstration data from its Tables P8 to P11.

    With H72 to H75 the counts by race of all, the not Hispanic, all adults and the adults not
    Hispanic, the four cells of a race are differences of them.

    Returns
    -------
    private, published : Histogram
        From the privacy-protected microdata ("dp") and from Summary File 1 ("sf").
    vintage : str

    Raises
    ------
    InputError
        If the file is no such table, a count is none, a derived cell is negative, a sum is not
        that of the file, or the counties are not all.
    """
    text, place, vintage = county_text(path)
    cells = cells_of(text, place)
    _check_columns(cells, ["gisjoin"], place)
    counties = _named(fips_of(cells["gisjoin"], "gisjoin", place, MEND), published, place)
    both = []
    for suffix in ("dp", "sf"):
        tables = {table: _counts(cells, _items(table, suffix), place) for table in SHIFTS}
        total = _counts(cells, [f"H72001_{suffix}"], place)[:, 0]
        both.append(Histogram(counties, _cells(tables, total, counties, f"{place}, {suffix}")))
    return both[0], both[1], vintage


def _items(table: str, suffix: str) -> list[str]:
    """Columns of the 63 races; a subtotal stands before each number of races."""
    first = 3 + SHIFTS[table]
    numbers = []
    for k in range(1, 7):
        size = sum(len(race) == k for race in RACES)
        numbers += range(first, first + size)
        first += size + (2 if k == 1 else 1)
    return [f"{table}{number:03d}_{suffix}" for number in numbers]


def _cells(tables: dict[str, np.ndarray], total, counties, place: str) -> np.ndarray:
    everyone, not_hispanic, adults, both = (tables[name] for name in ("H72", "H73", "H74", "H75"))
    cells = np.stack(
        [
            not_hispanic - both,
            both,
            (everyone - not_hispanic) - (adults - both),
            adults - both,
        ],
        axis=2,
    ).reshape(len(total), len(CELLS))
    wrong = (cells < 0).any(axis=1) | (cells.sum(axis=1) != total)
    if wrong.any():
        raise InputError(
            f"{place}: county {counties['fips'][wrong].iloc[0]}: Tables P8 to P11 do not fit "
            f"together; get the file again"
        )
    return cells


def _check_columns(cells: pd.DataFrame, wanted: Sequence[str], place: str) -> None:
    missing = [name for name in wanted if name not in cells]
    if missing:
        raise InputError(f"{place}: line 1: there is no column {missing[0]}; {MEND}")


def _counts(
    cells: pd.DataFrame, columns: Sequence[str], place: str, blank_is_zero: bool = False
) -> np.ndarray:
    """Read the counts in some columns; int64, shape (rows, columns)."""
    _check_columns(cells, columns, place)

    def where(number: int) -> str:
        row, column = divmod(number, len(columns))
        return f"{place}: line {cells.index[row]}, column {columns[column]}"

    # all at once, as most counts are small and stand there many times
    every = cells[list(columns)].to_numpy().ravel()
    if blank_is_zero:
        every = np.where(every == "", "0", every)
    return counts_of(pd.Series(every), where, MEND).reshape(len(cells), len(columns))


def _read(path, columns: Sequence[str], blank_is_zero: bool) -> tuple[pd.Series, np.ndarray]:
    place, cells = Path(path).name, read_cells(path, MAX_BYTES)
    if list(cells) != ["fips", *columns]:
        raise InputError(
            f"{place}: line 1: wanted the column fips and then {columns[0]} to {columns[-1]} "
            f"({len(columns)} columns in their order); {MEND}"
        )
    fips = fips_of(cells["fips"], "fips", place, MEND)
    return fips, _counts(cells, columns, place, blank_is_zero)


def _named(fips: pd.Series, published: pd.DataFrame, place: str) -> pd.DataFrame:
    """Join the counties by their codes, all of them and each once."""
    known = published.set_index("fips")
    missing, unknown = set(known.index) - set(fips), set(fips) - set(known.index)
    if missing or unknown or len(set(fips)) != len(fips):
        raise InputError(
            f"{place}: {len(missing)} counties are missing, {len(unknown)} unknown and "
            f"{len(fips) - len(set(fips))} doubled; {MEND}"
        )
    return known.loc[fips].reset_index()[["fips", "state", "county", "population"]]


def _check_sums(counties: pd.DataFrame, counts: np.ndarray, place: str) -> None:
    off = np.flatnonzero(counts.sum(axis=1) != counties["population"].to_numpy())
    if len(off):
        row = counties.iloc[off[0]]
        raise InputError(
            f"{place}: county {row['fips']}: the cells add up to {counts[off[0]].sum()}, but the "
            f"published population is {row['population']}; {MEND}"
        )
