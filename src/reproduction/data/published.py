"""Published 2010 population of all counties."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from isdp.errors import InputError
from isdp.io.csv_files import check_cells, check_unique, counts_of, on_one_line, read_cells

PUBLISHED_COLUMNS = ["fips", "usps", "name", "pop2010"]
FIPS_PATTERN = "[0-9]{5}"
KEY_PATTERNS = {  # key columns: pattern, and message for other cells
    "fips": (
        FIPS_PATTERN,
        "is not a county code of five digits (a leading zero may have been lost)",
    ),
    "gisjoin": ("G[0-9]{2}0[0-9]{3}0", "is not of the form GSS0CCC0"),
}


def read_published(path) -> pd.DataFrame:
    """Read the published 2010 population of all counties and Puerto Rico municipios.

    The file is a CSV table in UTF-8 with the columns fips, usps, name and pop2010; other columns
    are ignored. Its source is the 2010 Census, Summary File 1. The result has the columns fips,
    state, county and population (int64, persons), in the order of the file. Raises InputError for a
    malformed or repeated FIPS code, a missing name, or a count that is negative, fractional or
    missing.
    """
    place = Path(path).name
    cells = read_cells(path)
    missing = [name for name in PUBLISHED_COLUMNS if name not in cells]
    if missing:
        raise InputError(f"{place}: line 1: column {' '.join(missing)} is missing; add it")
    if cells.empty:
        raise InputError(f"{place}: no counties below the header; give the whole table")
    fips = read_fips(cells["fips"], "fips", place, "correct it")
    check_unique(fips, "county", place)
    for column, pattern, problem in (
        ("usps", "[A-Z]{2}", "is not a state code of two capitals"),
        ("name", "(?s).+", "is empty"),
    ):
        where = build_place(cells["name"], fips, place, column)
        check_cells(cells[column], pattern, problem, where, "correct it")
    where = build_place(cells["name"], fips, place, "pop2010")
    counts = counts_of(cells["pop2010"], where, "correct it")
    table = cells[["fips", "usps", "name"]].astype("str").reset_index(drop=True)
    return table.set_axis(["fips", "state", "county"], axis=1).assign(population=counts)


def select_counties(counties: pd.DataFrame, state: str) -> pd.DataFrame:
    """Select the counties of one state, by increasing population and then FIPS code."""
    rows = counties[counties["state"] == state]
    if rows.empty:
        known = " ".join(sorted(counties["state"].unique()))
        raise InputError(f"counties: {state!r} is not a known state; choose from {known}")
    return rows.sort_values(["population", "fips"], ignore_index=True)


def build_place(names: pd.Series, fips: pd.Series, place: str, column: str) -> Callable[[int], str]:
    """Return a function that names the file, line, county and column of a cell for messages."""
    return lambda line: (
        f"{place}: line {line}, county {on_one_line(names[line])} ({fips[line]}), column {column}"
    )


def read_fips(cells: pd.Series, key: str, place: str, advice: str) -> pd.Series:
    """Read the counties' five-digit codes from a column of `KEY_PATTERNS`, indexed by line.

    Raises InputError for the first malformed code; the message names the file and ends with the
    advice.
    """
    pattern, problem = KEY_PATTERNS[key]
    check_cells(cells, pattern, problem, lambda line: f"{place}: line {line}, column {key}", advice)
    return cells if key == "fips" else cells.str[1:3] + cells.str[4:7]
