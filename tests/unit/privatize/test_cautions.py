"""What a user is told before a noisy table is published; --strict makes an error of it."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from isdp import GeneralizedLaplace, Invariants
from isdp.exact import release, total_law
from isdp.privatize.cautions import NEARLY_AS_IT_IS, cautions_of_freedom
from tests.statistical.checks import LawRejected, check_law

RESIDUES = "subsets: {p: [a, b], q: [b, c], r: [c, a, d]}"


@pytest.fixture
def told(run, caplog):
    """The warnings of a run, which --strict has to turn into errors, one line each."""

    def warnings(*options, **more):
        caplog.clear()
        assert run(*options, **more) == 0
        lines = [record.getMessage() for record in caplog.records]
        assert all("\n" not in line for line in lines)
        if lines:
            assert "--strict makes this an error" in run.refused(
                *options, "--strict", "--force", **more
            )
        else:
            assert run(*options, "--strict", "--force", **more) == 0
        return lines

    return warnings


def test_a_table_without_fault_is_published_without_a_word(told):
    assert told() == []


def test_rows_in_the_order_of_their_counts_are_pointed_out(run, told):
    table = pd.read_csv(run.folder / "table.csv").sort_values("count", ascending=False)
    table.to_csv(run.folder / "table.csv", index=False)
    (line,) = told()
    assert "the rows are in the order of their counts" in line
    assert "in the order of" not in (run.out / "certificate.md").read_text()


@pytest.mark.parametrize("epsilon", ["3", "12", "1000"])
def test_an_epsilon_that_protects_nothing_is_pointed_out(run, told, epsilon):
    (line,) = told(epsilon=epsilon)
    assert "published nearly as it is" in line
    chance = run.certificate["mechanism"]["chance_that_a_count_is_unchanged"]
    assert chance == round(total_law(4, float(epsilon)).within(0), 4)
    assert f"a chance of {chance:.1%}" in line
    said = f"is zero: {chance:.1%} on average, {chance:.1%} where it is largest (by the law)"
    assert said in (run.out / "certificate.md").read_text()


def test_the_word_on_epsilon_comes_where_nineteen_counts_in_twenty_stay(run, told):
    def share(epsilon):
        return total_law(4, epsilon).within(0)

    assert share(2.3) < NEARLY_AS_IT_IS < share(2.4)
    assert told(epsilon="2.3") == []
    assert len(told("--force", epsilon="2.4")) == 1


def test_an_epsilon_that_protects_nothing_is_pointed_out_under_totals_that_overlap(run, told):
    run.rules("totals: [[county, sex], [county, age]]")
    assert told(epsilon="0.5") == []
    (line,) = told("--force", epsilon="5")
    assert "published nearly as it is" in line


def test_an_epsilon_that_protects_nothing_is_pointed_out_in_a_large_table(run, told):
    rows = [
        (f"{a}", f"{b}", i, 40 + (i * int(a)) % 9)
        for i in range(260)
        for a in (0, 1)
        for b in (0, 1)
    ]
    table = pd.DataFrame(rows, columns=["a", "b", "i", "count"])
    table.to_csv(run.folder / "table.csv", index=False)
    run.rules("totals: [a, b]")
    (line,) = told(epsilon="25")
    assert "published nearly as it is" in line


def test_one_kind_of_cell_that_nothing_protects_is_not_hidden_by_the_others(run, told):
    run.table("cell,count\n" + "".join(f"{name},{5 + 7 * ord(name) % 11}\n" for name in "abcdefgh"))
    run.rules("subsets: {pair: [a, b]}")
    (line,) = told(epsilon="2")
    law = run.certificate["mechanism"]
    # two cells with one total have P(0) = tanh(epsilon), one in no total tanh(epsilon / 2)
    most, least = np.tanh(2), np.tanh(1)
    assert law["largest_chance_that_a_count_is_unchanged"] == round(most, 4)
    assert law["chance_that_a_count_is_unchanged"] == round((2 * most + 6 * least) / 8, 4)
    assert f"a chance of {most:.1%} ({(most + 3 * least) / 4:.1%} on average)" in line


def test_a_chance_that_was_simulated_is_not_said_to_be_of_the_law(run):
    run.table("cell,count\na,4\nb,15\nc,6\nd,7\n")
    run.rules(RESIDUES)
    assert run(epsilon="1/3") == 0
    law = run.certificate["mechanism"]
    # the noise is t (1, -1, 1, -2), of l1 norm 5 |t|
    true, draws = np.tanh(5 / 6), 400
    kept = round(law["chance_that_a_count_is_unchanged"] * draws)
    check_law([draws - kept, kept], [1 - true, true])
    with pytest.raises(LawRejected):
        check_law([draws - kept, kept], [1 - true - 0.15, true + 0.15])
    assert law["chance_that_a_count_is_unchanged_is"] == "simulated"
    text = (run.out / "certificate.md").read_text()
    assert "where it is largest (simulated; two standard errors of the latter: " in text
    assert "by the law" not in text


def test_the_share_of_counts_that_stay_is_that_of_releases():
    draws = release(Invariants.total(4), 3, draws=4000)
    share = total_law(4, 3.0).within(0)
    kept = (draws[:, 0] == 0).sum()
    check_law([kept, 4000 - kept], [share, 1 - share])
    assert GeneralizedLaplace(3.0).epsilon == 3


def test_remainders_that_the_totals_give_away_are_pointed_out(run, told):
    run.table("cell,count\na,4\nb,15\nc,6\nd,7\n")
    run.rules(RESIDUES)
    (line,) = told()
    assert line == "the totals give 1 counts away up to a multiple: d modulo 2"
    noisy = run.noisy["count"].to_numpy()
    assert noisy[3] % 2 == 1
    assert run.certificate["residues"] == {"cells": 1, "published": "d modulo 2"}
    assert (
        "1, whose **remainders are published**: d modulo 2"
        in (run.out / "certificate.md").read_text()
    )
    assert run.certificate["lattice"]["cells_without_freedom"] == 0


def test_five_of_the_counts_that_are_given_away_are_named():
    free = SimpleNamespace(residues=np.arange(6), steps=np.full(6, 2))
    (words,) = cautions_of_freedom(SimpleNamespace(name="c{}".format), free)
    assert words.endswith(": " + "".join(f"c{row} modulo 2; " for row in range(5)) + "...")


def test_counts_that_are_published_exactly_are_an_error_to_the_strict(run):
    run.table("county,sex,count\nA,f,4\nA,m,5\nB,f,123457\n")
    run.rules("totals: [county]")
    assert "'B, f' among them" in run.refused("--strict")


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ("A ", "county: 'A' and 'A ' differ in blanks alone"),
        (" A", "county: 'A' and ' A' differ in blanks alone"),
        ("A\u00a0", "county: 'A' and 'A\\xa0' differ in blanks alone"),
        ("B", None),
        ("a", None),
    ],
)
def test_values_that_look_alike_are_pointed_out(run, told, other, words):
    run.table(f"county,sex,count\nA,f,40\nA,m,5\n{other},f,6\n{other},m,70\n")
    run.rules("totals: [county]")
    lines = told()
    assert len(lines) == (words is not None)
    assert words is None or words in lines[0]


@pytest.mark.parametrize(
    ("label", "pointed_out"),
    [
        ("=1+1", True),
        ("@sum", True),
        ("+cmd|x", True),
        ("-2+3", True),
        ("-3", False),
        ("+65", False),
        ("-", False),
        ("65+", False),
    ],
)
def test_labels_that_spreadsheets_would_run_are_pointed_out(run, told, label, pointed_out):
    run.table(f"age,count\n{label},4\nold,9\nyoung,5\n")
    run.rules("total: true")
    lines = told()
    assert len(lines) == pointed_out
    assert not pointed_out or f"{label!r} is published as it stands" in lines[0]


def test_a_header_that_spreadsheets_would_run_is_pointed_out(run, told):
    run.table("=age,count\nA,4\nold,9\nyoung,5\n")
    run.rules("total: true")
    (line,) = told()
    assert "'=age' is published as it stands" in line
