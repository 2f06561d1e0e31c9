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


def test_without_a_column_it_is_the_first():
    assert measure("c", {"table": "t", "take": "max"}, {"t": TABLE}).values == [3.0]


def test_the_error_is_that_of_the_row_taken():
    found = taken(take="min", error="se", draws="n")
    assert (found.values, found.errors, found.draws) == ([-5.0], [0.25], 20)
    assert found.ranges == [(-5.75, -4.25)]  # three standard errors on either side


def test_what_the_papers_formula_gives_is_that_of_the_row_taken():
    assert taken(take="max_abs", by="z", formula="high").formulas == [9.0]
    assert taken(take="each", rows="good", formula="high").formulas == [4.0, -4.0]
    assert taken(take="max").formulas == []


def test_a_row_may_be_chosen_by_another_column():
    found = taken(take="max_abs", by="z", error="se")
    assert (found.values, found.errors) == ([2.0], [0.125])


def test_the_tables_own_limits_are_the_range():
    assert taken(take="max", limits=["low", "high"]).ranges == [(2.0, 4.0)]


@pytest.mark.parametrize("take", ["max", "min", "max_abs", "only", "each", "sum"])
def test_no_rows_have_no_value(take):
    assert taken(take=take, rows="x > 50").missing


@pytest.mark.parametrize("take", ["max", "min", "max_abs", "only", "each", "sum"])
def test_a_missing_entry_is_no_value_unless_the_query_passes_over_it(take):
    table = pd.DataFrame({"x": [math.nan, 2.0], "whole": pd.array([None, 2], dtype="Int64")})
    for column in ("x", "whole"):
        how = {"table": "t", "column": column, "take": take}
        known = how | {"rows": f"{column}.notna()"}
        assert measure("c", known, {"t": table}).values == [2]
        for rows in ("index >= 0", "index == 0") if take != "only" else ("index == 0",):
            assert measure("c", how | {"rows": rows}, {"t": table}).missing


def test_a_row_chosen_by_another_column_has_a_value_in_both():
    how = {"table": "t", "column": "x", "take": "max", "by": "z"}
    for x, z in ((math.nan, 1.0), (1.0, math.nan)):
        assert measure("c", how, {"t": pd.DataFrame({"x": [x], "z": [z]})}).missing
    assert measure("c", how, {"t": pd.DataFrame({"x": [1.0], "z": [2.0]})}).values == [1.0]


def test_the_only_row_is_an_error_where_there_are_more():
    assert taken(take="only", rows="not good", error="se").ranges == [(1.625, 2.375)]
    with pytest.raises(InputError, match="claim c: rows 'good' of table t are 2"):
        taken(take="only", rows="good")


def test_no_exceptions_are_found_where_nothing_was_looked_at():
    assert taken(take="rows", among="good", rows="x > 2").values == [1]
    assert taken(take="rows", among="good", rows="x > 50").values == [0]
    assert taken(take="rows", among="z > 50", rows="x > 50").missing
    assert measure("c", {"table": "t", "take": "rows"}, {"t": TABLE.iloc[:0]}).missing


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"column": "y", "take": "max"}, "claim c: table t has no column 'y'"),
        ({"error": "y", "take": "max"}, "claim c: table t has no column 'y'"),
        ({"limits": ["low", "y"], "take": "max"}, "claim c: table t has no column 'y'"),
        ({"rows": "w > 1", "take": "max"}, "claim c: rows 'w > 1' cannot be selected"),
        ({"among": "w > 1", "take": "rows"}, "claim c: among 'w > 1' cannot be selected"),
    ],
)
def test_a_measure_of_nothing_is_an_error_that_names_the_claim(how, message):
    with pytest.raises(InputError, match=message):
        taken(**how)
