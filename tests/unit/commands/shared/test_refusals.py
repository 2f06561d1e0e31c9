"""What is refused before any noise is drawn, and goes through where it is accepted by name."""

import inspect
import os
from itertools import product

import numpy as np
import pandas as pd
import pytest

from isdp import SYSTEM_RANDOMNESS, GeneralizedGaussian, GeneralizedLaplace, InputError, draw_noise
from isdp.cli import main
from isdp.commands.privatize.dataframe import privatize_frame
from isdp.commands.privatize.run import FILES
from isdp.commands.shared.degrees_of_freedom import find_degrees_of_freedom
from isdp.commands.shared.invariants_file import HeldTotals
from isdp.commands.shared.refusals import (
    MAX_PROBABILITY_UNCHANGED,
    MISSING_ROWS,
    NAMES,
    SORTED_ROWS,
    WEAK_NOISE,
    bound_unchanged,
    lists_some_combinations,
)
from isdp.commands.shared.table import read_table
from isdp.exact import total_distribution

MARGINS = "totals: [row, column]"


class DrawnError(BaseException):  # the commands turn any other error into an exit status
    """Raised where randomness is taken from the system."""


@pytest.fixture
def undrawn(monkeypatch):
    """Fail where noise is drawn for a release."""

    def urandom(count, system=os.urandom):
        if inspect.currentframe().f_back.f_globals["__name__"].startswith("isdp."):
            raise DrawnError
        return system(count)  # for the names of files in which numba keeps compiled code

    monkeypatch.setattr("os.urandom", urandom)


def grid(path, columns, values):
    """Write a table of all combinations of some values, neither sorted nor with a zero."""
    rows = list(product(*values))
    table = pd.DataFrame(rows, columns=columns)
    table["count"] = [7 + 5 * (i % 3) - i % 2 for i in range(len(rows))]
    table.to_csv(path, index=False)
    return table


def sort_rows(run):
    path = run.folder / "table.csv"
    pd.read_csv(path).sort_values("count", ascending=False).to_csv(path, index=False)


def drop_rows(run):
    table = pd.read_csv(run.folder / "table.csv")
    table["count"] += 1 + table.index % 2
    table.drop(index=[3, 11]).to_csv(run.folder / "table.csv", index=False)


RISKS = {
    WEAK_NOISE: (lambda run: None, "25"),
    SORTED_ROWS: (sort_rows, "0.25"),
    MISSING_ROWS: (drop_rows, "0.25"),
}


@pytest.mark.parametrize("name", RISKS)
def test_a_risk_is_refused_before_anything_is_drawn(run, undrawn, name):
    change, epsilon = RISKS[name]
    change(run)
    assert f"--accept {name}" in run.refused(epsilon=epsilon)
    others = [f"--accept={other}" for other in NAMES if other != name]
    assert f"--accept {name}" in run.refused(*others, epsilon=epsilon)
    with pytest.raises(DrawnError):
        run("--accept", name, epsilon=epsilon)


@pytest.mark.parametrize("name", RISKS)
def test_an_accepted_risk_is_in_the_certificate_and_nothing_else_of_it(run, caplog, name):
    change, epsilon = RISKS[name]
    assert run("--accept", name, epsilon="0.25") == 0  # whether there is the risk or not
    without = run.certificate
    change(run)
    assert run("--force", f"--accept={name}", f"--accept={name}", epsilon=epsilon) == 0
    assert run.certificate["accepted"] == without["accepted"] == [name]
    assert f"`--accept`): {name}\n" in (run.out / "certificate.md").read_text()
    assert caplog.records == []
    for file in set(FILES) & {path.name for path in run.out.iterdir()}:
        assert "in the order of" not in (run.out / file).read_text()


@pytest.mark.parametrize("command", ["privatize", "topdown"])
def test_unknown_risks_are_refused_with_the_known_ones(run, undrawn, command):
    arguments = [command, str(run.folder / "table.csv"), "--epsilon=1", "--accept=all"]
    more = {"privatize": ["--invariants", str(run.folder / "rules.yaml")]}
    assert main([*arguments, *more.get(command, ["--levels=county"])]) == 2
    error = run.capsys.readouterr().err
    assert error.count("\n") == 1
    assert "'all'" in error
    for name in NAMES if command == "privatize" else [WEAK_NOISE]:
        assert name in error


@pytest.mark.parametrize(
    ("rules", "name"),
    [
        ("totals: [sex, [sex]]", "['sex'] is repeated"),
        ("totals: [area, [area, sex]]", "area: A, sex: f"),
    ],
)
def test_totals_of_one_name_are_refused(run, undrawn, rules, name):
    """A recipient looks a total up by its name."""
    run.table('area,sex,count\nA,f,4\nA,m,0\n"A, sex: f",f,6\n"A, sex: f",m,5\n')
    run.rules(rules)
    error = run.refused()
    assert "rules.yaml: " in error
    assert name in error


@pytest.mark.parametrize(("last", "sorted_"), [(9, True), (0, False)])
@pytest.mark.parametrize("rows", [5, 6])
def test_six_sorted_rows_are_refused(run, undrawn, rows, last, sorted_):
    counts = [*range(1, rows), last]
    run.table("cell,count\n" + "".join(f"c{i},{n}\n" for i, n in enumerate(counts)))
    run.rules("total: true")
    if sorted_ and rows == 6:
        assert SORTED_ROWS in run.refused()
    else:
        with pytest.raises(DrawnError):
            run()


COUNTIES = {"A": ("A1", "A2", "A3"), "B": ("B1", "B2")}
NESTED = [(s, c, x, g) for s, some in COUNTIES.items() for c in some for x in "fm" for g in "yo"]


def coded(rows):
    """Give each pair of county and sex a code, and each row a number."""
    return [(*row, f"code {row[1]}{row[2]}", str(i)) for i, row in enumerate(rows)]


@pytest.mark.parametrize(
    ("columns", "rows", "missing"),
    [
        ("row column", product("abc", "xy"), False),
        ("row column", [r for r in product("abc", "xy") if r != ("b", "x")], True),
        ("cell", product("abcdef"), False),
        ("state county sex age", NESTED, False),
        ("sex age county state", [row[::-1] for row in NESTED], False),
        ("state county sex age", NESTED[1:], True),
        ("state county", {row[:2] for row in NESTED}, False),
        ("state county sex age code number", coded(NESTED), False),
        ("state county sex age code number", coded(NESTED[1:]), True),
        # a code of the pairs that are listed does not hide the pairs that are not
        ("state county sex age code number", coded(NESTED[2:]), True),
        # counties numbered within their states: whether B, 3 is a county cannot be told
        ("state county sex", [(s, n, x) for s, n in ("A1", "A2", "A3", "B1") for x in "fm"], True),
        ("year place name", [(y, p, p.upper()) for y in "12" for p in "abc"], False),
    ],
)
def test_columns_that_others_determine_are_left_out_of_the_combinations(
    run, columns, rows, missing
):
    table = pd.DataFrame(sorted(rows), columns=columns.split())
    path = run.folder / "table.csv"
    table.assign(count=3).to_csv(path, index=False)
    assert lists_some_combinations(read_table(path)) == missing
    zero = table.assign(count=np.where(table.index == 1, 0, 3))
    zero.to_csv(path, index=False)
    assert not lists_some_combinations(read_table(path))


def test_the_noise_is_too_weak_where_nineteen_counts_in_twenty_stay(run):
    def share(epsilon):
        return total_distribution(4, epsilon).within(0)

    assert share(2.3) < MAX_PROBABILITY_UNCHANGED < share(2.4)
    assert run(epsilon="2.3") == 0
    assert WEAK_NOISE in run.refused("--force", epsilon="2.4")


@pytest.mark.parametrize("epsilon", ["3", "12", "1000"])
def test_the_certificate_says_how_weak_an_accepted_noise_is(run, epsilon):
    assert run("--accept", WEAK_NOISE, epsilon=epsilon) == 0
    chance = run.certificate["mechanism"]["chance_that_a_count_is_unchanged"]
    assert chance == round(total_distribution(4, float(epsilon)).within(0), 4)
    said = f"is zero: {chance:.1%} on average, {chance:.1%} where it is largest (exact)"
    assert said in (run.out / "certificate.md").read_text()


def test_weak_noise_is_refused_under_totals_that_overlap(run, undrawn):
    run.rules("totals: [[county, sex], [county, age]]")
    assert WEAK_NOISE in run.refused(epsilon="5")
    with pytest.raises(DrawnError):
        run(epsilon="0.5")


@pytest.mark.parametrize(("option", "good", "bad"), [("--sigma", "1", "0.3"), ("--rho", "1", "6")])
def test_weak_gaussian_noise_is_refused(run, undrawn, option, good, bad):
    assert WEAK_NOISE in run.refused(option, bad, epsilon=None)
    with pytest.raises(DrawnError):
        run(option, good, epsilon=None)


def test_one_kind_of_cell_with_weak_noise_is_not_hidden_by_the_others(run):
    run.table("cell,count\n" + "".join(f"{name},{5 + 7 * ord(name) % 11}\n" for name in "abcdefgh"))
    run.rules("subsets: {pair: [a, b]}")
    assert WEAK_NOISE in run.refused(epsilon="2")
    assert run("--accept", WEAK_NOISE, epsilon="2") == 0
    law = run.certificate["mechanism"]
    # two cells with one total have P(0) = tanh(epsilon), one in no total tanh(epsilon / 2)
    most, least = np.tanh(2), np.tanh(1)
    assert law["largest_chance_that_a_count_is_unchanged"] == round(most, 4)
    assert law["chance_that_a_count_is_unchanged"] == round((2 * most + 6 * least) / 8, 4)


def held(*labels):
    return [HeldTotals(str(i), np.array(each)) for i, each in enumerate(labels)]


@pytest.mark.parametrize(
    ("totals", "vectors"),
    [
        (held([0, 0, 0, 1, 1]), [[1, -1]]),
        (held([0, 0, -1, -1]), [[1, -1], [1]]),
        (held([0, 0, 1, 1], [0, 1, 0, 1]), [[1, -1, -1, 1]]),
        (held([0, 0, -1, -1], [-1, 0, 0, -1], [0, -1, 0, 0]), [[1, -1, 1, -2]]),
    ],
)
@pytest.mark.parametrize("mechanism", [GeneralizedLaplace(0.7), GeneralizedGaussian(1.0)])
def test_the_bound_is_above_the_probability_and_meets_it_along_one_direction(
    totals, vectors, mechanism
):
    free = find_degrees_of_freedom(totals)
    bound = bound_unchanged(free, mechanism)
    sums = []
    for vector in vectors:
        multiples = np.outer(np.arange(-60, 61), vector)
        sums.append(1 / np.exp(mechanism.log_weight(multiples)).sum())
    assert bound == pytest.approx(max(sums), rel=1e-9)
    noise = draw_noise(mechanism, free.invariants, n_draws=2000, rng=SYSTEM_RANDOMNESS)
    often = (noise[:, free.steps > 0] == 0).mean(axis=0).max()
    assert often <= bound + 5 * np.sqrt(0.25 / 2000)


def test_a_data_frame_is_refused_alike(undrawn):
    cells = pd.DataFrame({"cell": list("abcdefg"), "count": [3, 1, 4, 1, 5, 9, 2]})
    fine = {"count": "count", "total": True}
    pairs = pd.DataFrame({"a": list("xxy"), "b": list("uvu"), "count": [3, 1, 4]})
    for name, table, epsilon in (
        (WEAK_NOISE, cells, 9),
        (SORTED_ROWS, cells.sort_values("count"), 0.5),
        (MISSING_ROWS, pairs, 0.5),
    ):
        with pytest.raises(InputError, match=name):
            privatize_frame(table, epsilon=epsilon, **fine)
    with pytest.raises(InputError, match=r"'weak'.*weak-noise"):
        privatize_frame(cells, epsilon=1, accept=["weak"], **fine)


BUDGETS = [
    # of nine tenths: tanh(epsilon / 4) of double geometric noise; zCDP: 1 / sum exp(-k^2 rho / 2)
    (("--epsilon", "73/9"), ("--epsilon", "74/9")),
    (("--rho", "8"), ("--rho", "73/9")),
]


@pytest.fixture
def topdown(run):
    """The command with one measurement at each level."""

    def command(*options):
        arguments = ["topdown", str(run.folder / "table.csv"), "--out", str(run.out)]
        arguments += ["--levels=county", "--held=county", "--query=detail=1", "--simulations=0"]
        return main([*arguments, *options])

    return command


@pytest.mark.parametrize(("good", "bad"), BUDGETS)
@pytest.mark.parametrize(
    "shares",
    [("--share=county=9/10", "--share=all=1/10"), ("--share=county=1/10", "--share=all=9/10")],
)
def test_topdown_refuses_measurements_that_are_the_counts(run, topdown, undrawn, good, bad, shares):
    assert topdown(*bad, *shares) == 2
    error = run.capsys.readouterr().err
    assert error.count("\n") == 1
    assert "--accept weak-noise" in error
    assert not run.out.exists()
    with pytest.raises(DrawnError):
        topdown(*good, *shares)


def test_where_no_probability_is_known_its_bound_decides(run, undrawn):
    """Both margins of a table that no quick sampler draws; the smallest exchange moves four."""
    grid(run.folder / "table.csv", ["row", "column"], [range(10), range(10)])
    run.rules(MARGINS)
    # P(0) is at most tanh(2 epsilon), 0.949 and 0.951
    assert WEAK_NOISE in run.refused(epsilon="0.921")
    assert WEAK_NOISE not in run.refused(epsilon="0.91")  # which no sampler draws
