import pandas as pd
import pytest

from isdp import InputError
from reproduction.review.scorecard import COLUMNS, measure, meets, scorecard, summary

HAVE = {"das_available": True, "vintage": "20201116"}
OTHER = {"das_available": True, "vintage": "20210608"}
NONE = {"das_available": False, "vintage": ""}


def claim(**changes):
    return {
        "claim": "c",
        "wing": "w",
        "experiment": "Counties",
        "page": "01_w",
        "paper": "ISDP",
        "where": "E.4",
        "statement": "It is so.",
        "paper_value": "1",
        "measure": {"table": "t", "column": "x", "take": "max"},
        "tolerance": {"at_most": 2},
    } | changes


def verdict(value, provenance=NONE, **changes):
    tables = {"t": pd.DataFrame({"x": [value, float("nan")]})}
    card = scorecard([claim(**changes)], tables, provenance)
    assert tuple(card.columns) == COLUMNS
    return card.iloc[0]


def test_a_verdict_follows_from_the_value():
    assert verdict(1.5)["verdict"] == "reproduced"
    assert verdict(2.5)["verdict"] == "differs"
    assert verdict(2.5)["our_value"] == "2.5"
    assert verdict(2.5)["tolerance"] == "<= 2"


def test_what_has_no_value_is_not_checkable():
    row = verdict(float("nan"))
    assert row["verdict"] == "not checkable"
    assert "no value" in row["note"]


@pytest.mark.parametrize("take", ["max", "min", "max_abs", "mean", "sum"])
def test_no_rows_have_no_value_and_are_never_a_verdict(take):
    row = verdict(1.0, measure={"table": "t", "rows": "x > 5", "column": "x", "take": take})
    assert row["verdict"] == "not checkable"


def test_a_claim_on_an_experiment_that_was_not_run_is_not_checkable():
    row = verdict(1.0, measure={"table": "u", "take": "max"})
    assert row["verdict"] == "not checkable"
    assert row["note"] == "this run does not make the table u"


def test_a_claim_that_needs_a_vintage_has_a_verdict_with_that_vintage_alone():
    assert verdict(1.0, HAVE, needs_vintage="20201116")["verdict"] == "reproduced"
    assert verdict(9.0, HAVE, needs_vintage="20201116")["verdict"] == "differs"
    other = verdict(1.0, OTHER, needs_vintage="20201116", note="so")
    assert other["verdict"] == "not checkable"
    assert other["our_value"] == "1"
    assert other["note"].startswith("so; needs the demonstration data of vintage 20201116")
    none = verdict(1.0, NONE, needs_vintage="20201116")
    assert none["verdict"] == "not checkable"
    assert none["our_value"] == ""


@pytest.mark.parametrize(
    ("take", "rows", "expected"),
    [
        ("max", None, 3),
        ("min", None, -5),
        ("max_abs", None, 5),
        ("mean", None, 0),
        ("sum", None, 0),
        ("rows", None, 3),
        ("rows", "good == True", 2),
        ("max", "not good", 2),
        ("values", "x > 0", [2, 3]),
    ],
)
def test_one_value_is_taken_from_a_table(take, rows, expected):
    table = pd.DataFrame({"x": [3, -5, 2], "good": [True, True, False]})
    how = {"table": "t", "column": "x", "take": take} | ({"rows": rows} if rows else {})
    assert measure("c", how, {"t": table}) == expected


@pytest.mark.parametrize(
    ("value", "tolerance", "expected"),
    [
        (48, {"equals": 48}, True),
        (47, {"equals": 48}, False),
        (1.0, {"at_least": 0.9, "at_most": 1.0}, True),
        (0.8, {"at_least": 0.9, "at_most": 1.0}, False),
        (["IL", "TX"], {"contains": "IL"}, True),
        (["TX"], {"contains": "IL"}, False),
    ],
)
def test_tolerances(value, tolerance, expected):
    assert meets(value, tolerance) is expected


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"table": "t", "column": "y", "take": "max"}, "has no column 'y'"),
        ({"table": "t", "rows": "z > 1", "column": "x", "take": "max"}, "cannot be selected"),
    ],
)
def test_a_measure_of_nothing_is_an_error_that_names_the_claim(how, message):
    with pytest.raises(InputError, match=message):
        scorecard([claim(measure=how)], {"t": pd.DataFrame({"x": [1]})}, NONE)


def test_the_summary_counts_and_names_what_differs():
    card = pd.concat([verdict(1.0).to_frame().T, verdict(9.0).to_frame().T])
    text = summary(card)
    assert text.startswith("Scorecard of 2 claims: 1 reproduced, 1 differs, 0 not checkable.")
    assert "differs: c (ISDP E.4): paper 1, here 9, tolerance <= 2" in text
