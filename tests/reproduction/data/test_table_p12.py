import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isdp import InputError
from reproduction.data.table_p12 import CELLS, build_table, read_p12, sex_by_age_invariants

ITEMS = [f"H76{item:03}" for item in range(1, 50)]


def row(female, male):
    """Items of Table P12 from the counts of both sexes."""
    return [sum(female) + sum(male), sum(male), *male, sum(female), *female]


def p12(path, suffix="", **changes):
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 500, (3, 2, 23))
    table = pd.DataFrame([row(*each.tolist()) for each in counts], columns=ITEMS)
    table = table.rename(columns={item: item + suffix for item in ITEMS}).astype(object)
    table.insert(0, "name", ["North", "Middle", "South"])
    table.insert(0, "gisjoin", ["G0600010", "G0600030", "G0600050"])
    for column, value in changes.items():
        table.loc[1, column] = value
    table.to_csv(path, index=False)
    return counts


@pytest.mark.parametrize("suffix", ["", "_sf"])
@pytest.mark.parametrize("county", ["Middle", "G0600030", "06003"])
def test_a_county_is_read_by_name_or_code(tmp_path, suffix, county):
    counts = p12(tmp_path / "p12.csv", suffix)
    read, name = read_p12(tmp_path / "p12.csv", county)
    assert name == "Middle"
    assert read.tolist() == counts[1].ravel().tolist()


def test_the_sums_that_are_held():
    a = sex_by_age_invariants()
    assert a.apply(np.ones(46, np.int64)).tolist() == [46, 23, 38]
    assert len(CELLS) == 46


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"H76010": "-3"}, r"Middle: H76010: the number is negative"),
        ({"H76010": "1,234"}, "without separators"),
        ({"H76010": "2.5"}, "whole number"),
        ({"H76002": "7"}, "Middle: H76002"),
        ({"H76001": "7"}, "Middle: H76001"),
        ({"name": "South"}, "'Middle' matches 0"),
    ],
)
def test_wrong_counts_are_refused_with_their_place(tmp_path, changes, words):
    p12(tmp_path / "p12.csv", **changes)
    with pytest.raises(InputError, match=words):
        read_p12(tmp_path / "p12.csv", "Middle")


def test_a_county_that_stands_twice(tmp_path):
    p12(tmp_path / "p12.csv", name="South")
    with pytest.raises(InputError, match="'South' matches 2"):
        read_p12(tmp_path / "p12.csv", "South")


def test_missing_age_groups_are_counted_and_the_first_is_named(tmp_path):
    p12(tmp_path / "p12.csv")
    table = pd.read_csv(tmp_path / "p12.csv").drop(columns=["H76010", "H76049"])
    table.to_csv(tmp_path / "p12.csv", index=False)
    with pytest.raises(InputError, match=r"2 of the 49 columns .* the first is H76010"):
        read_p12(tmp_path / "p12.csv", "Middle")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b'"unclosed\n1,2'])
def test_what_is_no_table_is_refused(tmp_path, content):
    (tmp_path / "p12.csv").write_bytes(content)
    with pytest.raises(InputError, match=r"p12\.csv"):
        read_p12(tmp_path / "p12.csv", "Middle")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.csv: there is no such file"):
        read_p12(tmp_path / "nowhere.csv", "Middle")


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"female": [1] * 23}, "keys female and male"),
        ({"female": [1] * 23, "male": [1] * 22}, "male has 22 age groups"),
        ({"female": [-1] + [1] * 22, "male": [1] * 23}, "female, under 5"),
        ({"female": [True] + [1] * 22, "male": [1] * 23}, "female, under 5"),
    ],
)
def test_counts_from_the_config_are_checked(counts, words):
    with pytest.raises(InputError, match=words):
        build_table(counts)


@pytest.mark.skipif("CENSUS_P12_FILE" not in os.environ, reason="CENSUS_P12_FILE names no file")
def test_the_published_tables_of_californias_counties():
    path = Path(os.environ["CENSUS_P12_FILE"])
    names = pd.read_csv(path)["gisjoin"]
    tables = [read_p12(path, name)[0] for name in names]
    assert len(tables) == 58
    assert sum(table.sum() for table in tables) == 37_253_956
