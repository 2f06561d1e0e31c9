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
    assert "no figure per person: a record need not be a person" in printed
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
    assert "1 record cannot change, in 1 of 7 strata" in command.capsys.readouterr().out


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"rate": "0"}, "no privacy is left"),
        ({"rate": "1"}, "no finite epsilon"),
        ({"rate": "5"}, "5 % is 0.05"),
        ({"rate": "-0.5"}, "got -1/2"),
        ({"rate": "five"}, "must be a number such as"),
        ({"rate": "nan"}, "must be a number"),
        ({"rate": "1/0"}, "must be a number such as"),
        ({"swap": "parish"}, "no column 'parish'"),
        ({"match": "state,parish"}, "no column 'parish'"),
        ({"match": "state,county"}, "named twice"),
        ({"swap": ""}, "names no column"),
    ],
)
def test_what_will_not_do_is_said_in_one_line(command, how, words):
    assert words in command.refused(**how)


def test_a_column_that_stands_twice_is_refused(command):
    command.path.write_text("state,size,county,county\n1,2,3,4\n1,2,4,4\n")
    assert "stands there twice" in command.refused()


def test_a_missing_value_of_the_key_is_refused(command):
    table = people().astype(object)
    table.loc[7, "size"] = None
    command.write(table)
    assert "row 8: size is missing" in command.refused()


def test_a_column_called_like_a_weight_is_refused(command):
    command.write(people().assign(weight=1))
    assert "no guarantee for weighted records" in command.refused()


def test_records_that_are_alone_or_alike_are_refused(command):
    command.write(people().assign(size=np.arange(400)))
    assert "every record is alone in its stratum" in command.refused()
    command.write(people().assign(county="one"))
    assert "would be published as they are" in command.refused(carry="")


def test_a_second_release_needs_a_word(command):
    assert command() == 0
    first = command.swapped
    assert command() == 2
    assert "costs epsilon again" in command.capsys.readouterr().err
    assert command.swapped.equals(first)
    assert command("--force") == 0


def test_the_order_of_the_records_tells_nothing(command):
    """A file sorted by county comes out in the order of its released columns."""
    table = people().sort_values("county", ignore_index=True)
    command.write(table[["tenure", "county", "size", "state"]])
    assert command(carry="") == 0
    after = command.swapped
    assert after.equals(after.sort_values(list(after.columns), ignore_index=True))


def test_many_records_in_half_as_many_strata(command):
    count, rng = 100_000, np.random.default_rng(1)
    table = pd.DataFrame({"key": np.arange(count) // 2, "county": rng.integers(0, 14, count)})
    command.write(table)
    assert command(match="key", carry="", rate="0.05") == 0
    assert counted(table, ["key"]).equals(counted(command.swapped, ["key"]))


@pytest.mark.parametrize("option", ["--weight", "--hierarchy", "--targeted", "--seed"])
def test_there_is_no_option_for_what_has_no_guarantee(command, option, capsys):
    with pytest.raises(SystemExit) as stopped:
        command(option, "x")
    assert stopped.value.code == 2
    assert option in capsys.readouterr().err


def test_the_help_says_why(capsys):
    with pytest.raises(SystemExit):
        main(["swap", "--help"])
    words = " ".join(capsys.readouterr().out.split())
    for said in ("no option for weighted records", "guarantee is known", "Name it in --carry"):
        assert said in words
