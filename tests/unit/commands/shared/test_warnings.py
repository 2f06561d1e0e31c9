"""Warnings before a noisy table is published."""

import numpy as np
import pytest

from isdp.testing import DistributionError, check_distribution

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
    check_distribution([draws - kept, kept], [1 - true, true])
    with pytest.raises(DistributionError):
        check_distribution([draws - kept, kept], [1 - true - 0.15, true + 0.15])
    assert law["chance_that_a_count_is_unchanged_is"] == "simulated"
    assert "largest (exact" not in (run.out / "certificate.md").read_text()


def test_remainders_that_the_totals_give_away_are_pointed_out(run, told):
    run.table("cell,count\na,4\nb,15\nc,6\nd,7\n")
    run.rules(RESIDUES)
    (line,) = told()
    assert "d modulo 2" in line
    noisy = run.noisy["count"].to_numpy()
    assert noisy[3] % 2 == 1
    assert run.certificate["residues"] == {"cells": 1, "published": "d modulo 2"}
    assert "d modulo 2" in (run.out / "certificate.md").read_text()
    assert run.certificate["lattice"]["cells_without_freedom"] == 0


@pytest.mark.parametrize("other", ["A ", " A", "A\u00a0", "B", "a"])
def test_values_that_look_alike_are_pointed_out(run, told, other):
    run.table(f"county,sex,count\nA,f,40\nA,m,5\n{other},f,6\n{other},m,70\n")
    run.rules("totals: [county]")
    lines = told()
    assert len(lines) == (other.strip() == "A")
    assert all(f"county: 'A' and {other!r}" in line for line in lines)


@pytest.mark.parametrize(
    ("label", "pointed_out"),
    [
        *((label, True) for label in ("=1+1", "@sum", "+cmd|x", "-2+3")),
        *((label, False) for label in ("-3", "+65", "-", "65+")),
    ],
)
@pytest.mark.parametrize("in_header", [False, True])
def test_what_spreadsheets_would_run_is_pointed_out(run, told, label, pointed_out, in_header):
    name, value = (label, "x") if in_header else ("age", label)
    run.table(f"{name},count\n{value},4\nold,9\nyoung,5\n")
    run.rules("total: true")
    lines = told()
    assert len(lines) == pointed_out
    assert all(repr(label) in line for line in lines)
