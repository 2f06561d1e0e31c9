"""Demonstration data of the 2010 Census: counts with and without privacy protection.

The source is the Privacy-Protected 2010 Census Demonstration Data of IPUMS NHGIS. Columns that end
in "dp" contain the counts of the privacy-protected microdata. Columns that end in "sf" contain the
counts of Summary File 1.
"""

import codecs
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pandas as pd
import pooch

from isdp.errors import InputError
from isdp.io.csv_files import cells_of, counts_of, on_one_line
from isdp.io.files import MAX_BYTES, read_bytes
from reproduction.data.published import build_place, read_fips

LANDING_PAGE = "https://www.nhgis.org/privacy-protected-demonstration-data"
ADVICE = f"Download the file again from {LANDING_PAGE} and use it unchanged."
LAST_VINTAGE_WITH_H7V001 = "20200527"
POPULATION_COLUMNS = ("H7V001", "H72001")
UNKNOWN_VINTAGE = "unknown"


@dataclass(frozen=True, eq=False)
class Demonstration:
    """Demonstration data of all counties, read from one file."""

    counties: pd.DataFrame  # columns fips, county (the name), dp and sf (int64, persons)
    vintage: str  # eight digits, or UNKNOWN_VINTAGE if no file name contains them
    population_column: str  # the item of total population, one of POPULATION_COLUMNS
    file_name: str
    sha256: str


def read_demonstration(path) -> Demonstration:
    """Read the total population of the counties from a file of demonstration data.

    The file is the county file of NHGIS as downloaded (zip), or the CSV file in it. The column
    gisjoin ("G", state, "0", county, "0") identifies the counties. If it is missing, the column
    fips (five digits) identifies them. Raises InputError in the cases of `read_county_text`, and if
    a column or all rows are missing. It also raises InputError if a count is not a whole number of
    0 or more, or the population column belongs to another vintage.
    """
    text, place, vintage = read_county_text(path)
    cells = cells_of(text, place)
    cells.columns = [name.strip().lower() for name in cells]
    key = next((column for column in ("gisjoin", "fips") if column in cells), "gisjoin or fips")
    expected = POPULATION_COLUMNS
    if vintage != UNKNOWN_VINTAGE:
        expected = (POPULATION_COLUMNS[vintage > LAST_VINTAGE_WITH_H7V001],)
    found = [stem for stem in POPULATION_COLUMNS if f"{stem}_dp".lower() in cells]
    if len(found) != 1 or found[0] not in expected:
        raise InputError(
            f"{place}: line 1: expected the population of vintage {vintage} in the columns "
            f"{' or '.join(f'{stem}_dp and {stem}_sf' for stem in expected)}, found "
            f"{' and '.join(f'{stem}_dp' for stem in found) or 'none'}. {ADVICE}"
        )
    (population,) = found
    for column in (key, "name", f"{population}_dp", f"{population}_sf"):
        if list(cells).count(column.lower()) != 1:
            raise InputError(f"{place}: line 1: expected exactly one column {column}. {ADVICE}")
    if cells.empty:
        raise InputError(f"{place}: there are no counties below the header. {ADVICE}")
    fips = read_fips(cells[key], key, place, ADVICE)
    counties = {"fips": fips.astype("str"), "county": cells["name"].astype("str")}
    for kind in ("dp", "sf"):
        column = f"{population}_{kind}"
        where = build_place(cells["name"], fips, place, column)
        counties[kind] = counts_of(cells[column.lower()], where, ADVICE)
    table = pd.DataFrame(counties).reset_index(drop=True)
    return Demonstration(table, vintage, population, Path(path).name, pooch.file_hash(str(path)))


def read_county_text(path) -> tuple[str, str, str]:
    """Read a county table. Return its text, its name for messages, and its vintage.

    The content of the file, not its name, determines whether it is a zip archive or a CSV table.
    The text may be encoded in UTF-8 or Latin-1. Raises InputError if the file is a web page, a
    damaged archive, or an archive that does not contain exactly one county table. It also raises
    InputError if the names of an archive and its table give different vintages.
    """
    path = Path(path)
    content = read_bytes(path, MAX_BYTES)
    place = path.name
    if content.startswith(b"PK"):
        member, content = _unzipped(path)
        place = f"{path.name}: {PurePosixPath(member).name}"
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    if text.lstrip().startswith("<"):
        raise InputError(f"{place}: this file is a web page, not data. {ADVICE}")
    found = re.findall("nhgis_ppdd_([0-9]{8})_county", place, re.IGNORECASE)
    if len(set(found)) > 1:
        raise InputError(
            f"{place}: the name of the archive gives vintage {found[0]}, and the name of the table "
            f"in it gives {found[1]}. Rename the file as NHGIS named it."
        )
    return text, place, found[0] if found else UNKNOWN_VINTAGE


def _unzipped(path: Path) -> tuple[str, bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            # macOS adds a companion file "._name" to each file
            name = re.compile(r"(.*/)?(?!\._)[^/]*county[^/]*\.csv", re.IGNORECASE)
            tables = [each for each in archive.infolist() if name.fullmatch(each.filename)]
            content = b""
            if len(tables) == 1:
                with archive.open(tables[0]) as file:
                    content = file.read(MAX_BYTES + 1)
    except Exception as error:  # damaged archives raise errors of many types
        raise InputError(
            f"{path.name}: the zip archive is damaged, incomplete or encrypted "
            f"({on_one_line(str(error))}). {ADVICE}"
        ) from error
    if len(tables) != 1:
        raise InputError(
            f"{path.name}: expected one file *county*.csv in the archive, found {len(tables)} "
            f"among {on_one_line(' '.join(archive.namelist()))!r}. {ADVICE}"
        )
    if len(content) > MAX_BYTES:
        raise InputError(
            f"{path.name}: the table exceeds {MAX_BYTES:,} bytes when unpacked. {ADVICE}"
        )
    return tables[0].filename, content


def check_demonstration(demonstration: Demonstration, published: pd.DataFrame) -> None:
    """Check demonstration data against the published counts.

    In every genuine file each county has one row, and its "sf" count is its published count. The
    total of each state is the same in "dp" and "sf", because state totals are invariants of the
    Census DAS (Disclosure Avoidance System). Raises InputError, naming the first county or state
    that fails the check.
    """
    place, column = demonstration.file_name, demonstration.population_column
    counties = demonstration.counties.merge(
        published, on="fips", how="outer", suffixes=("", "_published"), indicator="source"
    )
    counties["county"] = counties["county"].fillna(counties["county_published"])
    for wrong, problem in (
        (counties["fips"].duplicated(), "is listed more than once"),
        (counties["source"] == "left_only", "is not in the published counts"),
        (counties["source"] == "right_only", "is missing"),
        (
            counties["sf"] != counties["population"],
            f"column {column}_sf differs from the published count",
        ),
    ):
        if wrong.any():
            first = counties[wrong].iloc[0]
            county = f"{on_one_line(first['county'])} ({first['fips']})"
            others = f" and {wrong.sum() - 1} more" if wrong.sum() > 1 else ""
            raise InputError(f"{place}: county {county}{others}: {problem}. {ADVICE}")
    totals = counties.groupby("state")[["dp", "sf"]].sum()
    unequal = totals.index[totals["dp"] != totals["sf"]]
    if len(unequal):
        raise InputError(
            f"{place}: state {unequal[0]}: the totals of the columns {column}_dp and {column}_sf "
            f"differ. Genuine data keep the total of every state. {ADVICE}"
        )


def build_county_table(
    published: pd.DataFrame, demonstration: Demonstration | None = None
) -> pd.DataFrame:
    """Combine the published count and the DAS error of each county in one table.

    The column das_error (Int64, persons) is dp - sf of checked demonstration data. It is missing if
    there are no demonstration data. The rows keep the order of `published`.
    """
    table = published[["fips", "state", "county", "population"]].copy()
    errors = pd.Series(dtype="Int64")
    if demonstration is not None:
        counties = demonstration.counties.set_index("fips")
        errors = (counties["dp"] - counties["sf"]).astype("Int64")
    table["das_error"] = errors.reindex(table["fips"]).array
    return table
