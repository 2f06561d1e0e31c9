"""Verdicts on evidence, and the words of a row."""

import math

import pandas as pd
import pytest

from reproduction.jobs.claims import (
    Evidence,
    Quantity,
    Requirement,
    at_most,
    between,
    equals,
    extreme_row,
    quantity,
)
from reproduction.review.scorecard import COLUMNS, describe_cells, format_value, judge_claims
from tests.reproduction.review.test_claims import largest, make_claim

HAVE = {"das_available": True, "vintage": "20201116"}
NONE = {"das_available": False, "vintage": ""}


def judged(value, function=largest, provenance=NONE, **changes):
    """Judge a claim on a table whose largest x is `value`."""
    table = pd.DataFrame({"x": [value, value - 1], "se": 0.1, "z": -3.0, "chains": 100})
    return of_table(table, function, provenance, **{"unit": "persons"} | changes)


def of_table(table, function, provenance=NONE, **changes):
    card, _ = judge_claims([make_claim(function, **changes)], {"t": table}, provenance)
    assert tuple(card.columns) == COLUMNS
    return card.iloc[0]


def test_a_verdict_follows_from_the_value():
    assert judged(1.5)["verdict"] == "reproduced"
    row = judged(2.5, if_differs="error in the paper")
    assert (row["verdict"], row["who_is_right"]) == ("differs", "error in the paper")
    assert (row["our_value"], row["our_error"], row["unit"]) == ("2.5", "", "persons")
    assert (row["bar"], row["bar_of"]) == ("<= 2", "ours")
    assert with_bound(11.5e9)["bar"] == "<= 11,500,000,000"
    assert with_bound(1 + 1e-9)["bar"] == "<= 1.000000001"
    assert judged(1.5, if_differs="error in the paper")["who_is_right"] == ""


def with_bound(bound):
    return judged(1.5, lambda table: Evidence(quantity(table, "x"), at_most(bound, "ours")))


def with_error(criterion):
    def function(table):
        row = extreme_row(table, "x", "max")
        return Evidence(quantity(row, "x", error="se", draws="chains"), criterion)

    return function


@pytest.mark.parametrize("value", [1.9, 2.1])
@pytest.mark.parametrize("criterion", [at_most(2, "ours"), equals(2, "ours")])
def test_a_criterion_within_the_monte_carlo_error_leaves_a_claim_undecided(value, criterion):
    row = judged(value, with_error(criterion))
    assert row["verdict"] == "undecided"
    # 0.3 to 0.1 needs nine times the draws
    assert "about 900 chains would decide" in row["note"]


def test_a_value_more_than_three_errors_from_the_criterion_is_decided():
    assert judged(1.6, with_error(at_most(2, "ours")))["verdict"] == "reproduced"
    assert judged(2.4, with_error(at_most(2, "ours")))["verdict"] == "differs"


def test_the_reason_names_those_of_several_values_that_are_in_doubt():
    def function(table):
        named = quantity(table, "x", error="se", names="{what} {n:g}".format_map)
        return Evidence(named, at_most(2, "ours"))

    table = pd.DataFrame({"x": [1.0, 1.5], "se": [0.1, 0.5], "what": ["a", "b"], "n": [1.0, 2.5]})

    def row(**changes):
        found = of_table(table.assign(**changes), function)
        return found["verdict"], found["note"]

    assert row(se=0.1) == ("reproduced", "")
    within = "the criterion lies within the Monte Carlo error of"
    assert row() == ("undecided", f"{within} 1 of 2 (b 2.5), and the others meet it")
    assert row(se=[0.1, float("nan")]) == row()
    assert row(se=0.5) == ("undecided", f"{within} all 2")
    # one that is clearly wrong is not hidden by one in doubt
    assert row(x=[4.0, 1.5]) == ("differs", "")


def sized(minimum, **where):
    def function(table):
        size = Requirement("draws", quantity(table.query("x > 0").iloc[:1], "chains"), minimum)
        return Evidence(largest(table).ours, at_most(2, "ours"), **{where["key"]: size})

    return function


def test_a_run_without_what_a_claim_needs_leaves_it_not_checkable():
    for value in (1.5, 2.5):
        row = judged(value, sized(200, key="needs"))
        assert row["verdict"] == "not checkable"
        assert row["our_value"] == str(value)
        assert row["note"] == "this run has 100 draws, and the minimum is 200"
    assert judged(1.5, sized(100, key="needs"))["verdict"] == "reproduced"
    assert judged(2.5, sized(100, key="needs"))["verdict"] == "differs"


def test_a_run_that_is_too_small_leaves_a_missed_criterion_undecided():
    assert judged(1.5, sized(400, key="decides"))["verdict"] == "reproduced"
    row = judged(2.5, sized(400, key="decides"))
    assert row["verdict"] == "undecided"
    assert row["note"] == "this run has 100 draws, and the minimum is 400"
    assert judged(2.5, sized(100, key="decides"))["verdict"] == "differs"


def test_a_distance_from_the_paper_does_not_replace_the_value():
    def function(table):
        row = extreme_row(table, "x", "max")
        z = quantity(row, "z", absolute=True)
        ours = quantity(row, "x", error="se")
        name = "standard errors apart"
        return Evidence(ours, at_most(2, "ours"), statistic=z, statistic_name=name)

    row = judged(72.2468, function, paper_value="69.63")
    assert row["verdict"] == "differs"
    assert (row["our_value"], row["our_error"]) == ("72.25", "0.10")
    assert row["statistic"] == "3 standard errors apart"
    cells = describe_cells(row)
    assert (cells["paper"], cells["here"]) == ("69.63", "72.25 ± 0.10")
    assert cells["criterion"] == "3 standard errors apart; at most 2 (our criterion)"


def test_several_values_each_keep_their_error():
    found = Quantity([72.2468, 14.8876], errors=[0.2213, 0.0412])
    assert format_value(found) == ("72.25 and 14.888", "0.22 and 0.041")
    row = dict.fromkeys(COLUMNS, "") | {
        "paper_value": "69.63 and 14.45",
        "our_value": "72.25 and 14.888",
        "our_error": "0.22 and 0.041",
        "bar": "<= 4",
        "bar_of": "paper",
    }
    cells = describe_cells(row | {"who_is_right": "our numbers differ", "note": "so it is"})
    assert cells == {
        "paper": "69.63 and 14.45",
        "here": "72.25 ± 0.22 and 14.888 ± 0.041",
        "criterion": "at most 4 (the paper's criterion)",
        "why": "Our numbers differ. So it is.",
    }


@pytest.mark.parametrize("error", [0.0, float("inf"), float("nan")])
def test_an_error_without_a_size_leaves_two_places(error):
    found = Quantity([0.125], errors=[error])
    assert format_value(found) == ("0.12", "unknown" if math.isnan(error) else f"{error:.2f}")


def test_a_value_that_is_read_off_a_figure_is_marked():
    row = judged(1.5, read_off=True, paper_value="39.33 and 9.08")
    assert row["paper_value"] == "39.33 and 9.08, read off its figure"
    assert "read off" not in judged(1.5)["paper_value"]


def test_the_value_of_the_papers_formula_follows_its_words():
    def function(table):
        row = extreme_row(table, "x", "max")
        return Evidence(quantity(row, "x"), at_most(2, "ours"), paper=quantity(row, "chains"))

    assert judged(1.5, function, paper_value="closed form")["paper_value"] == "closed form, 100"
    missing = judged(1.5, function, paper_value="2 n", tables=["u"])
    assert missing["paper_value"] == "2 n"


def with_limits(criterion):
    def function(table):
        ours = quantity(table, "x", limits=("low", "high"), draws="chains")
        return Evidence(ours, criterion, statistic=ours, statistic_name="below")

    return function


def test_limits_follow_a_statistic_and_tell_the_number_of_draws():
    table = pd.DataFrame({"x": [1.5], "low": 0.9, "high": 2.1, "chains": 10})
    row = of_table(table, with_limits(at_most(2, "ours")))
    assert row["statistic"] == "1.5 (0.9 to 2.1) below"
    assert row["verdict"] == "undecided"
    assert "about 10 chains would decide" in row["note"]  # 0.6 to 0.5 needs 1.44 times as many
    row = of_table(table, with_limits(at_most(1.6, "ours")))
    assert "about 400 chains would decide" in row["note"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1166666.7, "1,167,000"),
        (50000.0, "50,000"),
        (435805, "435,805"),
        (9801, "9801"),
        (True, "True"),
        (9999.4, "9999"),
        (0.25, "0.25"),
        (-123456.0, "-123,500"),
        (float("inf"), "infinite"),
        (1e-10, "1e-10"),
    ],
)
def test_large_numbers_are_written_without_powers_of_ten(value, words):
    assert format_value(Quantity([value])) == (words, "")


def test_an_exact_integer_keeps_all_its_digits():
    assert format_value(Quantity([12096000000.0], exact=True)) == ("12,096,000,000", "")


@pytest.mark.parametrize(
    ("changes", "cell", "words"),
    [
        ({"our_value": "3", "our_error": "exact"}, "here", "3 (exact)"),
        ({"our_value": "3", "our_error": "1 to 5"}, "here", "3 (1 to 5)"),
        ({}, "here", "no value"),
        ({"bar": ">= 1, <= 2", "bar_of": "ours"}, "criterion", "at least 1 and at most 2"),
        ({}, "criterion", ""),
        ({}, "why", ""),
    ],
)
def test_the_cells_of_a_row(changes, cell, words):
    assert describe_cells(dict.fromkeys(COLUMNS, "") | changes)[cell].startswith(words)


def test_a_missing_value_is_not_checkable():
    row = judged(float("nan"))
    assert (row["verdict"], row["our_value"]) == ("not checkable", "")
    assert "no value" in row["note"]


def test_a_claim_on_an_experiment_that_was_not_run_is_not_checkable():
    row = judged(1.0, tables=["u"])
    assert row["verdict"] == "not checkable"
    assert row["note"] == "this run does not make the table u"


def test_a_claim_that_needs_a_vintage_has_a_verdict_with_that_vintage_alone():
    assert judged(1.0, provenance=HAVE, needs_vintage="20201116")["verdict"] == "reproduced"
    assert judged(9.0, provenance=HAVE, needs_vintage="20201116")["verdict"] == "differs"
    for vintage in ("20200527", "20210608"):
        there = {"das_available": True, "vintage": vintage}
        other = judged(1.0, provenance=there, needs_vintage="20201116", note="So.")
        assert other["verdict"] == "not checkable"
        assert other["our_value"] == "1"
        assert other["note"].startswith("So; needs the demonstration data of vintage 20201116")
    none = judged(1.0, needs_vintage="20201116")
    assert none["verdict"] == "not checkable"
    assert (none["our_value"], none["statistic"], none["bar"]) == ("", "", "<= 2")


def test_each_of_several_values_must_meet_the_criterion():
    table = pd.DataFrame({"x": [1.0, 3.0]})

    def verdict(criterion):
        return of_table(table, lambda t: Evidence(quantity(t, "x"), criterion))["verdict"]

    assert verdict(between(1, 3, "paper")) == "reproduced"
    assert verdict(at_most(2, "paper")) == "differs"
