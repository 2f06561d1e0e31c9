"""The Census Bureau's demonstration data of 2010: counts with and without privacy protection.

The IPUMS NHGIS Privacy-Protected 2010 Census Demonstration Data put the counts of the
privacy-protected microdata ("dp") beside those of Summary File 1 ("sf").
"""

from __future__ import annotations

import codecs
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pandas as pd

from isdp.errors import InputError
from isdp.io.counts import MAX_BYTES, cells_of, counts_of, on_one_line, read_bytes
from reproduction.data.archive import SIGNATURES, county_member
from reproduction.data.published import fips_of

LANDING_PAGE = "https://www.nhgis.org/privacy-protected-demonstration-data"
MEND = f"download the file again from {LANDING_PAGE} and give it as it comes"
LAST_VINTAGE_WITH_H7V001 = "20200527"
POPULATION_COLUMNS = ("H7V001", "H72001")
UNKNOWN_VINTAGE = "unknown"

_VINTAGE = re.compile(r"nhgis_ppdd_([0-9]{8})_county", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Demonstration:
    """Demonstration data of the counties, as read from one file.

    Attributes
    ----------
    counties : DataFrame
        One row a county in the order of the file: fips (str of 5 digits), county (its name), dp
        (int64, persons in the privacy-protected microdata) and sf (int64, persons in Summary
        File 1).
    vintage : str
        Eight digits, or "unknown" where no file name tells it.
    population_column : str
        "H7V001" or "H72001": the column of the total population, without its suffix.
    file_name : str
        Name of the file, without its folder.
    sha256 : str
        Of the file as it lies on disk, zipped or not; 64 hexadecimal digits.
    """

    counties: pd.DataFrame
    vintage: str
    population_column: str
    file_name: str
    sha256: str


def read_demonstration(path) -> Demonstration:
    """Read the counties' total population from a file of the demonstration data.

    What the file is, a zip archive or a CSV table, is told by its first bytes and not by its
    name. Nothing is unpacked to disk.

    Parameters
    ----------
    path : path-like
        The county file of NHGIS as downloaded, or the CSV file in it. Its key is the column
        gisjoin ("G", state, "0", county, "0") or else a column fips of five digits. The text may
        be UTF-8 or Latin-1.

    Returns
    -------
    Demonstration

    Raises
    ------
    InputError
        If the file is missing, empty, too large, a web page, a damaged archive, an
        archive without exactly one county table, a table without the columns or cut short, if a
        count is not a whole number from 0 up, or if the vintage in a name and the population
        column (or the two names) disagree.

    See Also
    --------
    check_demonstration : whether these are all counties, and the right ones.
    """
    text, place, vintage = county_text(path)
    counties, population_column = _parse(text, place)
    if vintage != UNKNOWN_VINTAGE:
        expected = expected_population_column(vintage)
        if population_column != expected:
            raise InputError(
                f"{place}: line 1: the name says vintage {vintage}, whose population column is "
                f"{expected}, but the content has {population_column}; {MEND}, under its own name"
            )
    sha256 = hashlib.sha256(read_bytes(path, MAX_BYTES)).hexdigest()
    return Demonstration(counties, vintage, population_column, Path(path).name, sha256)


def county_text(path) -> tuple[str, str, str]:
    """Read the text of the county table from a file of the demonstration data.

    Returns
    -------
    text : str
    place : str
        Name of the file, and of the table in it, for messages.
    vintage : str
        Eight digits, or "unknown".

    Raises
    ------
    InputError
        As `read_demonstration`, for what concerns the file and not the table in it.
    """
    path = Path(path)
    content = read_bytes(path, MAX_BYTES)
    if content.startswith(SIGNATURES):
        member, table = county_member(content, path.name, MAX_BYTES, MEND)
        place = f"{path.name}: {PurePosixPath(member).name}"
    else:
        member, table, place = path.name, content, path.name
    text = _decode(table, place)
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        raise InputError(f"{place}: this is a web page, not data; {MEND}")
    return text, place, _vintage(member, path.name)


def expected_population_column(vintage: str) -> str:
    """Column of the total population in files of a vintage (eight digits), without its suffix."""
    return POPULATION_COLUMNS[vintage > LAST_VINTAGE_WITH_H7V001]


def _decode(content: bytes, place: str) -> str:
    if b"\0" in content:
        raise InputError(f"{place}: neither a zip archive nor a text; {MEND}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.removeprefix(codecs.BOM_UTF8).decode("latin-1")


def _vintage(member: str, file_name: str) -> str:
    named = [match.group(1) for match in map(_VINTAGE.search, (member, file_name)) if match]
    if not named:
        return UNKNOWN_VINTAGE
    if len(set(named)) > 1:
        raise InputError(
            f"{file_name}: the archive's name says vintage {named[1]}, the table in it "
            f"{named[0]}; give the file under its own name"
        )
    return named[0]


def _parse(text: str, place: str) -> tuple[pd.DataFrame, str]:
    """Counties of a table, and its population column."""
    cells = cells_of(text, place)
    key, population = _key_and_population(cells, place)
    if cells.empty:
        raise InputError(f"{place}: there is no county below the header; {MEND}")
    fips = fips_of(cells[key], key, place, MEND)
    counties = {"fips": fips.astype("str"), "county": cells["name"].astype("str")}
    for kind in ("dp", "sf"):
        column = f"{population}_{kind}"

        def where(line: int, column: str = column) -> str:
            county = f"{on_one_line(cells['name'][line])} ({fips[line]})"
            return f"{place}: line {line}, county {county}, column {column}"

        counties[kind] = counts_of(cells[column.lower()], where, MEND)
    return pd.DataFrame(counties).reset_index(drop=True), population


def _key_and_population(cells: pd.DataFrame, place: str) -> tuple[str, str]:
    """Columns of the counties' codes and of the population; all names go to small letters."""
    cells.columns = [name.strip().lower() for name in cells]
    pairs = {stem: [f"{stem}_dp".lower(), f"{stem}_sf".lower()] for stem in POPULATION_COLUMNS}
    found = [stem for stem, columns in pairs.items() if {*columns} <= {*cells}]
    key = next((column for column in ("gisjoin", "fips") if column in cells), None)
    both = [f"{stem}_dp and {stem}_sf" for stem in POPULATION_COLUMNS]
    problem = ""
    if key is None:
        problem = "there is no column gisjoin or fips"
    elif "name" not in cells:
        problem = "there is no column name"
    elif not found:
        problem = f"the population is missing: no columns {', or '.join(both)}"
    elif len(found) > 1:
        problem = f"two populations where a file has one: {', and '.join(both)}"
    elif cells[[key, "name", *pairs[found[0]]]].shape[1] != 4:
        problem = "a column stands there twice, in large and small letters"
    if problem:
        raise InputError(f"{place}: line 1: {problem}; {MEND}")
    return key, found[0]


def check_demonstration(demonstration: Demonstration, published: pd.DataFrame) -> None:
    """Check demonstration data against the published counts.

    In every genuine file each county is there once, "sf" is its published count, and each state's
    total is the same in "dp" and "sf", because the state totals are an invariant of the Census DAS.

    Parameters
    ----------
    demonstration : Demonstration
        From `read_demonstration`.
    published : DataFrame
        From `read_published`.

    Raises
    ------
    InputError
        If one of these does not hold; the message names the first offender in the file.
    """
    place = demonstration.file_name
    counties = demonstration.counties
    _check_complete(counties, published, place)
    known = published.set_index("fips")
    counted = counties["fips"].map(known["population"])
    differs = counties["sf"] != counted
    if differs.any():
        first = counties[differs].iloc[0]
        raise InputError(
            f"{place}: county {on_one_line(first['county'])} ({first['fips']}), column "
            f"{demonstration.population_column}_sf: {first['sf']} is not the published count of "
            f"{known.loc[first['fips'], 'population']}; {MEND}"
        )
    states = counties["fips"].map(known["state"])
    totals = counties.groupby(states)[["dp", "sf"]].sum()
    unequal = totals[totals["dp"] != totals["sf"]]
    if len(unequal):
        state, total = unequal.index[0], unequal.iloc[0]
        raise InputError(
            f"{place}: state {state}, columns {demonstration.population_column}_dp and _sf: the "
            f"totals {total['dp']} and {total['sf']} differ, but a state's total is kept exactly "
            f"in genuine data; {MEND}"
        )


def _check_complete(counties: pd.DataFrame, published: pd.DataFrame, place: str) -> None:
    doubled = counties[counties["fips"].duplicated()]
    if len(doubled):
        raise InputError(f"{place}: {_some(doubled)}: stands there more than once; {MEND}")
    unknown = counties[~counties["fips"].isin(published["fips"])]
    if len(unknown):
        raise InputError(f"{place}: {_some(unknown)}: not among the published counts; {MEND}")
    missing = published[~published["fips"].isin(counties["fips"])]
    if len(missing):
        raise InputError(
            f"{place}: {len(missing)} of {len(published)} counties are missing: {_some(missing)}; "
            f"an extract will not do, the whole file is needed: {MEND}"
        )


def _some(counties: pd.DataFrame) -> str:
    first = counties.head(3)
    names = [f"{on_one_line(c)} ({f})" for c, f in zip(first["county"], first["fips"], strict=True)]
    more = f" and {len(counties) - 3} more" if len(counties) > 3 else ""
    return ("county " if len(counties) == 1 else "counties ") + ", ".join(names) + more


def county_table(
    published: pd.DataFrame, demonstration: Demonstration | None = None
) -> pd.DataFrame:
    """Put the published count and the DAS error of each county in one table.

    Parameters
    ----------
    published : DataFrame
        From `read_published`.
    demonstration : Demonstration, optional
        From `read_demonstration`, checked by `check_demonstration`.

    Returns
    -------
    DataFrame
        Columns fips, state, county, population (int64, persons) and das_error (Int64, persons:
        dp - sf; missing everywhere without demonstration data), in the order of `published`.
    """
    table = published[["fips", "state", "county", "population"]].copy()
    if demonstration is None:
        table["das_error"] = pd.array([pd.NA] * len(table), dtype="Int64")
        return table
    counties = demonstration.counties.set_index("fips")
    errors = (counties["dp"] - counties["sf"]).astype("Int64")
    table["das_error"] = errors.reindex(table["fips"]).array
    return table
