"""The published 2010 population of all counties."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from isdp.errors import InputError
from isdp.io.csv_files import (
    check_cells,
    check_unique,
    counts_of,
    on_one_line,
    read_cells,
)

COLUMNS = ["fips", "usps", "name", "pop2010"]
FIPS = "[0-9]{5}"
KEYS = {  # columns that name a county: how their cells look, and what is wrong with others
    "fips": (FIPS, "is not a county code of five digits (a leading zero may have been lost)"),
    "gisjoin": ("G[0-9]{2}0[0-9]{3}0", "is not of the form GSS0CCC0"),
}


def read_published(path) -> pd.DataFrame:
    """Read the published 2010 population of all counties and Puerto Rico municipios.

    Parameters
    ----------
    path : path-like
        A CSV file in UTF-8 with the columns fips, usps, name and pop2010; others are ignored.

    Returns
    -------
    DataFrame
        Columns fips (str of 5 digits), state (two capitals), county (name) and population (int64,
        persons), one row a county in the order of the file.

    Raises
    ------
    InputError
        If the file is missing, empty or no such table, or a row is no county with a count: a
        malformed or doubled FIPS code, a missing name, a negative, fractional or missing count.

    Notes
    -----
    Source: United States Census Bureau, 2010 Census, Summary File 1.
    """
    place = Path(path).name
    cells = read_cells(path)
    missing = [name for name in COLUMNS if name not in cells]
    if missing:
        raise InputError(f"{place}: line 1: there is no column {' '.join(missing)}; add it")
    if cells.empty:
        raise InputError(f"{place}: there is no county below the header; give the whole table")
    fips = fips_of(cells["fips"], "fips", place, "correct it")
    check_unique(fips, "county", place)

    def county(line: int) -> str:
        return f"{place}: line {line}, county {on_one_line(cells['name'][line])} ({fips[line]})"

    for column, pattern, problem in (
        ("usps", "[A-Z]{2}", "is not a state code of two capitals"),
        ("name", "(?s).+", "is no name: the name is empty"),
    ):
        check_cells(
            cells[column],
            pattern,
            problem,
            lambda line, c=column: f"{county(line)}, {c}",
            "mend it",
        )
    counts = counts_of(
        cells["pop2010"], lambda line: f"{county(line)}, column pop2010", "correct it"
    )
    table = cells[["fips", "usps", "name"]].astype("str").reset_index(drop=True)
    table = table.set_axis(["fips", "state", "county"], axis=1)
    return table.assign(population=counts)


def fips_of(cells: pd.Series, key: str, place: str, mend: str) -> pd.Series:
    """Read the counties' codes of five digits.

    Parameters
    ----------
    cells : Series of str
        Indexed by line.
    key : str
        What they are: "fips" or "gisjoin".
    place, mend : str
        What messages call the file, and what they say to do.

    Returns
    -------
    Series of str
        The codes, with the index of `cells`.

    Raises
    ------
    InputError
        At the first cell that is no such code.
    """
    pattern, problem = KEYS[key]
    check_cells(cells, pattern, problem, lambda line: f"{place}: line {line}, column {key}", mend)
    return cells if key == "fips" else cells.str[1:3] + cells.str[4:7]
