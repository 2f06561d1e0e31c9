"""Claims' queries against the recorded columns, before anything has run."""

import runpy
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from isdp import InputError
from reproduction.review import columns
from reproduction.review.claims import named_tables
from reproduction.review.columns import RECORDS, check_measures, names_in, read_columns, record
from tests import ROOT
from tests.reproduction.review.test_claims import CLAIMS, claim

RECORDED = {"t": ["x", "se", "good"]}


def judged_by(**how):
    return claim(ours={"table": "t", "column": "x", "take": "max"} | how, wing="w")


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ('x == 0.6 and start == "y" and z.notna()', ["x", "start", "z"]),
        ("not good", ["good"]),
        ('m.str.contains("5.2", regex=False)', ["m"]),
        ("a in [1, -2] or `two words` > b * 2", ["two words", "a", "b"]),
        ("abs(x) > 1 & (y != z)", ["x", "y", "z"]),
    ],
)
def test_the_columns_that_a_query_names(rows, names):
    assert sorted(names_in(rows)) == sorted(names)


TABLE = pd.DataFrame({"x": [1, 2], "y": [3, 4], "two words": [5, 6]})


@pytest.mark.parametrize(
    "rows", ["x =", "x = 1", "x == @y", "x if y else x", "x is y", "lambda: x", "x == {1}", "(x"]
)
def test_what_pandas_does_not_read_is_refused(rows):
    with pytest.raises(InputError, match="cannot be read"):
        names_in(rows)
    with pytest.raises(Exception, match=r"."):
        TABLE.query(rows)


@pytest.mark.parametrize(
    "rows", ["x > 1 and y < 4", "`two words` == 5", "x in [1]", "abs(x) > 1", "-x < y[0]"]
)
def test_what_pandas_reads_is_not(rows):
    TABLE.query(rows)
    check_measures([judged_by(rows=rows, column="x")], {"t": list(TABLE)})


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"rows": "god == True"}, "there is no column 'god'; there are x se good"),
        ({"among": "god == True"}, "there is no column 'god'"),
        ({"column": "y"}, "there is no column 'y'"),
        ({"by": "z"}, "there is no column 'z'"),
        ({"error": "sd"}, "there is no column 'sd'"),
        ({"limits": ["se", "high"]}, "there is no column 'high'"),
        ({"rows": "good ="}, "rows 'good =' cannot be read"),
    ],
)
@pytest.mark.parametrize("key", ["ours", "judged", "tells"])
def test_a_claim_that_does_not_fit_is_one_line_that_names_it(how, words, key):
    wrong = claim(wing="w") | {key: {"table": "t", "take": "max"} | how}
    with pytest.raises(InputError) as caught:
        check_measures([judged_by(), wrong], RECORDED)
    message = str(caught.value)
    assert message.startswith("config/claims/w.yaml: claim c: table t: ")
    assert words in message
    assert "\n" not in message


def test_a_table_without_a_record_is_checked_for_syntax_alone():
    check_measures([judged_by(rows="god == True")], {})
    with pytest.raises(InputError, match="cannot be read"):
        check_measures([judged_by(rows="god ==")], {})


def test_the_record_keeps_what_this_run_has_not_and_drops_what_no_claim_needs(tmp_path):
    tables, folder = tmp_path / "tables", tmp_path / "records"
    tables.mkdir()
    (tables / "t.csv").write_text("x,new\n1,2\n")
    (tables / "other.csv").write_text("n\n1\n")
    folder.mkdir()
    old = {"t": ["x"], "away": ["kept"], "gone": ["dropped"]}
    (folder / "w.yaml").write_text(yaml.safe_dump(old))
    claims = [
        judged_by(),
        judged_by(table="away"),
        claim(wing="v", ours={"table": "other", "take": "rows"}, judged={"table": "t"}),
    ]
    record(claims, tables, folder)
    assert yaml.safe_load((folder / "w.yaml").read_text()) == {"t": ["x", "new"], "away": ["kept"]}
    assert yaml.safe_load((folder / "v.yaml").read_text()) == {"other": ["n"]}
    assert read_columns(folder.glob("*.yaml"))["t"] == ["x", "new"]


def test_the_command_records_what_the_projects_claims_need(tmp_path, monkeypatch):
    """Without any table it keeps every record as it is."""
    written = {}
    monkeypatch.setattr(Path, "write_text", lambda path, text: written.update({path: text}))
    monkeypatch.setattr(sys, "argv", ["columns", str(tmp_path)])
    runpy.run_path(columns.__file__, run_name="__main__")
    assert written == {path: path.read_text() for path in (ROOT / RECORDS).glob("*.yaml")}


def test_the_projects_claims_fit_the_record_and_each_of_their_tables_is_recorded():
    recorded = read_columns((ROOT / RECORDS).glob("*.yaml"))
    check_measures(CLAIMS, recorded)
    assert sorted(recorded) == sorted(named_tables(CLAIMS))
