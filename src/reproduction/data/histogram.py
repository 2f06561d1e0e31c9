"""Published 2010 counts of each county by race, Hispanic origin and adulthood; group quarters.

The sources are Tables P8 to P11, P42 and H3 of Summary File 1. The name of a histogram cell has the
letters of the races (W White, B Black, I American Indian, A Asian, P Pacific islander, S some other
race), n or h (not Hispanic, Hispanic), and c or a (under 18, adult).
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
ADVICE = "take the file from the repository again"
# items of H72 (P8), H73 (P9), H74 (P10), H75 (P11) before the first race; P9 and P11 begin with
# the Hispanic total and the total of the others
ITEM_SHIFTS = {"H72": 0, "H73": 2, "H74": 0, "H75": 2}


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts of all counties."""

    counties: pd.DataFrame  # fips, state, county and population, one row per county
    counts: np.ndarray  # int64, shape (counties, 252), in the order of `CELLS`


def read_histogram(path, published: pd.DataFrame) -> Histogram:
    """Read the histogram of all counties; a blank is a zero.

    Raises InputError if the file is another table, if a county is missing or unknown, or if the
    cells of a county do not sum to its published population.
    """
    place, cells = Path(path).name, read_cells(path, MAX_HISTOGRAM_BYTES)
    counties = _counties(cells, "fips", published, place)
    counts = _counts(cells.replace("", "0"), CELLS, place)
    off = np.flatnonzero(counts.sum(axis=1) != counties["population"].to_numpy())
    if len(off):
        row = counties.iloc[off[0]]
        raise InputError(
            f"{place}: county {row['fips']}: the cells do not sum to the published population; "
            f"{ADVICE}"
        )
    return Histogram(counties, counts)


def read_group_quarters(path, published: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """Read the group quarters population of all counties by type, and the housing units.

    The first value has the counties with two more columns, housing_units and occupied. The second
    has the persons, int64 of shape (counties, 7), in the order of `QUARTERS_KINDS`. Raises
    InputError as `read_histogram` does, or if a county has more persons in group quarters than
    inhabitants, or more occupied units than units.
    """
    place, cells = Path(path).name, read_cells(path, MAX_HISTOGRAM_BYTES)
    counties = _counties(cells, "fips", published, place)
    people = _counts(cells, QUARTERS_KINDS, place)
    units, occupied = _counts(cells, ("housing_units", "occupied"), place).T
    over = (people.sum(axis=1) > counties["population"]) | (occupied > units)
    if over.any():
        raise InputError(
            f"{place}: county {counties['fips'][over].iloc[0]} has more people in group quarters "
            f"than inhabitants, or more occupied units than units; {ADVICE}"
        )
    return counties.assign(housing_units=units, occupied=occupied), people


def read_demonstration_histogram(path, published: pd.DataFrame) -> tuple[Histogram, Histogram, str]:
    """Derive both histograms of the demonstration data from its Tables P8 to P11.

    H72 to H75 count persons by race: all, not Hispanic, adult, and adult not Hispanic. The four
    cells of a race are differences of these counts. The first histogram is that of the
    privacy-protected microdata ("dp"), the second that of Summary File 1 ("sf"); the third value is
    the vintage. Raises InputError if the file is another table, a derived cell is negative, a sum
    disagrees with the file, or a county is missing.
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
    """List the columns of the 63 races.

    One subtotal precedes each number of races, and two precede the pairs.
    """
    first = [2 + len(race) + (len(race) > 1) + ITEM_SHIFTS[table] for race in RACES]
    return [f"{table}{place + at:03d}_{suffix}" for at, place in enumerate(first)]


def _cells(tables: dict[str, np.ndarray], total, counties, place: str) -> np.ndarray:
    everyone, not_hispanic, adults, both = (tables[name] for name in ("H72", "H73", "H74", "H75"))
    hispanic, hispanic_adults = everyone - not_hispanic, adults - both
    parts = [not_hispanic - both, both, hispanic - hispanic_adults, hispanic_adults]
    cells = np.stack(parts, axis=2).reshape(len(total), len(CELLS))
    wrong = (cells < 0).any(axis=1) | (cells.sum(axis=1) != total)
    if wrong.any():
        raise InputError(
            f"{place}: county {counties['fips'][wrong].iloc[0]}: Tables P8 to P11 contradict "
            f"each other; download the file again"
        )
    return cells


def _counties(cells: pd.DataFrame, key: str, published: pd.DataFrame, place: str) -> pd.DataFrame:
    """Find the counties by their codes; each must occur exactly once."""
    _check_columns(cells, [key], place)
    fips = read_fips(cells[key], key, place, ADVICE)
    known = published.set_index("fips")
    missing, unknown = known.index.difference(fips), pd.Index(fips).difference(known.index)
    doubled = fips.duplicated().sum()
    if len(missing) or len(unknown) or doubled:
        raise InputError(
            f"{place}: {len(missing)} counties are missing, {len(unknown)} are unknown and "
            f"{doubled} are repeated; {ADVICE}"
        )
    return known.loc[fips].reset_index()[["fips", "state", "county", "population"]]


def _check_columns(cells: pd.DataFrame, wanted: Sequence[str], place: str) -> None:
    missing = [name for name in wanted if name not in cells]
    if missing:
        raise InputError(f"{place}: line 1: column {missing[0]} is missing; {ADVICE}")


def _counts(cells: pd.DataFrame, columns: Sequence[str], place: str) -> np.ndarray:
    """Read the counts in some columns; int64, shape (rows, columns)."""
    _check_columns(cells, columns, place)

    def where(number: int) -> str:
        row, column = divmod(number, len(columns))
        return f"{place}: line {cells.index[row]}, column {columns[column]}"

    # parsed together, because most counts are small and occur many times
    every = pd.Series(cells[list(columns)].to_numpy().ravel())
    return counts_of(every, where, ADVICE).reshape(len(cells), len(columns))
