"""A run that was cut short goes on where it stopped, unless anything has changed."""

import csv

import pytest

from tests import ROOT
from tests.mutants.record import COLUMNS, Record, checkout_of, key_of

ROW = dict.fromkeys(COLUMNS[:-1], "x") | {"line": 3, "occurrence": 1}


def test_rows_are_found_again_for_the_same_checkout_alone(tmp_path):
    path = tmp_path / "new" / "mutants.csv"
    record = Record(path, "one")
    for occurrence in range(3):
        record.add(ROW | {"occurrence": occurrence, "before": 'a, "b"\tc'})
    again = Record(path, "one")
    assert again.rows.keys() == record.rows.keys()
    assert again.rows[key_of(ROW)]["before"] == 'a, "b"\tc'
    assert Record(path, "other").rows == {}
    assert Record(path, "one").rows == {}  # what was of no use is gone


def test_a_row_cut_short_is_tried_again(tmp_path):
    path = tmp_path / "mutants.csv"
    record = Record(path, "one")
    for occurrence in range(2):
        record.add(ROW | {"occurrence": occurrence})
    path.write_bytes(path.read_bytes()[:-6])
    again = Record(path, "one")
    assert [row["occurrence"] for row in again.rows.values()] == ["0"]
    again.add(ROW)
    assert Record(path, "one").rows.keys() == record.rows.keys()


def test_a_checkout_is_its_files_and_what_they_hold(tmp_path):
    (tmp_path / "a.py").write_text("1")
    (tmp_path / "b.py").write_text("2")
    found = checkout_of(tmp_path, ["a.py", "b.py"])
    assert found == checkout_of(tmp_path, ["b.py", "a.py"])
    assert found != checkout_of(tmp_path, ["a.py"])
    (tmp_path / "a.py").write_text("3")
    assert found != checkout_of(tmp_path, ["a.py", "b.py"])


@pytest.mark.parametrize("name", ["dozen.csv", "survivors.csv"])
def test_the_faults_that_are_named_are_of_lines_that_are_there(name):
    with open(ROOT / "tests/mutants" / name, newline="") as file:
        rows = list(csv.DictReader(file))
    gone = [
        (row["path"], row["before"])
        for row in rows
        if row["before"]
        not in map(str.strip, (ROOT / "src" / row["path"]).read_text().splitlines())
    ]
    assert rows
    assert gone == []
