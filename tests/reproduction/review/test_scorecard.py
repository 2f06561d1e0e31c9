import math

import pandas as pd
import pytest

from reproduction.review.measure import Measured
from reproduction.review.scorecard import (
    COLUMNS,
    build_scorecard,
    decide,
    describe_row,
    format_value,
    meets_bar,
)

HAVE = {"das_available": True, "vintage": "20201116"}
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
        "unit": "persons",
        "ours": {"table": "t", "column": "x", "take": "max"},
        "bar": {"at_most": 2},
        "bar_of": "ours",
    } | changes


def judged(value, provenance=NONE, **changes):
    tables = {"t": pd.DataFrame({"x": [value, value - 1], "se": 0.1, "z": -3.0, "chains": 100})}
    card = build_scorecard([claim(**changes)], tables, provenance)
    assert tuple(card.columns) == COLUMNS
    return card.iloc[0]


def test_a_verdict_follows_from_the_value():
    assert judged(1.5)["verdict"] == "reproduced"
    row = judged(2.5)
    assert row["verdict"] == "differs"
    assert (row["our_value"], row["our_error"], row["unit"]) == ("2.5", "", "persons")
    assert (row["bar"], row["bar_of"]) == ("<= 2", "ours")


WITH_ERROR = {"table": "t", "column": "x", "take": "max", "error": "se", "draws": "chains"}


def test_a_bar_within_the_monte_carlo_error_leaves_the_claim_undecided_on_either_side():
    for value in (1.9, 2.1):
        row = judged(value, ours=WITH_ERROR)
        assert row["verdict"] == "undecided"
        # 0.3 to 0.1 needs nine times the draws
        assert "about 900 chains would decide" in row["note"]
        row = judged(value, ours=WITH_ERROR, bar={"equals": 2})
        assert "about 900 chains would decide" in row["note"]
    assert judged(1.6, ours=WITH_ERROR)["verdict"] == "reproduced"
    assert judged(2.4, ours=WITH_ERROR)["verdict"] == "differs"


def test_of_several_values_the_reason_names_those_whose_error_reaches_over_the_bar():
    each = {"table": "t", "column": "x", "take": "each", "error": "se", "named": "{what} {n:g}"}
    table = pd.DataFrame({"x": [1.0, 1.5], "se": [0.1, 0.5], "what": ["a", "b"], "n": [1.0, 2.5]})

    def row(**changes):
        found = build_scorecard([claim(ours=each)], {"t": table.assign(**changes)}, NONE).iloc[0]
        return found["verdict"], found["note"]

    assert row(se=0.1) == ("reproduced", "")
    within = "the bar lies within the Monte Carlo error of"
    assert row() == ("undecided", f"{within} 1 of 2 (b 2.5), and the others meet it")
    assert row(se=[0.1, float("nan")]) == row()
    assert row(se=0.5) == ("undecided", f"{within} all 2")
    # one that is clearly wrong is not hidden by one in doubt
    assert row(x=[4.0, 1.5]) == ("differs", "")


def test_a_run_without_what_bears_on_the_claim_leaves_it_not_checkable():
    needed = {"table": "t", "column": "chains", "take": "min", "at_least": 200, "what": "levels"}
    for value in (1.5, 2.5):
        row = judged(value, needs=needed)
        assert row["verdict"] == "not checkable"
        assert row["our_value"] == str(value)
        assert row["note"] == "this run has 100 levels, and 200 are needed"
    assert judged(1.5, needs=needed | {"at_least": 100})["verdict"] == "reproduced"
    assert judged(2.5, needs=needed | {"at_least": 100})["verdict"] == "differs"


def test_a_run_that_is_too_small_to_tell_leaves_a_missed_bar_undecided():
    small = {"table": "t", "column": "chains", "take": "max", "at_least": 400, "what": "draws"}
    assert judged(1.5, tells=small)["verdict"] == "reproduced"
    row = judged(2.5, tells=small)
    assert row["verdict"] == "undecided"
    assert row["note"] == "this run has 100 draws, and 400 are needed"
    assert judged(2.5, tells=small | {"at_least": 100})["verdict"] == "differs"
    unsaid = judged(2.5, tells=small | {"rows": "chains < 0"})
    assert unsaid["verdict"] == "undecided"
    assert unsaid["note"] == "this run does not state its number of draws, and 400 are needed"


def test_a_distance_from_the_paper_stands_beside_the_values_and_not_in_their_place():
    distance = {"table": "t", "column": "z", "take": "max_abs", "what": "standard errors apart"}
    row = judged(72.2468, ours=WITH_ERROR, judged=distance, paper_value="69.63")
    assert row["verdict"] == "differs"
    assert row["our_value"] == "72.25"
    assert row["our_error"] == "0.10"
    assert row["statistic"] == "3 standard errors apart"
    assert describe_row(row) == (
        "69.63 in the paper; 72.25 ± 0.10 persons here; 3 standard errors apart (bar <= 2, ours)"
    )


def test_several_values_each_keep_their_error():
    found = Measured([72.2468, 14.8876], [0.2213, 0.0412], [(71.6, 72.9), (14.8, 15.0)])
    assert format_value(found) == ("72.25 and 14.888", "0.22 and 0.041")
    row = dict.fromkeys(COLUMNS, "") | {
        "paper_value": "69.63 and 14.45",
        "our_value": "72.25 and 14.888",
        "our_error": "0.22 and 0.041",
        "bar": "<= 4",
        "bar_of": "paper",
    }
    assert "72.25 ± 0.22 and 14.888 ± 0.041 here (bar <= 4, the paper's)" in describe_row(row)


@pytest.mark.parametrize("error", [0.0, float("inf"), float("nan")])
def test_an_error_without_a_size_leaves_two_places(error):
    found = Measured([0.125], [error], [(0.125, 0.125)])
    assert format_value(found) == ("0.12", "unknown" if math.isnan(error) else f"{error:.2f}")


def test_a_value_that_is_read_off_a_figure_is_not_passed_off_as_printed():
    row = judged(1.5, read_off=True, paper_value="39.33 and 9.08")
    assert row["paper_value"] == "39.33 and 9.08, read off its figure"
    assert describe_row(row).startswith(
        "39.33 and 9.08 in the paper, read off its figure; 1.5 persons"
    )
    tables = {"t": pd.DataFrame({"x": [1.0, 2.0], "se": 0.1, "theirs": 0.25})}
    how = {"table": "t", "column": "x", "take": "each", "error": "se", "paper_error": "theirs"}
    one = claim(ours=how, paper_value="39.33 and 9.08", read_off=True, bar={"at_most": 4})
    (row,) = build_scorecard([one], tables, NONE).to_dict("records")
    assert row["paper_value"] == "39.33 ± 0.25 and 9.08 ± 0.25, read off its figure"
    assert "read off" not in judged(1.5, read_off=False)["paper_value"]


def test_what_the_papers_formula_gives_stands_beside_its_words():
    how = WITH_ERROR | {"formula": "chains"}
    row = judged(1.5, ours=how, paper_value="closed form")
    assert describe_row(row).startswith("closed form, 100 in the paper; 1.50 ± 0.10 persons here")
    missing = judged(
        1.5, ours={"table": "u", "take": "rows", "formula": "chains"}, paper_value="2 n"
    )
    assert missing["paper_value"] == "2 n"


def test_the_error_of_the_papers_value_stands_beside_it_if_the_distance_has_it():
    tables = {"t": pd.DataFrame({"x": [72.2, 14.9], "se": [0.22, 0.045], "theirs": [0.49, 0.101]})}
    how = {"table": "t", "column": "x", "take": "each", "error": "se", "paper_error": "theirs"}
    one = claim(ours=how, paper_value="69.63 and 14.45", bar={"at_most": 4})
    (row,) = build_scorecard([one], tables, NONE).to_dict("records")
    assert row["paper_value"] == "69.63 ± 0.49 and 14.45 ± 0.10"
    (row,) = build_scorecard([one | {"paper_value": "two medians"}], tables, NONE).to_dict(
        "records"
    )
    assert row["paper_value"] == "two medians"
    tables["t"]["theirs"] = float("nan")  # of another table than the paper's
    (row,) = build_scorecard([one], tables, NONE).to_dict("records")
    assert row["paper_value"] == "69.63 and 14.45"


def test_limits_of_a_distance_stand_beside_it():
    tables = {"t": pd.DataFrame({"x": [1.0], "share": [0.97], "low": 0.895, "high": 0.996})}
    how = {
        "table": "t",
        "column": "share",
        "take": "max",
        "limits": ["low", "high"],
        "what": "below",
    }
    (row,) = build_scorecard([claim(judged=how)], tables, NONE).to_dict("records")
    assert row["statistic"] == "0.97 (0.895 to 0.996) below"


def test_limits_too_tell_how_many_draws_it_would_take():
    tables = {"t": pd.DataFrame({"x": [1.5], "low": 0.9, "high": 2.1, "chains": 10})}
    how = {"table": "t", "column": "x", "take": "max", "limits": ["low", "high"], "draws": "chains"}
    (row,) = build_scorecard([claim(ours=how)], tables, NONE).to_dict("records")
    assert row["verdict"] == "undecided"
    assert "about 10 chains would decide" in row["note"]  # 0.6 to 0.5 needs 1.44 times as many
    (row,) = build_scorecard([claim(ours=how, bar={"at_most": 1.6})], tables, NONE).to_dict(
        "records"
    )
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
    assert format_value(Measured([value], [], [(value, value)])) == (words, "")


def test_what_has_no_value_is_not_checkable():
    row = judged(float("nan"))
    assert row["verdict"] == "not checkable"
    assert "no value" in row["note"]
    assert describe_row(row) == "1 in the paper; no value here (bar <= 2, ours)"


def test_a_claim_on_an_experiment_that_was_not_run_is_not_checkable():
    row = judged(1.0, ours={"table": "u", "take": "max"})
    assert row["verdict"] == "not checkable"
    assert row["note"] == "this run does not make the table u"


def test_a_claim_that_needs_a_vintage_has_a_verdict_with_that_vintage_alone():
    assert judged(1.0, HAVE, needs_vintage="20201116")["verdict"] == "reproduced"
    assert judged(9.0, HAVE, needs_vintage="20201116")["verdict"] == "differs"
    for vintage in ("20200527", "20210608"):
        there = {"das_available": True, "vintage": vintage}
        other = judged(1.0, there, needs_vintage="20201116", note="so")
        assert other["verdict"] == "not checkable"
        assert other["our_value"] == "1"
        assert other["note"].startswith("so; needs the demonstration data of vintage 20201116")
    none = judged(1.0, NONE, needs_vintage="20201116")
    assert none["verdict"] == "not checkable"
    assert none["our_value"] == ""


@pytest.mark.parametrize(
    ("value", "bar", "expected"),
    [
        (48, {"equals": 48}, True),
        (47, {"equals": 48}, False),
        (1.0, {"at_least": 0.9, "at_most": 1.0}, True),
        (0.8, {"at_least": 0.9, "at_most": 1.0}, False),
        (["IL", "TX"], {"contains": "IL"}, True),
        (["TX"], {"contains": "IL"}, False),
    ],
)
def test_bars(value, bar, expected):
    assert meets_bar(value, bar) is expected
    verdict, why = decide(Measured([value], [], [(value, value)]), bar)
    assert (verdict, why) == ("reproduced" if expected else "differs", "")


def test_of_several_values_each_must_meet_the_bar():
    two = Measured([1.0, 3.0], [], [(1.0, 1.0), (3.0, 3.0)])
    assert decide(two, {"at_most": 3})[0] == "reproduced"
    assert decide(two, {"at_most": 2})[0] == "differs"
