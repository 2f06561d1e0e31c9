import math

import pandas as pd
import pytest

from isdp import InputError
from reproduction.review.measure import measure

TABLE = pd.DataFrame(
    {
        "x": [3.0, -5.0, 2.0],
        "z": [0.1, -0.2, 4.0],
        "se": [0.5, 0.25, 0.125],
        "low": [2.0, -6.0, 1.0],
        "high": [4.0, -4.0, 9.0],
        "n": [10, 20, 30],
        "good": [True, True, False],
    }
)


def taken(**how):
    return measure("c", {"table": "t", "column": "x"} | how, {"t": TABLE})


@pytest.mark.parametrize(
    ("take", "rows", "expected"),
    [
        ("max", None, [3.0]),
        ("min", None, [-5.0]),
        ("max_abs", None, [5.0]),
        ("each", "good", [3.0, -5.0]),
        ("sum", None, [0.0]),
        ("rows", None, [3]),
        ("rows", "good == True", [2]),
        ("max", "not good", [2.0]),
        ("values", "x > 0", [[2.0, 3.0]]),
    ],
)
def test_what_is_taken_from_a_table(take, rows, expected):
    assert taken(take=take, **({"rows": rows} if rows else {})).values == expected


def test_the_error_is_that_of_the_row_taken():
    found = taken(take="min", error="se", draws="n")
    assert (found.values, found.errors, found.draws) == ([-5.0], [0.25], 20)
    assert found.ranges == [(-5.75, -4.25)]  # three standard errors on either side


def test_a_row_may_be_chosen_by_another_column():
    found = taken(take="max_abs", by="z", error="se")
    assert (found.values, found.errors) == ([2.0], [0.125])


def test_the_tables_own_limits_are_the_range():
    assert taken(take="max", limits=["low", "high"]).ranges == [(2.0, 4.0)]


@pytest.mark.parametrize("take", ["max", "min", "max_abs", "each", "sum"])
def test_no_rows_have_no_value(take):
    assert taken(take=take, rows="x > 50").missing


def test_missing_entries_are_passed_over_and_nothing_else_is_no_value():
    table = pd.DataFrame({"x": [math.nan, 2.0]})
    how = {"table": "t", "column": "x", "take": "max"}
    assert measure("c", how, {"t": table}).values == [2.0]
    assert measure("c", how, {"t": table.iloc[:1]}).missing


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"column": "y", "take": "max"}, "claim c: table t has no column 'y'"),
        ({"error": "y", "take": "max"}, "claim c: table t has no column 'y'"),
        ({"limits": ["low", "y"], "take": "max"}, "claim c: table t has no column 'y'"),
        ({"rows": "w > 1", "take": "max"}, "claim c: rows 'w > 1' cannot be selected"),
    ],
)
def test_a_measure_of_nothing_is_an_error_that_names_the_claim(how, message):
    with pytest.raises(InputError, match=message):
        taken(**how)
