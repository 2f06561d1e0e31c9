"""Published 2010 population of all counties."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from isdp.errors import InputError
from isdp.io.csv_files import check_cells, check_unique, counts_of, on_one_line, read_cells

PUBLISHED_COLUMNS = ["fips", "usps", "name", "pop2010"]
FIPS_PATTERN = "[0-9]{5}"
ADVICE = "Correct the file."
KEY_PATTERNS = {  # each key column with the pattern of its cells, and the problem of other cells
    "fips": (FIPS_PATTERN, "is not a county code of five digits (is a leading zero missing?)"),
    "gisjoin": ("G[0-9]{2}0[0-9]{3}0", "is not of the form GSS0CCC0"),
}


def read_published(path) -> pd.DataFrame:
    """Read the published 2010 population of all counties and Puerto Rico municipios.

    The file is a CSV table in UTF-8 with the columns `PUBLISHED_COLUMNS`, and may have other
    columns. Its source is Summary File 1 of the 2010 Census. The result has the columns fips,
    state, county and population (int64, persons), in the order of the file. Raises InputError if a
    column or a name is missing, or a code is malformed or repeated. It also raises InputError if a
    count is not a whole number of 0 or more.
    """
    place = Path(path).name
    cells = read_cells(path)
    missing = [name for name in PUBLISHED_COLUMNS if name not in cells]
    if missing:
        raise InputError(f"{place}: line 1: column {' '.join(missing)} is missing. Add it.")
    if cells.empty:
        raise InputError(f"{place}: there are no counties below the header. Give the whole table.")
    fips = read_fips(cells["fips"], "fips", place, ADVICE)
    check_unique(fips, "county", place)
    for column, pattern, problem in (
        ("usps", "[A-Z]{2}", "is not a state code of two capital letters"),
        ("name", "(?s).+", "is empty"),
    ):
        where = build_place(cells["name"], fips, place, column)
        check_cells(cells[column], pattern, problem, where, ADVICE)
    where = build_place(cells["name"], fips, place, "pop2010")
    counts = counts_of(cells["pop2010"], where, ADVICE)
    table = cells[["fips", "usps", "name"]].astype("str").reset_index(drop=True)
    return table.set_axis(["fips", "state", "county"], axis=1).assign(population=counts)


def select_counties(counties: pd.DataFrame, state: str) -> pd.DataFrame:
    """Select the counties of one state, sorted by population and then by FIPS code."""
    rows = counties[counties["state"] == state]
    if rows.empty:
        known = " ".join(sorted(counties["state"].unique()))
        raise InputError(f"counties: {state!r} is not a known state. Choose from {known}.")
    return rows.sort_values(["population", "fips"], ignore_index=True)


def build_place(names: pd.Series, fips: pd.Series, place: str, column: str) -> Callable[[int], str]:
    """Return a function that describes a cell in messages by file, line, county and column."""
    return lambda line: (
        f"{place}: line {line}, county {on_one_line(names[line])} ({fips[line]}), column {column}"
    )


def read_fips(cells: pd.Series, key: str, place: str, advice: str) -> pd.Series:
    """Read the five-digit codes of the counties from a column of `KEY_PATTERNS`.

    The result is indexed by the lines of the file. Raises InputError if a code is malformed. The
    message ends with `advice`.
    """
    pattern, problem = KEY_PATTERNS[key]
    check_cells(cells, pattern, problem, lambda line: f"{place}: line {line}, column {key}", advice)
    return cells if key == "fips" else cells.str[1:3] + cells.str[4:7]
