"""Published 2010 counts of each county: a histogram of persons, and group quarters.

The histogram classifies persons by race, Hispanic origin and adulthood. The sources are Tables P8
to P11, P42 and H3 of Summary File 1. The name of a histogram cell, such as WB:n:a, has three parts.
The first part gives the letters of the races: W White, B Black, I American Indian, A Asian, P
Pacific Islander, S some other race. The second part is n (not Hispanic) or h (Hispanic). The third
part is c (under 18) or a (adult).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from isdp.errors import InputError
from isdp.io.csv_files import cells_of, counts_of, read_cells
from reproduction.data.demonstration import read_county_text
from reproduction.data.published import read_fips

MAX_HISTOGRAM_BYTES = 50_000_000
AXES = ("race", "hispanic", "adult")
SHAPE = (63, 2, 2)
RACES = tuple("".join(some) for k in range(1, 7) for some in combinations("WBIAPS", k))
CELLS = tuple(f"{race}:{h}:{a}" for race in RACES for h in "nh" for a in "ca")
QUARTERS_KINDS = (
    *("correctional", "juvenile", "nursing", "other_institutional"),
    *("student_housing", "military", "other_noninstitutional"),
)
ADVICE = "Restore the file from the repository."
# The numbers of additional items before the first race in Tables P8 to P11. P9 and P11 begin with
# the totals of Hispanic persons and of all other persons.
ITEM_SHIFTS = {"H72": 0, "H73": 2, "H74": 0, "H75": 2}


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts of persons in all counties."""

    counties: pd.DataFrame  # columns fips, state, county and population; one row per county
    counts: np.ndarray  # int64, shape (counties, 252), in the order of `CELLS`


def read_histogram(path, published: pd.DataFrame) -> Histogram:
    """Read the histogram of all counties from a CSV file. An empty cell is a count of zero.

    Raises InputError if a column is missing, a county is missing, repeated or unknown, or the cells
    of a county do not sum to its published population.
    """
    place, cells = Path(path).name, read_cells(path, MAX_HISTOGRAM_BYTES)
    counties = _counties(cells, "fips", published, place)
    counts = _counts(cells.replace("", "0"), CELLS, place)
    off = np.flatnonzero(counts.sum(axis=1) != counties["population"].to_numpy())
    if len(off):
        row = counties.iloc[off[0]]
        raise InputError(
            f"{place}: county {row['fips']}: the cells do not sum to the published population. "
            f"{ADVICE}"
        )
    return Histogram(counties, counts)


def read_group_quarters(path, published: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """Read the group quarters population of all counties by type, and their housing units.

    The first value is the table of counties as in `Histogram`, with two more columns: housing_units
    and occupied (occupied units). The second is an int64 array of persons of shape (counties, 7),
    in the order of `QUARTERS_KINDS`. Raises InputError if a column is missing, a county is missing,
    repeated or unknown, or its counts exceed its population or its housing units.
    """
    place, cells = Path(path).name, read_cells(path, MAX_HISTOGRAM_BYTES)
    counties = _counties(cells, "fips", published, place)
    people = _counts(cells, QUARTERS_KINDS, place)
    units, occupied = _counts(cells, ("housing_units", "occupied"), place).T
    over = (people.sum(axis=1) > counties["population"]) | (occupied > units)
    if over.any():
        raise InputError(
            f"{place}: county {counties['fips'][over].iloc[0]} has more persons in group quarters "
            f"than inhabitants, or more occupied units than housing units. {ADVICE}"
        )
    return counties.assign(housing_units=units, occupied=occupied), people


def read_demonstration_histogram(path, published: pd.DataFrame) -> tuple[Histogram, Histogram, str]:
    """Derive two histograms from Tables P8 to P11 of the demonstration data.

    The items H72 to H75 count by race: all persons, persons who are not Hispanic, adults, and
    adults who are not Hispanic. The four cells of a race are differences of these counts. The
    function returns the histogram of the privacy-protected microdata ("dp"), the histogram of
    Summary File 1 ("sf"), and the vintage. Raises InputError if a column or a county is missing, a
    derived cell is negative, or the cells of a county do not sum to its population.
    """
    text, place, vintage = read_county_text(path)
    cells = cells_of(text, place)
    counties = _counties(cells, "gisjoin", published, place)
    both = []
    for suffix in ("dp", "sf"):
        tables = {table: _counts(cells, _items(table, suffix), place) for table in ITEM_SHIFTS}
        total = _counts(cells, [f"H72001_{suffix}"], place)[:, 0]
        both.append(Histogram(counties, _cells(tables, total, counties, f"{place}, {suffix}")))
    return both[0], both[1], vintage


def _items(table: str, suffix: str) -> list[str]:
    # a subtotal precedes each group of races with equally many letters, and a further subtotal
    # precedes the pairs
    first = [2 + len(race) + (len(race) > 1) + ITEM_SHIFTS[table] for race in RACES]
    return [f"{table}{item + number:03d}_{suffix}" for number, item in enumerate(first)]


def _cells(tables: dict[str, np.ndarray], total, counties, place: str) -> np.ndarray:
    everyone, not_hispanic, adults, both = (tables[name] for name in ("H72", "H73", "H74", "H75"))
    hispanic, hispanic_adults = everyone - not_hispanic, adults - both
    parts = [not_hispanic - both, both, hispanic - hispanic_adults, hispanic_adults]
    cells = np.stack(parts, axis=2).reshape(len(total), len(CELLS))
    wrong = (cells < 0).any(axis=1) | (cells.sum(axis=1) != total)
    if wrong.any():
        raise InputError(
            f"{place}: county {counties['fips'][wrong].iloc[0]}: Tables P8 to P11 contradict each "
            f"other. Download the file again."
        )
    return cells


def _counties(cells: pd.DataFrame, key: str, published: pd.DataFrame, place: str) -> pd.DataFrame:
    _check_columns(cells, [key], place)
    fips = read_fips(cells[key], key, place, ADVICE)
    known = published.set_index("fips")
    missing, unknown = known.index.difference(fips), pd.Index(fips).difference(known.index)
    doubled = fips.duplicated().sum()
    if len(missing) or len(unknown) or doubled:
        raise InputError(
            f"{place}: {len(missing)} counties are missing, {len(unknown)} are unknown and "
            f"{doubled} are repeated. {ADVICE}"
        )
    return known.loc[fips].reset_index()[["fips", "state", "county", "population"]]


def _check_columns(cells: pd.DataFrame, wanted: Sequence[str], place: str) -> None:
    missing = [name for name in wanted if name not in cells]
    if missing:
        raise InputError(f"{place}: line 1: column {missing[0]} is missing. {ADVICE}")


def _counts(cells: pd.DataFrame, columns: Sequence[str], place: str) -> np.ndarray:
    _check_columns(cells, columns, place)

    def where(number: int) -> str:
        row, column = divmod(number, len(columns))
        return f"{place}: line {cells.index[row]}, column {columns[column]}"

    # `counts_of` parses each distinct string once, and most counts are small
    every = pd.Series(cells[list(columns)].to_numpy().ravel())
    return counts_of(every, where, ADVICE).reshape(len(cells), len(columns))
