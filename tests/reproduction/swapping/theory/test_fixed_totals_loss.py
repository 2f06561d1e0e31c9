"""Losses in given universes, of the records and of the table alone, against brute force."""

from itertools import permutations

import pytest

from isdp import InputError
from reproduction.swapping.theory.enumeration import output_distribution
from reproduction.swapping.theory.fixed_totals_loss import universe_loss, universe_lower_bound
from reproduction.swapping.theory.released_table import (
    rare_category_bound,
    table_distribution,
    table_loss,
    tables_with,
    two_counties_bound,
)
from tests.unit.swapping.brute_force import largest_loss

SMALL = [(1, 1), (1, 2), (2, 2), (1, 1, 1), (1, 1, 2), (2, 3), (1, 4), (1, 1, 3), (1, 2, 2)]


def records(totals):
    return [county for county, n in enumerate(totals) for _ in range(n)]


@pytest.mark.parametrize("rate", ["1/20", "1/2", "9/10"])
@pytest.mark.parametrize("totals", SMALL)
def test_the_loss_given_county_totals_is_the_brute_force(totals, rate):
    brute = largest_loss(records(totals), range(sum(totals)), rate)
    assert universe_loss(totals, rate).value == pytest.approx(brute, abs=1e-12)
    assert universe_loss(totals, rate).kind == "exact"


def test_the_worst_pair_is_not_the_one_without_a_match():
    # the pair of that kind has 1.535478; two counties wholly matched but one record have more
    assert universe_loss((4, 4, 4, 4), 0.5).value == pytest.approx(2.027677, abs=5e-7)


@pytest.mark.parametrize("totals", [(2, 2, 2, 2), (1, 2, 2, 2), (2, 2, 3, 3), (1, 1, 2, 2, 2)])
@pytest.mark.parametrize("rate", [0.05, 0.5])
def test_the_lower_bound_stays_below_the_loss(totals, rate):
    exact, bound = universe_loss(totals, rate), universe_lower_bound(totals, rate)
    assert bound.kind == "lower bound"
    assert 0 < bound.value <= exact.value + 1e-12


def test_the_lower_bound_is_attained_where_its_pair_is_the_worst():
    assert universe_lower_bound((4, 4, 4, 4), 0.5).value == pytest.approx(
        universe_loss((4, 4, 4, 4), 0.5).value, abs=1e-12
    )


@pytest.mark.parametrize("totals", [(3, 3, 3), (2, 2, 12), (5, 5), (1, 1, 2, 9)])
def test_a_pair_that_does_not_exist_bounds_nothing(totals):
    with pytest.raises(InputError, match="counties"):
        universe_lower_bound(totals, 0.5)


@pytest.mark.parametrize("rate", ["1/20", "1/2", "9/10"])
@pytest.mark.parametrize(
    ("counties", "tenure"),
    [((2, 2), (2, 2)), ((1, 3), (2, 2)), ((2, 3), (1, 4)), ((1, 1, 3), (2, 3)), ((1,), (1,))],
)
def test_the_law_of_the_table_is_the_brute_force(counties, tenure, rate):
    held = records(tenure)
    tables = tables_with(counties, tenure)
    for before in tables:
        swapped = [k for column in zip(*before, strict=True) for k in records(column)]
        law = output_distribution(swapped, held, rate, table=True)
        by_table = dict.fromkeys(tables, 0)
        for output, chance in law.items():
            cells = dict(output)
            rows = [[cells.get((k, j), 0) for j in (0, 1)] for k in range(len(counties))]
            by_table[tuple(tuple(row[: len(tenure)]) for row in rows)] = chance
        assert table_distribution(before, tables, rate) == list(by_table.values())


def test_every_law_of_a_larger_table_sums_to_one():
    tables = tables_with((1, 4, 6), (5, 6))
    assert {sum(table_distribution(before, tables, "3/10")) for before in tables} == {1}


@pytest.mark.parametrize("rate", ["1/20", "1/2"])
@pytest.mark.parametrize(("counties", "tenure"), [((2, 2), (2, 2)), ((1, 2, 2), (2, 3))])
def test_the_loss_of_the_table_is_the_brute_force(counties, tenure, rate):
    brute = largest_loss(records(counties), records(tenure), rate)
    assert table_loss(counties, tenure, rate).value == pytest.approx(brute, abs=1e-12)


@pytest.mark.parametrize("size", [2, 3, 5, 11])
def test_one_rare_record_in_a_county_of_one_attains_its_bound(size):
    exact = table_loss((1, size - 1), (1, size - 1), 0.3).value if size > 1 else 0
    assert rare_category_bound(size, 0.3).value == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(("size", "owners"), [(4, 2), (8, 1), (12, 5), (30, 3)])
def test_two_counties_of_one_record_bound_the_loss_from_below(size, owners):
    exact = table_loss((1, 1, size - 2), (owners, size - owners), 0.3).value
    assert two_counties_bound(size, owners, 0.3).value <= exact + 1e-12


@pytest.mark.parametrize(
    "call",
    [
        lambda: tables_with((30, 30, 30), (30, 30, 30)),
        lambda: universe_loss((20, 20, 20), 0.5),
    ],
)
def test_what_cannot_be_done_is_refused(call):
    with pytest.raises(InputError, match="swapping"):
        call()


def test_all_tables_are_listed_once():
    counties, tenure = (1, 2, 1), (2, 2)
    held = records(tenure)
    seen = {
        tuple(
            tuple(sum(pair == (i, j) for pair in zip(order, held, strict=True)) for j in (0, 1))
            for i in range(3)
        )
        for order in permutations(records(counties))
    }
    listed = tables_with(counties, tenure)
    assert len(listed) == len(set(listed))
    assert set(listed) == seen
