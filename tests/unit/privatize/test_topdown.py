"""The command `isdp topdown`, from a csv to a table that adds up at every level."""

import json
import logging
import re

import numpy as np
import pandas as pd
import pytest

from isdp.cli import main
from isdp.privatize.topdown import FILES

LEVELS = ("--levels", "state,county", "--held", "state")
BASE = 917_330_000  # no other number in any file looks like a count


@pytest.fixture
def frame():
    rng = np.random.default_rng(7)
    rows = [
        (state, f"{state}{county}", sex, age)
        for state, counties in (("A", 3), ("B", 1), ("C", 2))
        for county in range(counties)
        for sex in "fm"
        for age in ("child", "adult")
    ]
    table = pd.DataFrame(rows, columns=["state", "county", "sex", "age"])
    return table.assign(count=rng.integers(0, 400, len(rows)))


@pytest.fixture
def command(tmp_path, frame):
    def run(*options, table=frame, levels=LEVELS, budget=("--epsilon", "1")):
        path = tmp_path / "table.csv"
        if table is not None:
            table.to_csv(path, index=False)
        arguments = ["topdown", str(path), *levels, *budget, "--out", str(tmp_path / "out")]
        return main([*arguments, *options])

    run.out = tmp_path / "out"
    return run


def released(command):
    return pd.read_csv(command.out / "released.csv")


def counts_of(table, level):
    part = table[table["level"] == level]
    return part.set_index(["region", "sex", "age"])["count"]


def test_the_release_adds_up_and_keeps_what_is_held(command, frame, capsys):
    assert command() == 0
    assert {path.name for path in command.out.iterdir()} == set(FILES)
    table = released(command)
    assert table["count"].dtype == np.int64
    assert table["count"].min() >= 0
    state_of = frame.set_index("county")["state"].to_dict()
    county = counts_of(table, "county").reset_index()
    sums = county.groupby([county["region"].map(state_of), "sex", "age"])["count"].sum()
    assert sums.tolist() == counts_of(table, "state").sort_index().tolist()
    whole = county.groupby(["sex", "age"])["count"].sum()
    assert whole.tolist() == counts_of(table, "all").sort_index().tolist()
    totals = table[table["level"] == "state"].groupby("region")["count"].sum()
    assert totals.to_dict() == frame.groupby("state")["count"].sum().to_dict()
    assert "epsilon per person is at most 1" in capsys.readouterr().out


def test_the_order_of_the_rows_tells_nothing(command, frame):
    assert command("--seed", "5") == 0
    before = (command.out / "released.csv").read_bytes()
    assert command("--seed", "5", "--force", table=frame.sort_values("count")) == 0
    assert (command.out / "released.csv").read_bytes() == before


def test_two_releases_differ_and_none_is_the_truth(command, frame):
    tables = []
    for _ in range(2):
        assert command("--force", "--simulations", "0") == 0
        tables.append(counts_of(released(command), "county").sort_index())
    true = frame.rename(columns={"county": "region"}).set_index(["region", "sex", "age"])["count"]
    assert not tables[0].equals(tables[1])
    assert (tables[0] != true.sort_index()).mean() > 0.5


def test_the_budget_is_stated_level_by_level_and_adds_up(command):
    assert command() == 0
    budget = pd.read_csv(command.out / "budget.csv")
    assert budget.groupby("level")["loss"].sum().to_numpy() == pytest.approx([1 / 3] * 3)
    assert "total" not in set(budget[budget["level"] == "state"]["query"])  # it is held
    certificate = json.loads((command.out / "certificate.json").read_text())
    assert [row["loss"] for row in certificate["budget"]] == ["1/3"] * 3
    assert certificate["for_release"]
    assert certificate["guarantee"]["epsilon_per_person"] == "1"


def test_shares_are_those_given(command):
    shares = ("--share", "all=0.2", "--share", "state=1/5", "--share", "county=3/5")
    queries = ("--query", "county:total=1/4", "--query", "county:sex*age=3/4")
    assert command(*shares, *queries, budget=("--rho", "0.5")) == 0
    budget = pd.read_csv(command.out / "budget.csv")
    county = budget[budget["level"] == "county"].set_index("query")["loss"]
    assert county.to_dict() == pytest.approx({"total": 0.5 * 0.6 / 4, "sex*age": 0.5 * 0.6 * 0.75})
    certificate = json.loads((command.out / "certificate.json").read_text())
    assert certificate["guarantee"]["flavour"] == "zCDP"


def test_measurements_are_the_truth_and_noise_of_the_stated_variance(command, frame):
    assert command("--simulations", "0", budget=("--epsilon", "6")) == 0
    noisy = pd.read_csv(command.out / "measurements.csv", keep_default_na=False)
    detail = noisy[(noisy["level"] == "county") & (noisy["query"] == "detail")]
    found = detail.set_index(["region", "answer"])["measured"]
    names = frame["sex"] + ", " + frame["age"]
    true = frame.set_index([frame["county"], names])["count"]
    error = found.sort_index() - true.rename_axis(found.index.names).sort_index()
    variance = detail["variance"].iloc[0]
    # 24 draws whose squares have a standard deviation of sqrt(5) variances
    assert (error**2).mean() < variance * (1 + 6 * np.sqrt(5 / 24))
    assert error.abs().sum() > 0


def test_structural_zeros_stay_empty_in_every_region(command, frame):
    frame.loc[(frame["sex"] == "m") & (frame["age"] == "child"), "count"] = 0
    assert command("--structural-zero", "sex=m,age=child") == 0
    table = released(command)
    empty = (table["sex"] == "m") & (table["age"] == "child")
    assert (table.loc[empty, "count"] == 0).all()
    assert (table.loc[empty, "margin_simulated"] == 0).all()
    assert table.loc[~empty, "count"].sum() == 3 * frame["count"].sum()


def test_no_confidential_count_is_said_or_written(command, frame, capsys, caplog):
    frame["count"] = BASE + np.arange(1, 1 + len(frame)) * 1017
    with caplog.at_level(logging.DEBUG):
        assert command(budget=("--epsilon", "0.01"), levels=("--levels", "state,county")) == 0
    spoken = capsys.readouterr()
    texts = [spoken.out, spoken.err, caplog.text]
    texts += [path.read_text() for path in command.out.iterdir()]
    written = {int(n) for text in texts for n in re.findall(r"(?<![\d.])\d+(?!\.?\d)", text)}
    assert any(n > BASE - 10**6 for n in written)  # large counts are found by the search
    hits = written & set(frame["count"])
    # 24 counts among some hundred noisy ones of standard deviation above 100: chance gives few
    assert len(hits) <= 4
    sums = {int(each) for each in frame.groupby("state")["count"].sum()}
    assert not written & sums


def test_a_wrong_table_is_not_quoted(command, frame, capsys):
    frame["count"] = frame["count"].astype(object)
    frame.loc[3, "count"] = -5
    assert command(table=frame) == 2
    assert not command.out.exists()
    assert capsys.readouterr().err.count("\n") == 1


def test_a_parent_of_nobody_and_a_level_with_one_child(command, frame):
    frame.loc[frame["state"] == "C", "count"] = 0
    assert command() == 0
    table = released(command)
    assert table[table["region"].isin(["C", "C0", "C1"])]["count"].sum() == 0
    for cell, count in counts_of(table, "state").loc["B"].items():
        assert counts_of(table, "county").loc[("B0", *cell)] == count


def test_a_thousand_million_people_in_a_cell(command, frame):
    frame.loc[0, "count"] = 10**9
    assert command("--simulations", "0") == 0
    assert released(command)["count"].max() > 10**9 - 10**6


def test_cells_that_are_not_listed_are_empty(command, frame):
    some = frame[frame["count"] > 100]
    assert command(table=some, levels=("--levels", "state,county")) == 0
    table = released(command)
    assert len(table[table["level"] == "county"]) == some["county"].nunique() * 4
    assert table[table["level"] == "all"]["count"].sum() == some["count"].sum()


WRONG = {
    "levels that do not nest": (
        lambda frame: frame.replace({"county": {"C0": "A0"}}),
        (),
        "levels must nest",
    ),
    "a missing parent": (
        lambda frame: frame.replace({"state": {"B": ""}}),
        (),
        "row 13: state is empty",
    ),
    "a fractional count": (
        lambda frame: frame.assign(count=frame["count"] + 0.5),
        (),
        "with a decimal point",
    ),
    "a negative count": (lambda frame: frame.assign(count=-1), (), "which is negative"),
    "shares beyond 1": (
        None,
        ("--share", "all=1/2", "--share", "state=1/2", "--share", "county=1/2"),
        "add up to 1",
    ),
    "a level without a share": (None, ("--share", "all=1"), "queries"),
    "queries that do not add up": (None, ("--query", "detail=1/3"), "add up to 1"),
    "no detail": (None, ("--query", "total=1"), "does not ask for 'detail'"),
    "an unknown query": (None, ("--query", "colour=1"), "nor made of the axes sex, age"),
    "an unknown level of a query": (None, ("--query", "town:detail=1"), "no level 'town'"),
    "totals that are not asked": (None, ("--query", "detail=1"), "--one-pass"),
    "an unknown held level": (None, ("--held", "town"), "no level 'town'"),
    "an unknown level": (None, ("--levels", "town"), "must be different columns"),
    "no cells": (None, ("--levels", "state,county,sex,age"), "says what a cell is"),
    "a full structural zero": (None, ("--structural-zero", "sex=f"), "contradict each other"),
    "an unknown category": (None, ("--structural-zero", "sex=x"), "no category 'x'"),
    "an unknown axis": (None, ("--structural-zero", "tribe=x"), "no axis 'tribe'"),
    "no share": (None, ("--share", "all"), "needs NAME=VALUE"),
    "a share in words": (None, ("--share", "all=half"), "such as 0.25 or 1/4"),
    "few simulations": (None, ("--simulations", "3"), "0 or from 10 up"),
    "an epsilon of zero": (None, ("--epsilon", "0"), "epsilon must lie between"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(command, frame, capsys, case):
    change, options, words = WRONG[case]
    assert command(*options, table=change(frame) if change else frame) == 2
    spoken = capsys.readouterr().err
    assert spoken.count("\n") == 1
    assert words in spoken
    assert not command.out.exists()


def test_structural_zeros_that_leave_nobody_anywhere_to_be(command, frame, capsys):
    frame["count"] = 0
    options = ("--structural-zero", "sex=f", "--structural-zero", "sex=m")
    assert command(*options) == 2
    assert "leave no cell" in capsys.readouterr().err


def test_files_that_are_there_are_replaced_only_by_force(command, capsys):
    assert command("--simulations", "0") == 0
    assert command("--simulations", "0") == 2
    assert "costs its loss again" in capsys.readouterr().err
    assert command("--simulations", "0", "--force") == 0
