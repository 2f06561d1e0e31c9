"""`isdp swap` as a user types it: what comes out, and one line where the input will not do."""

import json

import pandas as pd
import pytest

from isdp.cli import main
from tests.unit.swapping.people import people


@pytest.fixture
def command(tmp_path, capsys):
    """Run `isdp swap` on people; give the exit status, the records, certificate and messages."""
    path, out = tmp_path / "people.csv", tmp_path / "out"

    def run(*options, table=None, match="state,size", swap="county", carry="tract", rate="0.5"):
        (people().drop(columns="id") if table is None else table).to_csv(path, index=False)
        given = ["swap", str(path), "--swap", swap, "--rate", rate, "--out", str(out)]
        for option, columns in (("--match", match), ("--carry", carry)):
            given += [option, columns] if columns else []
        status, found = main([*given, *options]), {}
        if (out / "swapped.csv").exists():
            found["records"] = pd.read_csv(out / "swapped.csv")
            found["certificate"] = json.loads((out / "certificate.json").read_text())
        captured = capsys.readouterr()
        return status, found, captured.out if status == 0 else captured.err

    return run


def test_records_are_swapped_and_the_user_is_informed(command):
    status, found, printed = command()
    assert status == 0
    assert len(found["records"]) == 600
    assert found["certificate"]["input"]["carry"] == ["tract"]
    for number in ("600 records", found["certificate"]["privacy"]["epsilon_bound"]):
        assert number in printed


def test_a_name_with_a_comma_is_quoted(command):
    renamed = people().drop(columns="id").rename(columns={"county": "county, 1940"})
    _, found, _ = command(table=renamed, swap='"county, 1940"')
    assert found["certificate"]["input"]["swap"] == ["county, 1940"]


def test_records_that_cannot_change_are_counted_for_the_user(command):
    table = people().drop(columns="id")
    table.loc[0, "state"] = "VT"
    assert "1 record cannot change" in command(table=table)[2]


@pytest.mark.parametrize(
    ("how", "named"),
    [
        ({"rate": "0"}, "swap rate"),
        ({"rate": "five"}, "swap rate"),
        ({"rate": "1/0"}, "swap rate"),
        ({"swap": "parish"}, "'parish'"),
        ({"match": "state,county"}, "'county'"),
        ({"swap": ""}, "--swap"),
    ],
)
def test_what_will_not_do_is_said_in_one_line(command, how, named):
    status, found, error = command(**how)
    assert (status, found) == (2, {})
    assert error.startswith("isdp: ")
    assert error.count("\n") == 1
    assert named in error


@pytest.mark.parametrize("option", ["--weight", "--hierarchy", "--targeted", "--seed"])
def test_there_is_no_option_for_what_has_no_guarantee(command, option, capsys):
    with pytest.raises(SystemExit) as stopped:
        command(option, "x")
    assert stopped.value.code == 2
    assert option in capsys.readouterr().err
