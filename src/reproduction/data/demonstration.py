"""The 2010 county counts: the published ones, and the Census Bureau's demonstration data.

The demonstration data are the IPUMS NHGIS Privacy-Protected 2010 Census Demonstration Data. They
put the counts of the privacy-protected microdata ("dp") beside those of Summary File 1 ("sf").
"""

from __future__ import annotations

import codecs
import csv
import fnmatch
import hashlib
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pandas as pd

from isdp.errors import InputError

LANDING_PAGE = "https://www.nhgis.org/privacy-protected-demonstration-data"
MEND = f"download the file again from {LANDING_PAGE} and give it as it comes"
MAX_BYTES = 200_000_000  # forty times the size of the genuine county file
LARGEST_COUNT = 10**9
LAST_VINTAGE_WITH_H7V001 = "20200527"
POPULATION_COLUMNS = ("H7V001", "H72001")
PUBLISHED_COLUMNS = ("fips", "usps", "name", "pop2010")
UNKNOWN_VINTAGE = "unknown"

_DRIVE = re.compile(r"[A-Za-z]:")
_FIPS = re.compile(r"[0-9]{5}")
_GISJOIN = re.compile(r"G([0-9]{2})0([0-9]{3})0")
_VINTAGE = re.compile(r"nhgis_ppdd_([0-9]{8})_county", re.IGNORECASE)
# what zipfile raises on archives that are damaged, encrypted or made by other rules
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    RuntimeError,
    OSError,
    ValueError,
    OverflowError,
)


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


# -- reading --------------------------------------------------------------------------------------


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
    path = Path(path)
    place = path.name
    rows = table_rows(decode_utf8(read_bytes(path, MAX_BYTES), place), place)
    _, header = next(rows)
    columns = {name: header.index(name) for name in PUBLISHED_COLUMNS if name in header}
    if len(columns) < len(PUBLISHED_COLUMNS):
        missing = " ".join(name for name in PUBLISHED_COLUMNS if name not in columns)
        raise InputError(f"{place}: line 1: there is no column {missing}; add it")
    lines: dict[str, int] = {}
    records = []
    for line, row in rows:
        fips, state, county, count = (row[columns[name]].strip() for name in PUBLISHED_COLUMNS)
        if not _FIPS.fullmatch(fips):
            raise InputError(
                f"{place}: line {line}: fips {shown(fips)} is not a county code of five digits; "
                f"correct it (a leading zero may have been lost)"
            )
        if fips in lines:
            raise InputError(
                f"{place}: line {line}: county {fips} stands on line {lines[fips]} already; "
                f"remove one of the two"
            )
        if not re.fullmatch("[A-Z]{2}", state):
            raise InputError(
                f"{place}: line {line}, county {fips}: usps {shown(state)} is not a state code of "
                f"two capitals; correct it"
            )
        if not county:
            raise InputError(f"{place}: line {line}, county {fips}: the name is empty; fill it in")
        lines[fips] = line
        where = f"{place}: line {line}, county {plain(county)} ({fips}), column pop2010"
        records.append((fips, state, county, whole_count(count, where, "correct it")))
    if not records:
        raise InputError(f"{place}: there is no county below the header; give the whole table")
    table = pd.DataFrame(records, columns=["fips", "state", "county", "population"])
    return table.astype({"population": "int64"})


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
        If the file is missing, empty, too large, a web page, a damaged or unsafe archive, an
        archive without exactly one county table, a table without the columns or cut short, if a
        count is not a whole number from 0 up, or if the vintage in a name and the population
        column (or the two names) disagree.

    See Also
    --------
    check_demonstration : whether these are all counties, and the right ones.
    """
    path = Path(path)
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
    return Demonstration(counties, vintage, population_column, path.name, sha256)


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
    if content.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        member, table = _county_member(content, path.name)
        place = f"{path.name}: {PurePosixPath(member).name}"
    else:
        member, table, place = path.name, content, path.name
    text = _decode(table, place)
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        raise InputError(f"{place}: this is a web page, not data; {MEND}")
    vintage = _vintage(member, path.name)
    return text, place, vintage


def expected_population_column(vintage: str) -> str:
    """Name the column of the total population in files of a vintage (eight digits)."""
    return POPULATION_COLUMNS[vintage > LAST_VINTAGE_WITH_H7V001]


def read_bytes(path, limit: int) -> bytes:
    """Read a file of at most `limit` bytes that is neither missing nor empty.

    Raises
    ------
    InputError
        If it is missing, no file, unreadable, empty or larger.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; give the path of one") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); give a file") from None
    if len(content) > limit:
        raise InputError(
            f"{path.name}: larger than {limit:,} bytes, so not what is wanted; check the file"
        )
    if not content.strip():
        raise InputError(f"{path.name}: the file is empty; put the whole file in its place")
    return content


def decode_utf8(content: bytes, place: str) -> str:
    """Decode UTF-8 with or without a byte order mark.

    Raises
    ------
    InputError
        If it is something else.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{place}: line {line}: not in UTF-8; save the file as UTF-8") from None


def table_rows(text: str, place: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of each row of a CSV text, the header first.

    Blank lines are left out. The line is the one on which the row ends.

    Raises
    ------
    InputError
        If a row has not as many cells as the header, or the text is no CSV.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    try:
        for row in reader:
            if not row:
                continue
            if header is None:
                header = row
            elif len(row) != len(header):
                raise InputError(
                    f"{place}: line {reader.line_num}: {len(row)} cells under a header of "
                    f"{len(header)}; the file is damaged or cut short: get it again"
                )
            yield reader.line_num, row
    except csv.Error as error:
        raise InputError(
            f"{place}: line {reader.line_num}: not a CSV table ({error}); get the file again"
        ) from None
    if header is None:
        raise InputError(f"{place}: the file is empty; put the whole file in its place")


def whole_count(cell: str, where: str, mend: str) -> int:
    """Turn the text of a cell into a count.

    Raises
    ------
    InputError
        If it is anything else than a whole number from 0 to 10^9.
    """
    digits = cell.strip()
    if digits.isascii() and digits.isdigit():
        significant = digits.lstrip("0") or "0"
        if len(significant) <= len(str(LARGEST_COUNT)) and int(significant) <= LARGEST_COUNT:
            return int(significant)
        problem = f"{shown(digits)} is more than {LARGEST_COUNT:,} persons"
    elif not digits:
        problem = "the count is missing"
    elif re.fullmatch(r"-[0-9]+(\.[0-9]*)?", digits):
        problem = f"{shown(digits)} is negative"
    elif re.fullmatch(r"[0-9]*\.[0-9]*", digits):
        problem = f"{shown(digits)} is fractional"
    else:
        problem = f"{shown(digits)} is not a whole number"
    raise InputError(f"{where}: {problem}; {mend}")


def plain(text: str) -> str:
    """Put a text from a file on one line that is not too long."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."


def shown(text: str) -> str:
    """Quote a text from a file, on one line."""
    return repr(plain(text))


def _county_member(content: bytes, place: str) -> tuple[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            _refuse_unsafe(members, place)
            member = _only_county_table(members, place)
            if member.flag_bits & 0x1:
                raise InputError(f"{place}: {shown(member.filename)} is encrypted; {MEND}")
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise InputError(f"{place}: {shown(member.filename)} is packed oddly; {MEND}")
            with archive.open(member) as file:
                table = file.read(MAX_BYTES + 1)
    except InputError:
        raise
    except _UNREADABLE as error:
        raise InputError(
            f"{place}: the zip archive is damaged or cut short ({plain(str(error))}); {MEND}"
        ) from error
    if len(table) > MAX_BYTES:
        raise InputError(f"{place}: unpacks to more than {MAX_BYTES:,} bytes; {MEND}")
    return member.filename, table


def _refuse_unsafe(members: list[zipfile.ZipInfo], place: str) -> None:
    for member in members:
        name = member.orig_filename
        climbs = ".." in PurePosixPath(name).parts
        if name.startswith("/") or climbs or "\\" in name or _DRIVE.match(name):
            raise InputError(
                f"{place}: member {shown(name)} has a path that leads out of the archive; {MEND}"
            )
    if sum(member.file_size for member in members) > MAX_BYTES:
        raise InputError(f"{place}: unpacks to more than {MAX_BYTES:,} bytes; {MEND}")


def _only_county_table(members: list[zipfile.ZipInfo], place: str) -> zipfile.ZipInfo:
    found = []
    for member in members:
        name = PurePosixPath(member.filename).name.lower()
        # macOS puts a companion "._name" beside each file that it packs
        if fnmatch.fnmatchcase(name, "*county*.csv") and not name.startswith("._"):
            found.append(member)
    if len(found) != 1:
        listing = ", ".join(plain(member.filename) for member in members[:10]) or "nothing"
        more = f" and {len(members) - 10} more" if len(members) > 10 else ""
        raise InputError(
            f"{place}: wanted one member like *county*.csv, found {len(found)}; there is "
            f"{listing}{more}; give the county file"
        )
    return found[0]


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
    rows = table_rows(text, place)
    _, header = next(rows)
    key, name, dp, sf, population_column = _needed_columns(header, place)
    is_gisjoin = header[key].strip().lower() == "gisjoin"
    records = []
    for line, row in rows:
        fips = fips_of(row[key].strip(), is_gisjoin, f"{place}: line {line}")
        county = row[name].strip()
        where = f"{place}: line {line}, county {plain(county)} ({fips}), column "
        counts = (whole_count(row[column], where + header[column], MEND) for column in (dp, sf))
        records.append((fips, county, *counts))
    if not records:
        raise InputError(f"{place}: there is no county below the header; {MEND}")
    counties = pd.DataFrame(records, columns=["fips", "county", "dp", "sf"])
    return counties.astype({"dp": "int64", "sf": "int64"}), population_column


def _needed_columns(header: list[str], place: str) -> tuple[int, int, int, int, str]:
    """Positions of the key, the name and the two counts, and the population column's name."""
    names = [column.strip().lower() for column in header]
    pairs = [f"{stem}_dp and {stem}_sf" for stem in POPULATION_COLUMNS]
    found = [
        stem
        for stem in POPULATION_COLUMNS
        if {f"{stem}_dp".lower(), f"{stem}_sf".lower()} <= set(names)
    ]
    key = next((column for column in ("gisjoin", "fips") if column in names), None)
    if key is None:
        raise InputError(f"{place}: line 1: there is no column gisjoin or fips; {MEND}")
    if "name" not in names:
        raise InputError(f"{place}: line 1: there is no column name; {MEND}")
    if not found:
        raise InputError(
            f"{place}: line 1: the population is missing: no columns {', or '.join(pairs)}; {MEND}"
        )
    if len(found) > 1:
        raise InputError(
            f"{place}: line 1: two populations where a file has one: {', and '.join(pairs)}; {MEND}"
        )
    wanted = [key, "name", f"{found[0]}_dp".lower(), f"{found[0]}_sf".lower()]
    for column in wanted:
        if names.count(column) > 1:
            raise InputError(f"{place}: line 1: column {column} stands there twice; {MEND}")
    return (*map(names.index, wanted), found[0])


def fips_of(cell: str, is_gisjoin: bool, where: str) -> str:
    """Read a county's code of five digits, as it is or from a GISJOIN code.

    Raises
    ------
    InputError
        If the cell is neither.
    """
    if is_gisjoin:
        match = _GISJOIN.fullmatch(cell)
        if not match:
            raise InputError(
                f"{where}, column gisjoin: {shown(cell)} is not of the form GSS0CCC0; {MEND}"
            )
        return match.group(1) + match.group(2)
    if not _FIPS.fullmatch(cell):
        raise InputError(
            f"{where}, column fips: {shown(cell)} is not a county code of five digits (a leading "
            f"zero may have been lost); {MEND}"
        )
    return cell


# -- checking -------------------------------------------------------------------------------------


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
            f"{place}: county {plain(first['county'])} ({first['fips']}), column "
            f"{demonstration.population_column}_sf: {first['sf']} is not the published count of "
            f"{known.loc[first['fips'], 'population']}; {MEND}"
        )
    states = counties["fips"].map(known["state"])
    totals = counties.groupby(states, sort=False)[["dp", "sf"]].sum()
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
    names = [f"{plain(c)} ({f})" for c, f in zip(first["county"], first["fips"], strict=True)]
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
