"""Quantities, criteria and requirements of claims."""

import math

import pandas as pd
import pytest

from isdp import InputError
from reproduction.jobs.claims import (
    Requirement,
    at_least,
    at_most,
    between,
    contains,
    count,
    distinct,
    equals,
    extreme_row,
    only_row,
    quantity,
    total,
)
from tests.reproduction.review.test_claims import make_claim

NAN = float("nan")


@pytest.fixture
def table():
    values = {"x": [1.0, -3.0, 2.0], "se": [0.1, 0.2, 0.3], "k": ["b", "a", "b"], "n": [5, 6, 7]}
    return pd.DataFrame(values).rename_axis("t")


def test_a_quantity_has_its_errors_and_its_source(table):
    found = quantity(table.query("x > 0"), "x", error="se", draws="n", names="{k}{n}".format_map)
    assert (found.values, found.errors, found.names) == ([1, 2], [0.1, 0.3], ["b5", "b7"])
    assert (found.table, found.rows, found.column) == ("t", [0, 2], "x")
    assert found.ranges == [(pytest.approx(0.7), pytest.approx(1.3)), (pytest.approx(1.1), 2.9)]
    assert found.n_draws == 5
    assert quantity(table, "x", absolute=True).values == [1, 3, 2]
    limited = quantity(table, "x", limits=("se", "n"))
    assert limited.ranges == [(0.1, 5), (0.2, 6), (0.3, 7)]
    assert quantity(table, "n").ranges == [(5, 5), (6, 6), (7, 7)]


@pytest.mark.parametrize(("extreme", "place"), [("max", 2), ("min", 1), ("max_abs", 1)])
def test_the_extreme_row_is_that_of_the_extreme_value(table, extreme, place):
    assert extreme_row(table, "x", extreme).index.tolist() == [place]
    # a missing value could be the extreme one
    table.loc[0, "x"] = NAN
    assert quantity(extreme_row(table, "x", extreme), "x").is_missing
    assert quantity(extreme_row(table.iloc[:0], "x", extreme), "x").is_missing


def test_counts_and_sums(table):
    assert count(table.query("x > 0"), among=table).values == [2]
    assert count(table.query("x > 9"), among=table).values == [0]
    assert count(table.query("x > 9"), among=table.query("x > 5")).is_missing
    assert total(table, "n").values == [18]
    assert total(table.iloc[:0], "n").is_missing
    assert total(table.assign(n=[1, NAN, 2]), "n").is_missing
    assert distinct(table, "k").values == [["a", "b"]]
    assert len(only_row(table.query("x == 2"))) == 1
    with pytest.raises(InputError, match="table t: 3 rows"):
        only_row(table)


@pytest.mark.parametrize(
    ("value", "criterion", "expected"),
    [
        (48, equals(48, "paper"), True),
        (47, equals(48, "paper"), False),
        (1.0, between(0.9, 1.0, "ours"), True),
        (0.8, between(0.9, 1.0, "ours"), False),
        (2, at_least(2, "ours"), True),
        (2.1, at_most(2, "ours"), False),
        (["IL", "TX"], contains("IL", "paper"), True),
        (["TX"], contains("IL", "paper"), False),
    ],
)
def test_criteria(value, criterion, expected):
    assert criterion.is_met_by(value) is expected
    assert criterion.is_met_within(value, value) is expected


def test_a_range_meets_a_criterion_if_a_value_in_it_does():
    assert between(1, 2, "ours").is_met_within(1.9, 5)
    assert not between(1, 2, "ours").is_met_within(2.1, 5)
    assert at_most(1, "ours").is_met_within(NAN, NAN)
    assert equals(3, "ours").is_met_within(2.5, 3.5)
    assert not equals(3, "ours").is_met_within(3.1, math.inf)


def test_a_requirement_states_its_shortfall(table):
    size = quantity(extreme_row(table, "n", "min"), "n")
    assert Requirement("draws", size, 5).shortfall == ""
    assert Requirement("draws", size, 6).shortfall == "this run has 5 draws, and the minimum is 6"
    unknown = Requirement("draws", quantity(table.iloc[:0], "n"), 6).shortfall
    assert "does not state its number of draws" in unknown


def test_a_missing_table_names_the_rule_that_makes_it_and_a_missing_column_the_claim(table):
    claim = make_claim(tables=["draws_verified"])
    with pytest.raises(InputError, match=r"claim a-claim: the table draws_verified .*verify_draws"):
        claim.evidence({})
    with pytest.raises(InputError, match=r"claim a-claim \(tables t\): KeyError: 'x'"):
        make_claim().evidence({"t": table.drop(columns="x")})
