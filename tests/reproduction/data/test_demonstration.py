import hashlib
import os
import zipfile

import pandas as pd
import pytest

from isdp import InputError
from isdp.io.files import MAX_BYTES
from reproduction.data.demonstration import (
    build_county_table,
    check_demonstration,
    read_demonstration,
)
from reproduction.data.published import read_published
from tests import ROOT

REPOSITORY_TABLE = ROOT / "data" / "census2010_county_population.csv"
PUBLISHED = pd.DataFrame(
    {
        "fips": ["17031", "17043", "35013", "35061"],
        "state": ["IL", "IL", "NM", "NM"],
        "county": ["Cook County", "DuPage County", "Doña Ana County", "Valencia County"],
        "population": [5194675, 916924, 209233, 76569],
    }
)
NAME = "nhgis_ppdd_20210608_county.csv"
# column order as in the genuine file: all of _dp, then all of _sf
GENUINE = """\
gisjoin,name,state,H72001_dp,H72002_dp,H72001_sf,H72002_sf
G1700310,Cook County,17,5194670,7,5194675,1
G1700430,DuPage County,17,916929,7,916924,1
G3500130,Doña Ana County,35,209233,7,209233,1
G3500610,Valencia County,35,76569,7,76569,1
"""
FIRST = "fips,usps,name,pop2010\n01001,AL,A County,5\n"


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def zipped(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def refused(call, *words):
    with pytest.raises(InputError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, message


# -- published counts -----------------------------------------------------------------------------


def test_the_published_counts_of_the_repository():
    table = read_published(REPOSITORY_TABLE)
    assert table.columns.tolist() == ["fips", "state", "county", "population"]
    assert table["population"].dtype == "int64"
    assert len(table) == 3221
    totals = table.groupby("state")["population"].sum()
    assert totals.drop("PR").sum() == 308_745_538
    assert (totals["IL"], totals["PR"]) == (12_830_632, 3_725_789)
    by_fips = table.set_index("fips")
    assert by_fips.loc["17031", "population"] == 5_194_675
    assert by_fips.loc["35013", "county"] == "Doña Ana County"


def test_published_counts_come_in_file_order_and_by_column_name(tmp_path):
    text = "note,pop2010,name,usps,fips\nx,7,B County,AL,01003\n,0,A County,AL,01001\n\n"
    table = read_published(write(tmp_path / "p.csv", text))
    assert table["fips"].tolist() == ["01003", "01001"]
    assert table["county"].tolist() == ["B County", "A County"]
    assert table["population"].tolist() == [7, 0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fips,usps,name,pop2010\n", []),
        ("fips,usps,name\n01001,AL,A\n", ["line 1", "pop2010"]),
        (f"{FIRST}01001,AL,Again,5\n", ["01001"]),
        (f"{FIRST}01003,AL,B County,-5\n", ["line 3", "B County (01003)", "pop2010"]),
        (f"{FIRST}1003,AL,B County,5\n", ["line 3", "fips", "'1003'"]),
        (f"{FIRST}01003,Alabama,B County,5\n", ["line 3", "usps", "'Alabama'"]),
        (f"{FIRST}01003,AL, ,5\n", ["line 3", "01003", "name"]),
    ],
)
def test_a_fault_of_the_published_counts_is_named(tmp_path, text, words):
    refused(lambda: read_published(write(tmp_path / "p.csv", text)), "p.csv", *words)


# -- demonstration data ---------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("packed", [True, False])
def test_genuine_content_is_read_in_either_encoding_whatever_the_suffix(tmp_path, encoding, packed):
    path = tmp_path / NAME
    content = GENUINE.encode(encoding)
    if packed:
        # macOS adds a companion of each file
        others = {"nhgis_ppdd_20210608_codebook.txt": "county.csv", f"__MACOSX/._{NAME}": b"\0\1"}
        zipped(path, {NAME: content} | others)
    else:
        path.write_bytes(content)
    read = read_demonstration(path)
    assert read.counties["fips"].tolist() == PUBLISHED["fips"].tolist()
    assert read.counties["county"].tolist() == PUBLISHED["county"].tolist()
    assert read.counties["dp"].tolist() == [5194670, 916929, 209233, 76569]
    assert read.counties["sf"].tolist() == PUBLISHED["population"].tolist()
    assert (read.counties[["dp", "sf"]].dtypes == "int64").all()
    assert (read.vintage, read.population_column) == ("20210608", "H72001")
    assert read.file_name == path.name
    assert read.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_older_column_and_a_plain_fips_key(tmp_path):
    text = "fips,name,H7V001_dp,H7V001_sf\n06001,Alameda County,1510261,1510271\n"
    read = read_demonstration(write(tmp_path / "some.csv", text))
    assert (read.vintage, read.population_column) == ("unknown", "H7V001")
    assert read.counties.to_numpy().tolist() == [["06001", "Alameda County", 1510261, 1510271]]


def test_the_archive_has_the_vintage_where_the_table_does_not_state_it(tmp_path):
    path = zipped(tmp_path / "nhgis_ppdd_20201116_county.zip", {"county.csv": GENUINE})
    assert read_demonstration(path).vintage == "20201116"
    refused(lambda: read_demonstration(zipped(path, {NAME: GENUINE})), "20201116", "20210608")


@pytest.mark.parametrize(
    ("vintage", "column", "other"),
    [("20200527", "H7V", "H72"), ("20200917", "H72", "H7V")],
)
def test_each_vintage_has_its_own_column(tmp_path, vintage, column, other):
    path = tmp_path / f"nhgis_ppdd_{vintage}_county.csv"
    write(path, GENUINE.replace("H72", other))
    refused(lambda: read_demonstration(path), vintage, "H7V001", "H72001")
    write(path, GENUINE.replace("H72", column))
    assert read_demonstration(path).population_column == f"{column}001"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (" \n", []),
        (" \r\n\t<html>", ["web page"]),
        ("name,H72001_dp,H72001_sf\n", ["gisjoin or fips"]),
        ("gisjoin,H72001_dp,H72001_sf\n", ["line 1", "name"]),
        ("gisjoin,name,H72001_dp\n", ["line 1", "H72001_sf"]),
        ("gisjoin,name,H7V001_dp,H7V001_sf,H72001_dp,H72001_sf\n", ["H7V001_dp and H72001_dp"]),
        ("gisjoin,name,H72001_dp,H72001_sf\n", []),
        ("gisjoin;name;H72001_dp;H72001_sf\n", ["line 1", "H72001_dp"]),
    ],
)
def test_a_file_that_is_not_a_county_table_is_refused(tmp_path, content, words):
    path = write(tmp_path / "given.csv", content)
    refused(lambda: read_demonstration(path), "given.csv", *words)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("916929", "-916929", ["line 3", "DuPage County (17043)", "H72001_dp"]),
        ("916924", "916924.5", ["line 3", "DuPage County (17043)", "H72001_sf"]),
        ("G1700430", "G170043", ["line 3", "gisjoin", "'G170043'"]),
        ("G1700430", "G1710430", ["line 3", "gisjoin"]),
        ("DuPage County,17,916929", '"DuPage\nCounty",17,x', ["line 4", "DuPage County"]),
    ],
)
def test_a_wrong_cell_is_named(tmp_path, old, new, words):
    assert old in GENUINE
    path = write(tmp_path / NAME, GENUINE.replace(old, new))
    refused(lambda: read_demonstration(path), NAME, *words)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"nhgis_ppdd_20210608_state.csv": GENUINE}, ["found 0", "nhgis_ppdd_20210608_state.csv"]),
        ({NAME: GENUINE, "old_county.csv": GENUINE}, ["found 2", NAME]),
        ({NAME: GENUINE + "," * MAX_BYTES}, [f"{MAX_BYTES:,} bytes"]),
    ],
)
def test_an_archive_without_exactly_one_county_table_is_refused(tmp_path, members, words):
    refused(lambda: read_demonstration(zipped(tmp_path / "x.zip", members)), "x.zip", *words)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_archive_is_refused(tmp_path, method):
    path = zipped(tmp_path / "x.zip", {NAME: GENUINE}, method)
    whole = path.read_bytes()
    middle = (len(NAME) + whole.index(b"PK\x01\x02")) // 2
    encrypted = bytearray(whole)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        encrypted[whole.index(signature) + offset] |= 1
    changed = whole[:middle] + bytes([whole[middle] ^ 0xFF]) + whole[middle + 1 :]
    for content in (whole[:-30], whole[:middle], changed, encrypted):
        path.write_bytes(content)
        refused(lambda: read_demonstration(path), "x.zip")


def test_a_table_that_is_too_large_is_refused(tmp_path):
    table = write(tmp_path / NAME, GENUINE)
    os.truncate(table, MAX_BYTES + 1)
    refused(lambda: read_demonstration(table), NAME)


# -- checks against the published counts ----------------------------------------------------------


@pytest.fixture
def demonstration(tmp_path):
    return lambda text=GENUINE: read_demonstration(write(tmp_path / NAME, text))


def test_genuine_data_pass_in_any_order(demonstration):
    check_demonstration(demonstration(), PUBLISHED)
    check_demonstration(demonstration(), PUBLISHED.iloc[::-1])


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ({"916929": "916930"}, ["state IL"]),
        # the totals of the country agree
        ({"916929": "916930", "76569,7": "76568,7"}, ["state IL"]),
        ({"916924": "916925"}, ["DuPage County (17043)", "H72001_sf"]),
        ({"G3500610": "G3500130"}, ["Valencia County (35013)"]),
        ({"G3500610": "G9900610"}, ["Valencia County (99061)"]),
        ({"G3500610,Valencia County,35,76569,7,76569,1\n": ""}, ["Valencia County (35061)"]),
        ({"G17003": "G98003", "G17004": "G98004"}, ["(98031) and 1 more"]),
    ],
)
def test_a_file_that_disagrees_with_the_published_counts_is_refused(demonstration, edits, words):
    text = GENUINE
    for old, new in edits.items():
        assert old in text
        text = text.replace(old, new)
    refused(lambda: check_demonstration(demonstration(text), PUBLISHED), NAME, *words)


def test_the_county_table_keeps_the_published_order(demonstration):
    published = PUBLISHED.iloc[::-1].reset_index(drop=True)
    table = build_county_table(published, demonstration())
    pd.testing.assert_frame_equal(table.drop(columns="das_error"), published)
    assert table["das_error"].dtype == "Int64"
    assert table["das_error"].tolist() == [0, 0, 5, -5]
