"""The command `isdp topdown`, from a csv to a table that adds up at every level."""

import json
import logging
import re
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from isdp.cli import main
from isdp.commands.shared.table import read_table
from isdp.commands.topdown.certificate import move_losses
from isdp.commands.topdown.run import FILES, TopDownOptions, arrange, plan_of
from isdp.testing import FALSE_ALARM_RATE
from tests.unit.commands.moves import check_moves

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
    assert {path.name for path in command.out.iterdir()} == set(FILES) - {"released.parquet"}
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
    assert FALSE_ALARM_RATE / 2 < stats.gamma.cdf(sizes, 192) < 1 - FALSE_ALARM_RATE / 2
    for factor in (0.4, 2.5):  # of the variance: such an error is seen
        assert (
            not FALSE_ALARM_RATE / 2
            < stats.gamma.cdf(192 * np.sqrt(factor), 192)
            < 1 - FALSE_ALARM_RATE / 2
        )


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


def test_cells_that_are_not_listed_are_empty(command, frame):
    some = frame[frame["count"] > 100]
    assert command(table=some, levels=("--levels", "state,county")) == 0
    table = released(command)
    assert len(table[table["level"] == "county"]) == some["county"].nunique() * 4
    assert table[table["level"] == "all"]["count"].sum() == some["count"].sum()


WRONG = {
    "levels that do not nest": (lambda frame: frame.replace({"county": {"C0": "A0"}}), "", "'A0'"),
    "a missing parent": (lambda frame: frame.replace({"state": {"B": ""}}), "", "state"),
    "a fractional count": (lambda frame: frame.assign(count=0.5), "", "'count'"),
    "a negative count": (lambda frame: frame.assign(count=-1), "", "'count'"),
    "shares beyond 1": (None, "--share all=1/2 --share state=1/2 --share county=1/2", "shares"),
    "a level without a share": (None, "--share all=1", "queries"),
    "queries that do not add up": (None, "--query detail=1/3", "shares"),
    "no detail": (None, "--query total=1", "'detail'"),
    "an unknown query": (None, "--query colour=1", "'colour'"),
    "an unknown level of a query": (None, "--query town:detail=1", "'town'"),
    "totals that are not asked": (None, "--query detail=1", "--one-pass"),
    "an unknown held level": (None, "--held town", "'town'"),
    "an unknown level": (None, "--levels town", "--levels"),
    "no cells": (None, "--levels state,county,sex,age", "table.csv"),
    "a full structural zero": (None, "--structural-zero sex=f", "sex=f"),
    "an unknown category": (None, "--structural-zero sex=x", "'x'"),
    "an unknown axis": (None, "--structural-zero tribe=x", "'tribe'"),
    "no cell for anybody": (
        lambda frame: frame.assign(count=0),
        "--structural-zero sex=f --structural-zero sex=m",
        "structural zeros",
    ),
    "no share": (None, "--share all", "--share"),
    "a share in words": (None, "--share all=half", "--share"),
    "a share out of reach": (None, "--share all=1e-100000", "--share"),
    "few simulations": (None, "--simulations 3", "--simulations"),
    "simulations without end": (None, "--simulations 10001", "--simulations"),
    "simulations of many digits": (None, f"--simulations {'1' * 5000}", "--simulations"),
    "an epsilon of zero": (None, "--epsilon 0", "epsilon"),
    "an epsilon too small for a query": (None, "--epsilon 1e-13", "--epsilon"),
    **{
        f"a column called {name}": (
            lambda frame, name=name: frame.rename(columns={"count": "people", "sex": name}),
            "--count people",
            repr(name),
        )
        for name in ("level", "region", "count", "margin_simulated")
    },
    "no list of what is present": (None, "--absent-otherwise", "--present"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(command, frame, capsys, case):
    change, options, named = WRONG[case]
    assert command(*options.split(), table=change(frame) if change else frame) == 2
    spoken = capsys.readouterr().err
    assert spoken.count("\n") == 1
    assert named in spoken
    assert not command.out.exists()


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
    assert "which groups are present" in certificate["guarantee"]["held"]
    assert "groups that are present" in certificate["checked_in_integers"]
    assert "2 kinds, by age and region" in (command.out / "certificate.md").read_text()


LEAST = [["A0", "child", "3"], ["A0", "adult", "2"], ["A1", "child", "1"], ["B0", "adult", "4"]]
SOME = [[county, "child"] for county in ("A0", "A1", "A2", "B0", "C1")]


@pytest.mark.parametrize(
    ("rows", "columns", "options", "conflict"),
    [
        (LEAST, "county age least", (), {"total of county A0", "minimum of age=adult in A0"}),
        (
            SOME,
            "county age",
            ("--absent-otherwise",),
            {"total of county C0", "absence of age=adult in C0", "absence of age=child in C0"},
        ),
    ],
)
def test_a_contradiction_is_named_by_constraints_none_of_which_can_be_dropped(
    command, frame, present, capsys, rows, columns, options, conflict
):
    frame["count"] = 1  # four people in each county
    given = (*present(rows, columns.split()), *options)
    assert command(*given, levels=("--levels", "state,county", "--held", "county")) == 2
    message = capsys.readouterr().err
    named = message.rpartition(": ")[2].split("; ")
    assert len(named) == 3
    assert not set("1234") & set(message)  # neither a total nor a minimum count
    assert all(any(part in one for one in named) for part in conflict)
    assert not command.out.exists()


WRONG_PRESENT = {
    "a kind that is absent": ([["A0", "adult"]], "county age", "age=adult in A0"),
    "an unknown region": ([["Z9", "child"]], "county age", "'Z9'"),
    "an unknown kind": ([["A0", "old"]], "county age", "'old'"),
    "an unknown column": ([["A0", "child", "x"]], "county age colour", "colour"),
    "no axis": ([["A0"]], "county", "'county'"),
    "no region": ([["child"]], "age", "'county'"),
    "twice": ([["A0", "child"], ["A0", "child"]], "county age", "line 3"),
    "another state": ([["B", "A0", "child"]], "state county age", "another state"),
    "nobody": ([["A0", "child", "0"]], "county age least", "line 2"),
    "half a person": ([["A0", "child", "0.5"]], "county age least", "'0.5'"),
    "a structural zero": ([["A0", "child"]], "county age", "structural zeros"),
}


@pytest.mark.parametrize("case", WRONG_PRESENT)
def test_a_wrong_file_of_kinds_is_said_in_one_line(command, frame, present, capsys, case):
    rows, columns, named = WRONG_PRESENT[case]
    zeros = case == "a structural zero"
    frame["count"] = np.where((frame["age"] == "adult") == zeros, 917, 0)
    options = ("--structural-zero", "age=child") * zeros
    assert command(*present(rows, columns.split()), *options) == 2
    spoken = capsys.readouterr().err
    assert spoken.count("\n") == 1
    assert named in spoken
    assert "917" not in spoken
    assert not command.out.exists()


def test_kinds_not_listed_that_have_people_are_refused_without_a_count(
    command, frame, present, capsys
):
    frame["count"] = 917
    assert command(*present([["A0", "child"]]), "--absent-otherwise", levels=LEVELS[:2]) == 2
    spoken = capsys.readouterr().err
    assert "--present" in spoken
    assert "age=adult in A0" in spoken
    assert "917" not in spoken


def test_names_that_differ_in_blanks_alone_are_said(command, frame, caplog):
    frame.loc[0, "sex"] = "f "
    assert command() == 0
    assert "sex: 'f' and 'f '" in caplog.text


@pytest.mark.parametrize("flavour", ["pure", "zCDP"])
@pytest.mark.parametrize("held", [(), ("state",)])
def test_the_losses_of_moves_are_those_of_all_pairs_of_cells(tmp_path, flavour, held):
    rows = list(product(["A1", "A2", "B1", "B2"], "fm"))
    table = pd.DataFrame(rows, columns=["county", "sex"]).assign(count=1)
    table.insert(0, "state", table["county"].str[0])
    table.to_csv(tmp_path / "table.csv", index=False)
    options = TopDownOptions(("state", "county"), flavour, Fraction(1), held)
    problem = arrange(read_table(tmp_path / "table.csv"), options.levels)
    plan = plan_of(problem, options)
    found = move_losses(problem, plan)
    changes = np.array(list(product([-1, 0, 1], repeat=8)))
    kept = changes.reshape(-1, 2, 4).sum(axis=2) if held else changes.sum(axis=1, keepdims=True)
    changes = changes[(kept == 0).all(axis=1)]
    power = 1 if flavour == "pure" else 2
    losses = np.zeros(len(changes))
    for level, regions in zip(("all", "state", "county"), (1, 2, 4), strict=True):
        tables = changes.reshape(len(changes), regions, -1, 2).sum(axis=2)
        for query in plan.budget.measured_queries(level):
            answers = tables.sum(axis=2) if query == "total" else tables
            norms = (np.abs(answers) ** power).reshape(len(changes), -1).sum(axis=1)
            losses += float(plan.budget.loss(level, query)) * norms / 2
    pairs = check_moves(found, changes, losses)
    assert max(pairs) <= float(found.farthest) * (1 + 1e-9)
    assert found.farthest == (found.alone if not held else Fraction(power * 2))
