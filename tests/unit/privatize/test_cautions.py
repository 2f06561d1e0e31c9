"""Warnings before a noisy table is published."""

from types import SimpleNamespace

import numpy as np
import pytest

from isdp import GeneralizedLaplace, Invariants
from isdp.exact import release, total_law
from isdp.privatize.cautions import cautions_of_freedom
from tests.statistical.checks import LawRejected, check_law

RESIDUES = "subsets: {p: [a, b], q: [b, c], r: [c, a, d]}"


@pytest.fixture
def told(run, caplog):
    """The warnings of a run, one line each."""

    def warnings(*options, **more):
        caplog.clear()
        assert run(*options, **more) == 0
        lines = [record.getMessage() for record in caplog.records]
        assert all("\n" not in line for line in lines)
        return lines

    return warnings


def test_a_table_without_fault_is_published_without_a_word(told):
    assert told() == []


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
    assert line == "the totals give 1 count away up to a multiple: d modulo 2"
    noisy = run.noisy["count"].to_numpy()
    assert noisy[3] % 2 == 1
    assert run.certificate["residues"] == {"cells": 1, "published": "d modulo 2"}
    assert (
        "1, whose **remainder is published**: d modulo 2"
        in (run.out / "certificate.md").read_text()
    )
    assert run.certificate["lattice"]["cells_without_freedom"] == 0


def test_five_of_the_counts_that_are_given_away_are_named():
    free = SimpleNamespace(residues=np.arange(6), steps=np.full(6, 2))
    (words,) = cautions_of_freedom(SimpleNamespace(name="c{}".format), free)
    assert words.endswith(": " + "".join(f"c{row} modulo 2; " for row in range(5)) + "...")


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
