"""Columns that would reveal which records were swapped, or whose they are, are refused."""

import re

import numpy as np
import pandas as pd
import pytest

from isdp import InputError
from isdp.cli import main
from isdp.commands.swap.run import swap_file
from isdp.swapping.mechanism.exact_permutation import permutation_for_release
from tests import ROOT

HOW = {"match": ["state", "size"], "swap": ["county"], "rate": "1/2"}
EXAMPLE = ROOT / "docs/example/people.csv"


def people(count=300, **more):
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "state": rng.choice(["MA", "NH"], count),
            "size": rng.integers(1, 4, count),
            "county": rng.integers(0, 6, count),
            "tenure": rng.choice(["own", "rent"], count),
        }
    )
    return table.assign(**{name: make(table, rng) for name, make in more.items()})


def tract(table, rng):
    return table.county * 10 + rng.integers(0, 3, len(table))


def number(table, rng):
    return 10_000 + rng.permutation(len(table))


@pytest.fixture
def swap(tmp_path):
    """Swap a table; where it is refused, nothing has been drawn or written."""
    draws = []

    def permute(strata, rate):
        draws.append(rate)
        return permutation_for_release(strata, rate)

    def run(table, refused=(), **how):
        path, out = tmp_path / "people.csv", tmp_path / "out"
        table.to_csv(path, index=False)
        draws.clear()
        if not refused:
            return swap_file(path, out, **(HOW | how), permute=permute, force=True)
        with pytest.raises(InputError) as error:
            swap_file(path, out, **(HOW | how), permute=permute)
        message = str(error.value)
        named = [name for name in table.columns if repr(name) in message]
        assert set(named) == set(refused)
        assert not re.search(r"\d", message.replace(str(path), ""))  # no count is quoted
        assert not draws
        assert not out.exists()
        return message

    return run


def test_the_example_without_its_tract_is_refused(tmp_path, capsys):
    given = ["swap", str(EXAMPLE), "--match", "state,size", "--swap", "county", "--rate", "0.05"]
    given += ["--out", str(tmp_path / "out")]
    for options in ([], ["--public", "tract"]):
        assert main([*given, *options]) == 2
        error = capsys.readouterr().err
        assert "'tract'" in error
        assert "--carry" in error
        assert not (tmp_path / "out").exists()
    assert main([*given, "--carry", "tract"]) == 0


def test_a_column_that_determines_the_swapped_one_is_to_be_carried(swap):
    table = people(tract=tract)
    swap(table, refused={"tract", "county"})
    swap(table, refused={"tract", "county"}, public=["tract"])
    swap(table, carry=["tract"])


def test_a_column_may_determine_the_swapped_one_within_the_matched_values_alone(swap):
    """Tract 1 of one state lies in another county than tract 1 of the next."""
    table = people()
    table["tract"] = (table.county + 3 * (table.state == "MA")) % 6
    swap(table, refused={"tract", "county"})


def test_a_column_that_the_swapped_one_determines_is_to_be_matched_or_carried(swap):
    """A county of one state cannot come with the name of another."""
    table = people()
    table["state"] = np.where(table.county < 3, "MA", "NH")
    swap(table, refused={"state", "county"}, match=["size"])
    swap(table, match=["size", "state"])


def test_all_columns_concerned_are_named_at_once(swap):
    table = people(tract=tract, id=number, block=tract)
    message = swap(table, refused={"tract", "block", "id", "county"})
    assert "--carry" in message
    assert "--public" in message


def test_a_column_carried_must_not_be_given_away_either(swap):
    table = people(income=lambda table, rng: rng.integers(0, 20, len(table)))
    table["code"] = "c" + table.income.astype(str)
    swap(table, refused={"code", "income"}, carry=["income"])
    swap(table, carry=["income", "code"])


@pytest.mark.parametrize("value", ["one", ""])
def test_a_column_of_one_value_is_left_alone(swap, value):
    swap(people(year=lambda table, rng: value))


def test_a_column_that_the_matched_ones_determine_is_left_alone(swap):
    """A county lies in one state, but records of different states are not swapped."""
    table = people(name=lambda table, rng: table.state.map({"MA": "Mass.", "NH": "New H."}))
    table["county"] = table.state + table.county.astype(str)
    swap(table)


def test_where_nothing_is_swapped_nothing_is_revealed(swap):
    """In VT all records are of county 9, and another column says so too."""
    table = people()
    table["region"] = table.tenure
    vermont = table.index < 40
    table.loc[vermont, ["state", "county", "region"]] = ["VT", 9, "north"]
    swap(table)


def test_one_exception_and_the_column_does_not_determine(swap):
    table = people(tract=tract)
    table.loc[7, "county"] = (table.county[7] + 1) % 6
    swap(table)


def test_a_serial_number_is_left_out_carried_or_declared(swap, tmp_path):
    table = people(id=number)
    swap(table, refused={"id"})
    certificate = swap(table, public=["id"])
    assert certificate["input"]["public"] == ["id"]
    assert "declared public: id" in (tmp_path / "out" / "certificate.md").read_text()
    assert swap(table, carry=["id"])["input"]["public"] == []


def test_a_matched_column_is_published_too(swap):
    table = people(id=number)
    table.loc[table.index < 30, "id"] = 1
    swap(table, refused={"id"}, match=["id"])
    swap(table, match=["id"], public=["id"])


@pytest.mark.parametrize(
    ("count", "same", "refused"),
    [(49, 1, set()), (50, 1, {"id"}), (100, 10, {"id"}), (100, 11, set())],
)
def test_many_records_nearly_all_different_are_identified(swap, count, same, refused):
    """Of 100 records 91 values are too many, and 90 are not; few records may all differ."""
    table = people(count, id=number)
    table.loc[table.index < same, "id"] = 1
    swap(table, refused=refused)


def test_a_column_declared_must_be_there_and_stay(swap, tmp_path):
    table = people()
    table.to_csv(tmp_path / "people.csv", index=False)
    for column in ("parish", "county"):
        with pytest.raises(InputError, match=column):
            swap_file(tmp_path / "people.csv", tmp_path / "out", **HOW, public=[column])
