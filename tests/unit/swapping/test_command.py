"""`isdp swap` as a user types it: what comes out, and one line where the input will not do."""

import json

import numpy as np
import pandas as pd
import pytest

from isdp.cli import main

COLUMNS = ["state", "size", "county", "tract", "tenure"]


def people(count=400, seed=3):
    rng = np.random.default_rng(seed)
    county = rng.integers(0, 5, count)
    return pd.DataFrame(
        {
            "state": rng.choice(["MA", "NH"], count),
            "size": rng.integers(1, 4, count),
            "county": [f"county {c}" for c in county],
            "tract": county * 10 + rng.integers(0, 3, count),
            "tenure": rng.choice(["own", "rent"], count),
        }
    )


class Command:
    """`isdp swap` on a file in a folder of its own."""

    def __init__(self, folder, capsys):
        self.path, self.out, self.capsys = folder / "people.csv", folder / "out", capsys
        self.write(people())

    def write(self, table):
        table.to_csv(self.path, index=False)

    def __call__(self, *options, match="state,size", swap="county", carry="tract", rate="0.5"):
        given = ["swap", str(self.path), "--swap", swap, "--rate", rate, "--out", str(self.out)]
        roles = {"--match": match, "--carry": carry}
        for option, columns in roles.items():
            given += [option, columns] if columns else []
        return main([*given, *options])

    def refused(self, *options, **how):
        assert self(*options, **how) == 2
        error = self.capsys.readouterr().err
        assert error.startswith("isdp: ")
        assert error.count("\n") == 1
        assert not self.out.exists()
        return error

    @property
    def swapped(self):
        return pd.read_csv(self.out / "swapped.csv")

    @property
    def certificate(self):
        return json.loads((self.out / "certificate.json").read_text())


@pytest.fixture
def command(tmp_path, capsys):
    return Command(tmp_path, capsys)


def counted(table, columns):
    return table.groupby(columns).size()


def test_records_are_swapped_and_the_totals_kept(command):
    assert command() == 0
    before, after = people(), command.swapped
    for held in (["state", "size", "tenure"], ["state", "size", "county", "tract"]):
        assert counted(before, held).equals(counted(after, held))
    assert not counted(before, COLUMNS).equals(counted(after, COLUMNS))
    assert after.equals(after.sort_values(COLUMNS, ignore_index=True))
    printed = command.capsys.readouterr().out
    assert "400 records" in printed
    assert f"epsilon {command.certificate['privacy']['epsilon_bound']}" in printed
    assert command.certificate["input"]["carry"] == ["tract"]


def test_several_columns_are_swapped_together_and_without_a_key_all_are_one_group(command):
    assert command(swap="county,tract", match="", carry="") == 0
    after = command.swapped
    assert (after.tract // 10 == after.county.str[-1].astype(int)).all()
    assert command.certificate["strata"]["number"] == 1


def test_a_name_with_a_comma_is_quoted(command):
    command.write(people().rename(columns={"county": "county, 1940"}))
    assert command(swap='"county, 1940"') == 0
    assert command.certificate["input"]["swap"] == ["county, 1940"]


def test_records_that_cannot_change_are_counted_for_the_user(command):
    table = people()
    table.loc[0, "state"] = "VT"
    command.write(table)
    assert command() == 0
    assert "1 record cannot change" in command.capsys.readouterr().out


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
    assert named in command.refused(**how)


def test_a_second_release_needs_a_word(command):
    assert command() == 0
    first = command.swapped
    assert command() == 2
    assert "--force" in command.capsys.readouterr().err
    assert command.swapped.equals(first)
    assert command("--force") == 0


@pytest.mark.parametrize("option", ["--weight", "--hierarchy", "--targeted", "--seed"])
def test_there_is_no_option_for_what_has_no_guarantee(command, option, capsys):
    with pytest.raises(SystemExit) as stopped:
        command(option, "x")
    assert stopped.value.code == 2
    assert option in capsys.readouterr().err
