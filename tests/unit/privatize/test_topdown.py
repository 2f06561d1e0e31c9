"""The command `isdp topdown`, from a csv to a table that adds up at every level."""

import json
import logging
import re
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from isdp.cli import main
from isdp.privatize.table import read_table
from isdp.privatize.topdown import FILES, Wish, _check, arrange, plan_of
from tests.statistical.checks import ALPHA

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
    def run(*options, table=frame, levels=LEVELS, budget=("--epsilon", "1"), margins=False):
        """Run it, without margins of error unless they are asked for: they take 10 runs more."""
        path = tmp_path / "table.csv"
        if table is not None:
            table.to_csv(path, index=False)
        arguments = ["topdown", str(path), *levels, *budget, "--out", str(tmp_path / "out")]
        return main([*arguments, "--simulations", "10" if margins else "0", *options])

    run.out = tmp_path / "out"
    return run


def released(command):
    return pd.read_csv(command.out / "released.csv")


def counts_of(table, level):
    part = table[table["level"] == level]
    return part.set_index(["region", "sex", "age"])["count"]


def test_the_release_adds_up_and_keeps_what_is_held(command, frame, capsys):
    assert command(margins=True) == 0
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
    assert command("--seed", "5", margins=True) == 0
    before = (command.out / "released.csv").read_bytes()
    assert command("--seed", "5", "--force", table=frame.sort_values("count"), margins=True) == 0
    assert (command.out / "released.csv").read_bytes() == before


def test_two_releases_differ_and_none_is_the_truth(command, frame):
    """Where up to m people were moved by chance, what is released can hardly be what came out.

    Whether k people were moved changes the chance of any output by a factor exp(k epsilon) at most.
    A release cannot depend on the chance that moved them but for that, so that a county comes out
    as it is at most exp(m epsilon) times in m, whatever the others do: three of six do by chance
    20 (e / 1000)^3 = 4e-7 times, by the guarantee alone.
    """
    moved = pd.Series(np.random.default_rng().integers(0, 1000, 6), frame["county"].unique())
    kind = frame["sex"] + frame["age"]
    signs = kind.map({"fchild": 1, "madult": -1}).fillna(0).astype(int)
    frame["count"] = 1000 + frame["county"].map(moved) * signs
    measured, budget = [], ("--epsilon", "0.001")
    for _ in range(2):
        assert command("--force", budget=budget) == 0
        measured.append((command.out / "measurements.csv").read_bytes())
        found = counts_of(released(command), "county").unstack("region").sort_index()
        true = frame.pivot(index=["sex", "age"], columns="county", values="count").sort_index()
        assert (found == true).all().sum() < 3
    # equal noise in 24 cells, where none has a chance above epsilon / 12: never
    assert measured[0] != measured[1]


def test_the_budget_is_stated_level_by_level_and_adds_up(command):
    assert command() == 0
    budget = pd.read_csv(command.out / "budget.csv")
    assert budget.groupby("level")["loss"].sum().to_numpy() == pytest.approx([1 / 3] * 3)
    assert "total" not in set(budget[budget["level"] == "state"]["query"])  # it is held
    certificate = json.loads((command.out / "certificate.json").read_text())
    assert [row["loss"] for row in certificate["budget"]] == ["1/3"] * 3
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", certificate["date"])
    assert certificate["for_release"]
    assert certificate["guarantee"]["epsilon_per_person"] == "1"


def test_what_is_not_for_release_claims_no_guarantee(command, capsys):
    for options in ((), ("--for-experiments", "--force"), ("--seed", "5", "--force")):
        assert command(*options) == 0
        text = (command.out / "certificate.md").read_text()
        for words in (text, capsys.readouterr().out):
            assert ("of the law asked for, and not of this draw: " in words) == bool(options)
        assert ("No guarantee holds for this table" in text) == bool(options)
        assert ("Who has the seed" in text) == ("--seed" in options)


def test_structural_zeros_are_published_and_said(command, frame):
    options = ("--structural-zero", "sex=f,age=child", "--structural-zero", "sex=m,age=child")
    assert (
        command(*options, table=frame.assign(count=frame["count"] * (frame["age"] != "child"))) == 0
    )
    text = (command.out / "certificate.md").read_text()
    assert "structural zeros, where nobody can be: sex=f, age=child; sex=m, age=child" in text
    assert "nobody is in a structural zero" in text
    assert "between two tables that agree in the number of people, the total of each state" in text
    assert command("--force") == 0
    assert "structural zeros, where" not in (command.out / "certificate.md").read_text()


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
    table = pd.concat([frame.assign(county=frame["county"] + str(i)) for i in range(8)])
    assert command(table=table) == 0
    noisy = pd.read_csv(command.out / "measurements.csv", keep_default_na=False)
    assert noisy.columns.tolist() == ["level", "region", "query", "answer", "measured", "variance"]
    detail = noisy[(noisy["level"] == "county") & (noisy["query"] == "detail")]
    found = detail.set_index(["region", "answer"])["measured"]
    names = table["sex"] + ", " + table["age"]
    true = table.set_index([table["county"], names])["count"]
    error = found.sort_index() - true.rename_axis(found.index.names).sort_index()
    # sizes of Laplace noise are exponential, and the sum of 192 of them is a gamma variable
    sizes = error.abs().sum() / np.sqrt(detail["variance"].iloc[0] / 2)
    assert len(error) == 192
    assert ALPHA / 2 < stats.gamma.cdf(sizes, 192) < 1 - ALPHA / 2
    for factor in (0.4, 2.5):  # of the variance: such an error is seen
        assert not ALPHA / 2 < stats.gamma.cdf(192 * np.sqrt(factor), 192) < 1 - ALPHA / 2


def test_structural_zeros_stay_empty_in_every_region(command, frame):
    frame.loc[(frame["sex"] == "m") & (frame["age"] == "child"), "count"] = 0
    assert command("--structural-zero", "sex=m,age=child", margins=True) == 0
    table = released(command)
    empty = (table["sex"] == "m") & (table["age"] == "child")
    assert (table.loc[empty, "count"] == 0).all()
    assert (table.loc[empty, "margin_simulated"] == 0).all()
    assert table.loc[~empty, "count"].sum() == 3 * frame["count"].sum()


def test_no_confidential_count_is_said_or_written(command, frame, capsys, caplog):
    """Of counts that chance moved by up to m = 10^10, hardly one is met by chance.

    By the guarantee N numbers that are written meet one of the counts moved together with a chance
    of at most 2 N exp(m epsilon / 2) / m, whatever becomes of the others, and a state's total with
    half of that. At N = 200 those of a pair of twelve are met 1.3e-6 times, one of three totals
    1.6e-7.
    """
    m, budget = 10**10, ("--epsilon", "0.0000000002")
    moved = np.random.default_rng().integers(0, m, 12)  # from states B and C to state A
    frame["count"] = BASE + np.arange(24) * 2 * m + np.concatenate([moved, -moved])
    with caplog.at_level(logging.DEBUG):
        assert command(budget=budget, levels=("--levels", "state,county"), margins=True) == 0
    spoken = capsys.readouterr()
    texts = [spoken.out, spoken.err, caplog.text]
    texts += [path.read_text() for path in command.out.iterdir()]
    written = {int(n) for text in texts for n in re.findall(r"(?<![\d.])\d+(?!\.?\d)", text)}
    large = {n for n in written if n > BASE / 2}
    assert 60 < len(large) < 200  # large counts are found by the search
    pairs = frame["count"].isin(written).to_numpy().reshape(2, 12).any(axis=0)
    assert not pairs.any()
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
    assert command() == 0
    # a cell's noise has a scale of 12 persons, so that 10^6 are never reached
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
        "has a decimal point",
    ),
    "a negative count": (lambda frame: frame.assign(count=-1), (), "is negative"),
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
    "a share in words": (
        None,
        ("--share", "all=half"),
        "--share: the share must be",
    ),
    "a share out of reach": (None, ("--share", "all=1e-100000"), "share"),
    "few simulations": (None, ("--simulations", "3"), "0 or from 10 up"),
    "simulations without end": (None, ("--simulations", "10001"), "from 10 up to 10,000"),
    "simulations of many digits": (None, ("--simulations", "1" * 5000), "must be a whole number"),
    "an epsilon of zero": (None, ("--epsilon", "0"), "epsilon must lie between"),
    "an epsilon too small for a query": (None, ("--epsilon", "1e-13"), "--epsilon: "),
    **{
        f"a column called {name}": (
            lambda frame, name=name: frame.rename(columns={"count": "people", "sex": name}),
            ("--count", "people"),
            repr(name),
        )
        for name in ("level", "region", "count", "margin_simulated")
    },
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
    assert command() == 0
    assert command() == 2
    assert "costs its loss again" in capsys.readouterr().err
    assert command("--force") == 0


class Wrong(NamedTuple):
    """A release as the check takes it."""

    tables: dict


@pytest.mark.parametrize(
    ("level", "change", "words"),
    [
        (None, 0, None),
        ("county", -1, "a released count is negative"),
        ("county", 1, "do not add up"),
        ("all", 1, "do not add up"),
        ("every level", 1, "a held total has changed"),
    ],
)
def test_a_release_is_checked_before_it_is_written(tmp_path, level, change, words):
    """One count is off by one: below zero, or so that the levels do not add up."""
    rows = [(f"{state}{i}", state, sex, 0) for state in "AB" for i in "01" for sex in "fm"]
    table = pd.DataFrame(rows, columns=["county", "state", "sex", "count"])
    table.to_csv(tmp_path / "table.csv", index=False)
    problem = arrange(read_table(tmp_path / "table.csv"), ["state", "county"])
    plan = plan_of(problem, Wish(("state", "county"), "pure", Fraction(1), held=("state",)))
    tree = problem.hierarchy
    tables = dict(zip(tree.levels, map(np.copy, tree.aggregate(problem.counts)), strict=True))
    if level in tables:
        tables[level][0, 0] += change
    if level == "every level":
        for table in tables.values():
            table[0, 0] += change
    if words is None:
        _check(problem, plan, Wrong(tables))
    else:
        with pytest.raises(AssertionError, match=words):
            _check(problem, plan, Wrong(tables))


@pytest.fixture
def present(tmp_path, frame):
    """Write a file of kinds that are present, all that have somebody unless told otherwise."""

    def write(rows=None, columns=("county", "age")):
        path = tmp_path / "present.csv"
        if rows is None:
            kinds = frame.groupby(list(columns), as_index=False)["count"].sum()
            rows = kinds.loc[kinds["count"] > 0, list(columns)].to_numpy().tolist()
        pd.DataFrame(rows, columns=list(columns)).to_csv(path, index=False)
        return ("--present", str(path))

    return write


@pytest.mark.parametrize("held", [(), ("--held", "state"), ("--held", "county")])
def test_kinds_that_are_present_have_somebody_and_others_nobody(command, frame, present, held):
    frame["count"] = np.where(
        frame["age"] == "child", 200 * frame["county"].isin(["A0", "C1"]), 200
    )
    levels = ("--levels", "state,county", *held)
    noisy = ("--epsilon", "0.05")
    options = (*present(), "--absent-otherwise")
    for seed in range(3):
        seeded = ("--seed", str(seed), "--force")
        assert command(*options, *seeded, levels=levels, budget=noisy) == 0
        table = released(command)
        kinds = table[table["level"] == "county"].groupby(["region", "age"])["count"].sum()
        assert (kinds[:, "adult"] > 0).all()
        children = kinds[:, "child"]
        assert (children[["A0", "C1"]] > 0).all()
        assert children.drop(["A0", "C1"]).sum() == 0
        if held:
            totals = table[table["level"] == held[1]].groupby("region")["count"].sum()
            assert totals.to_dict() == frame.groupby(held[1])["count"].sum().to_dict()
    # without the file the same noise puts children there
    assert command(*seeded, levels=levels, budget=noisy) == 0
    free = released(command)
    without = free[free["level"] == "county"].groupby(["region", "age"])["count"].sum()
    assert without.drop(["A0", "C1"], level=0)[:, "child"].any()


def test_the_certificate_says_what_is_present(command, frame, present):
    frame["count"] += 1
    least = [["A0", "child", "2"], ["B0", "adult", "1"]]
    assert command(*present(least, ("county", "age", "least")), margins=True) == 0
    certificate = json.loads((command.out / "certificate.json").read_text())
    assert certificate["present"] == {
        "file": "present.csv",
        "axes": ["age"],
        "listed": 2,
        "absent_otherwise": False,
    }
    assert "which kinds are present" in certificate["guarantee"]["held"]
    assert "kinds that are present" in certificate["checked_in_integers"]
    assert "2 kinds, by age and region" in (command.out / "certificate.md").read_text()


def test_a_cell_that_must_not_be_empty(command, frame, present):
    frame["count"] = 1
    cells = [["A0", "f", "child"], ["A0", "m", "adult"]]
    options = present(cells, ("county", "sex", "age"))
    for seed in range(5):
        extra = ("--seed", str(seed), "--force")
        assert command(*options, *extra, budget=("--epsilon", "0.05")) == 0
        county = counts_of(released(command), "county")
        assert county["A0", "f", "child"] >= 1
        assert county["A0", "m", "adult"] >= 1


def conflict_of(text):
    (line,) = [line for line in text.splitlines() if "contradict each other" in line]
    return line.split("dropped: ")[1].split("; ")


def test_a_contradiction_is_named_by_constraints_none_of_which_can_be_dropped(
    command, frame, present, capsys
):
    frame["count"] = 1  # four people in each county
    rows = [["A0", "child", "3"], ["A0", "adult", "2"], ["A1", "child", "1"], ["B0", "adult", "4"]]
    options = present(rows, ("county", "age", "least"))
    assert command(*options, levels=("--levels", "state,county", "--held", "county")) == 2
    found = conflict_of(capsys.readouterr().err)
    assert found == [
        "the total 4 of county A0",
        "at least 2 of age=adult in A0",
        "at least 3 of age=child in A0",
    ]
    assert not command.out.exists()


def test_people_and_no_kind_contradict_each_other(command, frame, present, capsys):
    frame["count"] = 1
    rows = [[county, "child"] for county in ("A0", "A1", "A2", "B0", "C1")]
    options = (*present(rows), "--absent-otherwise")
    assert command(*options, levels=("--levels", "state,county", "--held", "county")) == 2
    found = conflict_of(capsys.readouterr().err)
    assert found == [
        "the total 4 of county C0",
        "nobody of age=adult in C0",
        "nobody of age=child in C0",
    ]


WRONG_PRESENT = {
    "a kind that is absent": ([["A0", "adult"]], ("county", "age"), "fewer people"),
    "an unknown region": ([["Z9", "child"]], ("county", "age"), "line 2: the table has no county"),
    "an unknown kind": ([["A0", "old"]], ("county", "age"), "no age 'old'"),
    "an unknown column": ([["A0", "child", "x"]], ("county", "age", "colour"), "wanted the column"),
    "no axis": ([["A0"]], ("county",), "wanted the column"),
    "no region": ([["child"]], ("age",), "wanted the column 'county'"),
    "twice": ([["A0", "child"], ["A0", "child"]], ("county", "age"), "line 3 stands there twice"),
    "another state": ([["B", "A0", "child"]], ("state", "county", "age"), "lies in another state"),
    "nobody": ([["A0", "child", "0"]], ("county", "age", "least"), "asks for nobody"),
    "half a person": ([["A0", "child", "0.5"]], ("county", "age", "least"), "no least number"),
    "a structural zero": ([["A0", "child"]], ("county", "age"), "structural zeros say"),
}


@pytest.mark.parametrize("case", WRONG_PRESENT)
def test_a_wrong_file_of_kinds_is_said_in_one_line(command, frame, present, capsys, case):
    rows, columns, words = WRONG_PRESENT[case]
    frame["count"] = np.where(frame["age"] == "adult", 0, 917)
    options = present(rows, columns)
    if case == "a structural zero":
        frame["count"] = np.where(frame["age"] == "adult", 917, 0)
        options += ("--structural-zero", "age=child")
    assert command(*options) == 2
    spoken = capsys.readouterr().err
    assert spoken.count("\n") == 1
    assert words in spoken
    assert "917" not in spoken
    assert not command.out.exists()


def test_kinds_not_listed_that_have_people_are_refused_without_a_count(
    command, frame, present, capsys
):
    frame["count"] = 917
    assert command(*present([["A0", "child"]]), "--absent-otherwise", levels=LEVELS[:2]) == 2
    spoken = capsys.readouterr().err
    assert "people where --present lists none: age=adult in A0" in spoken
    assert "917" not in spoken


def test_absent_otherwise_needs_a_list(command, capsys):
    assert command("--absent-otherwise") == 2
    assert "without --present" in capsys.readouterr().err


def test_names_that_differ_in_blanks_alone_are_said(command, frame, caplog):
    frame.loc[0, "sex"] = "f "
    assert command() == 0
    assert "sex: 'f' and 'f ' differ in blanks alone, and count as different values" in caplog.text
