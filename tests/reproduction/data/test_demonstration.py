import hashlib
import os
import struct
import zipfile

import pandas as pd
import pytest

from isdp import InputError
from isdp.io.files import MAX_BYTES
from reproduction.data.demonstration import (
    Demonstration,
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
    return message


# -- published counts -----------------------------------------------------------------------------


def test_the_published_counts_of_the_repository():
    table = read_published(REPOSITORY_TABLE)
    assert table.columns.tolist() == ["fips", "state", "county", "population"]
    assert table["population"].dtype == "int64"
    assert len(table) == 3221
    assert table["fips"].is_unique
    totals = table.groupby("state")["population"].sum()
    assert totals.drop("PR").sum() == 308_745_538
    assert (totals["IL"], totals["PR"]) == (12_830_632, 3_725_789)
    by_fips = table.set_index("fips")
    assert by_fips.loc["17031", "population"] == 5_194_675
    assert by_fips.loc["35013", "county"] == "Doña Ana County"
    least = table.loc[table["population"].idxmin()]
    assert (least["county"], least["state"], least["population"]) == ("Loving County", "TX", 82)


def test_published_counts_come_in_file_order_and_by_column_name(tmp_path):
    text = "note,pop2010,name,usps,fips\nx,7,B County,AL,01003\n,0,A County,AL,01001\n\n"
    table = read_published(write(tmp_path / "p.csv", "\ufeff" + text))
    expected = pd.DataFrame(
        {
            "fips": ["01003", "01001"],
            "state": "AL",
            "county": ["B County", "A County"],
            "population": [7, 0],
        }
    )
    pd.testing.assert_frame_equal(table, expected)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("01001,AL,Again,5", ["line 3", "01001", "line 2"]),
        ("01003,AL,B County,-5", ["line 3", "B County (01003)", "pop2010", "is negative"]),
        ("01003,AL,B County,5.5", ["line 3", "has a decimal point"]),
        ("01003,AL,B County,5.0", ["line 3", "has a decimal point"]),
        ("01003,AL,B County,", ["line 3", "missing"]),
        ("01003,AL,B County,1e5", ["line 3", "this is not a whole number"]),
        ("01003,AL,B County,²", ["line 3", "not a whole number"]),
        ("01003,AL,B County,1000000001", ["line 3", "more than 1,000,000,000"]),
        ("1003,AL,B County,5", ["line 3", "'1003'", "five digits"]),
        ("01003,Alabama,B County,5", ["line 3", "'Alabama'", "usps"]),
        ("01003,AL, ,5", ["line 3", "01003", "column name", "is empty"]),
        ("01003,AL,B County", ["line 3", "3 fields under a header of 4"]),
        ('01003,AL,"B County,5', ["line 3", "no csv table"]),
    ],
)
def test_a_wrong_row_of_the_published_counts_is_named(tmp_path, row, words):
    path = write(tmp_path / "p.csv", f"fips,usps,name,pop2010\n01001,AL,A County,5\n{row}\n")
    refused(lambda: read_published(path), "p.csv", *words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["empty"]),
        (b"\xef\xbb\xbf", ["empty"]),
        (b"fips,usps,name,pop2010\n", ["no counties"]),
        (b"fips,usps,name\n01001,AL,A\n", ["line 1", "pop2010"]),
        (b"fips,usps,name,pop2010\n01001,AL,Do\xf1a,5\n", ["line 2", "UTF-8"]),
    ],
)
def test_a_file_that_is_no_table_of_published_counts(tmp_path, content, words):
    path = tmp_path / "p.csv"
    path.write_bytes(content)
    refused(lambda: read_published(path), "p.csv", *words)


def test_a_missing_file_or_a_folder(tmp_path):
    refused(lambda: read_published(tmp_path / "no.csv"), "no.csv", "no such file")
    refused(lambda: read_demonstration(tmp_path / "no.zip"), "no.zip", "no such file")
    refused(lambda: read_demonstration(tmp_path), tmp_path.name, "cannot be read")


# -- demonstration data: what is read -------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("packed", [True, False])
def test_genuine_content_in_either_encoding(tmp_path, encoding, packed):
    path = tmp_path / NAME
    content = GENUINE.encode(encoding)
    if packed:
        path = zipped(
            tmp_path / "any.name",
            {NAME: content, "nhgis_ppdd_20210608_codebook.txt": "county.csv"},
        )
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


def test_a_byte_order_mark_before_latin_1(tmp_path):
    path = tmp_path / NAME
    path.write_bytes(b"\xef\xbb\xbf" + GENUINE.encode("latin-1"))
    assert read_demonstration(path).counties["county"][2] == "Doña Ana County"


def test_the_older_column_and_a_plain_fips_key(tmp_path):
    text = "fips,name,H7V001_dp,H7V001_sf\n06001,Alameda County,1510261,1510271\n"
    read = read_demonstration(write(tmp_path / "some.csv", text))
    assert (read.vintage, read.population_column) == ("unknown", "H7V001")
    assert read.counties.to_numpy().tolist() == [["06001", "Alameda County", 1510261, 1510271]]
    named = write(tmp_path / "nhgis_ppdd_20200527_county.csv", text)
    assert read_demonstration(named).vintage == "20200527"


def test_content_and_not_the_suffix_decides(tmp_path):
    assert len(read_demonstration(write(tmp_path / "x.zip", GENUINE)).counties) == 4
    assert len(read_demonstration(zipped(tmp_path / "x.csv", {NAME: GENUINE})).counties) == 4


def test_the_vintage_of_an_archive_whose_table_does_not_tell_it(tmp_path):
    path = zipped(tmp_path / "nhgis_ppdd_20201116_county.zip", {"county.csv": GENUINE})
    assert read_demonstration(path).vintage == "20201116"
    refused(lambda: read_demonstration(zipped(path, {NAME: GENUINE})), "20201116", "20210608")


@pytest.mark.parametrize(
    ("vintage", "column", "other"),
    [
        *(("20191029", "H7V", "H72"), ("20200527", "H7V", "H72"), ("20200917", "H72", "H7V")),
        *(("20201116", "H72", "H7V"), ("20210608", "H72", "H7V"), ("20220825", "H72", "H7V")),
    ],
)
def test_each_vintage_has_its_own_column(tmp_path, vintage, column, other):
    path = tmp_path / f"nhgis_ppdd_{vintage}_county.csv"
    write(path, GENUINE.replace("H72", other))
    refused(lambda: read_demonstration(path), vintage, "H7V001", "H72001")
    write(path, GENUINE.replace("H72", column))
    assert read_demonstration(path).population_column == f"{column}001"


def test_a_macos_companion_file_is_not_taken_for_a_table(tmp_path):
    path = zipped(tmp_path / "x.zip", {NAME: GENUINE, f"__MACOSX/._{NAME}": b"\0\1"})
    assert len(read_demonstration(path).counties) == 4


# -- demonstration data: what is refused ----------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["empty"]),
        (b" \n", ["empty"]),
        (b"\xef\xbb\xbf", ["empty"]),
        (b"<!DOCTYPE html><p>404</p>", ["web page, not data"]),
        (b"\xef\xbb\xbf \r\n\t<html>", ["web page, not data"]),
        (b"\x1f\x8b\x08\x00\x00", ["line 1", "H72001_dp"]),
        (b"name,H72001_dp,H72001_sf\n", ["gisjoin or fips"]),
        (b"gisjoin,H72001_dp,H72001_sf\n", ["line 1", "name"]),
        (b"gisjoin,name,H72001_dp\n", ["line 1", "H72001_sf"]),
        (b"gisjoin,name,H7V001_dp,H72001_sf\n", ["line 1", "H7V001_sf"]),
        (b"gisjoin,name,H7V001_dp,H7V001_sf,H72001_dp,H72001_sf\n", ["H7V001_dp and H72001_dp"]),
        (b"gisjoin,name,H72001_dp,H72001_sf,H72001_sf\n", ["twice"]),
        (b"gisjoin,name,H72001_dp,H72001_sf\n", ["no counties"]),
        (b"gisjoin;name;H72001_dp;H72001_sf\n", ["line 1", "H72001_dp"]),
    ],
)
def test_files_that_are_no_county_table(tmp_path, content, words):
    path = tmp_path / "given.csv"
    path.write_bytes(content)
    refused(lambda: read_demonstration(path), "given.csv", *words)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("916929", "-916929", ["line 3", "DuPage County (17043)", "H72001_dp", "negative"]),
        ("916924", "916924.5", ["line 3", "DuPage County (17043)", "H72001_sf", "decimal point"]),
        ("209233,7,209233", "209233,7,", ["line 4", "Doña Ana", "H72001_sf", "missing"]),
        ("916929", "9169290000", ["line 3", "more than 1,000,000,000"]),
        ("916929", "9" * 5000, ["line 3", "more than 1,000,000,000"]),
        ("916929", "nan", ["line 3", "not a whole number"]),
        ("916929", "916_929", ["line 3", "not a whole number"]),
        ("G1700430", "G170043", ["line 3", "gisjoin", "'G170043'"]),
        ("G1700430", "G1710430", ["line 3", "gisjoin"]),
        ("G1700430", "", ["line 3", "gisjoin"]),
        (",76569,1\n", "", ["line 5", "5 fields under a header of 7", "cut short"]),
    ],
)
def test_a_wrong_cell_is_named(tmp_path, old, new, words):
    assert old in GENUINE
    path = write(tmp_path / NAME, GENUINE.replace(old, new))
    refused(lambda: read_demonstration(path), NAME, *words)


def test_a_fips_code_without_its_leading_zero(tmp_path):
    text = "fips,name,H7V001_dp,H7V001_sf\n6001,Alameda County,1,1\n"
    refused(lambda: read_demonstration(write(tmp_path / "x.csv", text)), "line 2", "leading zero")


def test_a_name_over_two_lines_does_not_break_the_message(tmp_path):
    text = GENUINE.replace("DuPage County,17,916929", '"DuPage\nCounty",17,x')
    refused(lambda: read_demonstration(write(tmp_path / NAME, text)), "DuPage County", "line 4")


# -- zip archives ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["/etc/b.txt", "../b.txt", "a/../../b.txt", "C:b", "..\\b.txt"])
def test_members_with_paths_outside_the_archive_are_not_written(tmp_path, name, monkeypatch):
    inner = tmp_path / "inner" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    path = zipped(inner / "x.zip", {NAME: GENUINE, name: GENUINE})
    assert len(read_demonstration(path).counties) == 4
    table = name.replace("b", "county.csv")
    path = zipped(inner / "x.zip", {NAME: GENUINE, table.removesuffix(".txt"): GENUINE})
    refused(lambda: read_demonstration(path), "x.zip", "found 2")
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [path]


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({}, ["found 0"]),
        ({"codebook.txt": ""}, ["found 0", "codebook.txt"]),
        ({"nhgis_ppdd_20210608_state.csv": GENUINE}, ["found 0", "nhgis_ppdd_20210608_state.csv"]),
        ({NAME: GENUINE, "old_county.csv": GENUINE}, ["found 2", NAME]),
        ({NAME: ""}, [NAME, "empty"]),
        ({NAME: "<html>"}, [NAME, "web page"]),
    ],
)
def test_archives_without_exactly_one_county_table(tmp_path, members, words):
    refused(lambda: read_demonstration(zipped(tmp_path / "x.zip", members)), "x.zip", *words)


def test_an_archive_cut_anywhere_is_refused(tmp_path):
    whole = zipped(tmp_path / "whole.zip", {NAME: GENUINE}).read_bytes()
    path = tmp_path / "cut.zip"
    for length in range(4, len(whole)):
        path.write_bytes(whole[:length])
        refused(lambda: read_demonstration(path), "cut.zip", "damaged")


def test_a_damaged_archive_is_refused(tmp_path):
    path = zipped(tmp_path / "x.zip", {NAME: GENUINE}, zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"916929", b"916928"))
    refused(lambda: read_demonstration(path), "damaged", "CRC")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_that_changes_the_compressed_table_is_refused(tmp_path, method):
    path = zipped(tmp_path / "x.zip", {NAME: GENUINE}, method)
    whole, counties = path.read_bytes(), read_demonstration(path).counties
    harmless, messages = 0, []  # harmless: padding, or the size of a buffer
    places = range(30 + len(NAME), whole.index(b"PK\x01\x02"))
    for place in places:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            assert read_demonstration(path).counties.equals(counties)
            harmless += 1
        except InputError as error:
            messages.append(str(error))
    assert harmless < len(places) / 10
    assert all(message.startswith("x.zip: the zip archive is damaged") for message in messages)


def test_an_encrypted_archive_is_refused(tmp_path):
    path = zipped(tmp_path / "x.zip", {NAME: GENUINE})
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1
    path.write_bytes(content)
    refused(lambda: read_demonstration(path), "encrypted")


def test_what_is_too_large_is_refused(tmp_path):
    path = zipped(tmp_path / "x.zip", {NAME: GENUINE + "," * MAX_BYTES})
    refused(lambda: read_demonstration(path), "x.zip", f"{MAX_BYTES:,} bytes")
    table = write(tmp_path / NAME, GENUINE)
    os.truncate(table, MAX_BYTES + 1)
    refused(lambda: read_demonstration(table), NAME, "larger than")


def test_an_archive_that_declares_too_small_a_size_is_refused(tmp_path):
    path = zipped(tmp_path / "x.zip", {NAME: GENUINE + "," * 100_000})
    content = bytearray(path.read_bytes())
    size = content.index(b"PK\x01\x02") + 24
    content[size : size + 4] = struct.pack("<I", 50)
    path.write_bytes(content)
    refused(lambda: read_demonstration(path), "x.zip", "damaged")


# -- checks against the published counts ----------------------------------------------------------


def demonstration(text=GENUINE):
    rows = [line.split(",") for line in text.splitlines()[1:]]
    counties = pd.DataFrame(
        {
            "fips": [row[0][1:3] + row[0][4:7] for row in rows],
            "county": [row[1] for row in rows],
            "dp": [int(row[3]) for row in rows],
            "sf": [int(row[5]) for row in rows],
        }
    )
    return Demonstration(counties, "20210608", "H72001", NAME, "0" * 64)


def test_genuine_data_pass_in_any_order():
    genuine = demonstration()
    check_demonstration(genuine, PUBLISHED)
    check_demonstration(genuine, PUBLISHED.iloc[::-1])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("916929", "916930", ["state IL", "totals"]),
        ("76569,7", "76568,7", ["state NM", "totals"]),
        (
            "916924",
            "916925",
            ["DuPage County (17043)", "H72001_sf", "published count"],
        ),
        ("G3500610", "G3500130", ["Valencia County (35013)", "more than once"]),
        ("G3500610", "G9900610", ["Valencia County (99061)", "published counts"]),
        (
            "G3500610,Valencia County,35,76569,7,76569,1\n",
            "",
            ["Valencia County (35061)", "missing"],
        ),
    ],
)
def test_a_file_that_disagrees_with_the_published_counts(old, new, words):
    assert old in GENUINE
    wrong = demonstration(GENUINE.replace(old, new))
    advice = "Download the file again from https://www.nhgis.org/"
    refused(lambda: check_demonstration(wrong, PUBLISHED), NAME, advice, *words)


def test_totals_that_agree_over_the_country_but_not_in_a_state():
    text = GENUINE.replace("916929", "916930").replace("76569,7", "76568,7")
    refused(lambda: check_demonstration(demonstration(text), PUBLISHED), "state IL")


def test_an_extract_counts_the_missing_counties():
    message = refused(
        lambda: check_demonstration(
            demonstration(), PUBLISHED.assign(fips=["01001", "01003", *PUBLISHED["fips"][2:]])
        ),
        "(17031) and 1 more",
        "published counts",
    )
    assert "17043" not in message
    few = demonstration("\n".join(GENUINE.splitlines()[:3]))
    refused(lambda: check_demonstration(few, PUBLISHED), "(35013) and 1 more", "missing")


# -- the table of counties ------------------------------------------------------------------------


def test_the_county_table_keeps_the_published_order():
    published = PUBLISHED.iloc[::-1].reset_index(drop=True)
    table = build_county_table(published, demonstration())
    pd.testing.assert_frame_equal(table.drop(columns="das_error"), published)
    assert table["das_error"].dtype == "Int64"
    assert table["das_error"].tolist() == [0, 0, 5, -5]


def test_the_county_table_without_demonstration_data():
    table = build_county_table(PUBLISHED)
    assert table["das_error"].dtype == "Int64"
    assert table["das_error"].isna().all()
    assert "das_error" not in PUBLISHED


# -- a genuine file -------------------------------------------------------------------------------


@pytest.mark.skipif(
    not os.environ.get("NHGIS_PPDD_FILE"),
    reason="NHGIS_PPDD_FILE names no genuine file of the demonstration data",
)
def test_a_genuine_file_passes_every_check():
    read = read_demonstration(os.environ["NHGIS_PPDD_FILE"])
    published = read_published(REPOSITORY_TABLE)
    check_demonstration(read, published)
    table = build_county_table(published, read)
    assert table["das_error"].notna().all()
    assert (table.groupby("state")["das_error"].sum() == 0).all()
