"""The published budget, its two inverses, and the slides' tables."""

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isdp import InputError
from isdp.swapping.privacy.bound import (
    Rate,
    epsilon_bound,
    guarantee_of,
    min_epsilon,
    rates_with_epsilon,
)

CENSUS_2020 = {
    13680081: (19.38, 16.43),
    3653802: (18.06, 15.11),
    3445076: (18.00, 15.05),
    853003: (16.60, 13.66),
    21535: (12.92, 9.98),
    11691: (12.31, 9.37),
}
CENSUS_1940 = {0.01: 17.08, 0.05: 15.43, 0.10: 14.68, 0.50: 12.48}


@pytest.mark.parametrize("largest", CENSUS_2020)
def test_the_table_for_2020_is_as_printed(largest):
    computed = tuple(round(epsilon_bound(rate, largest), 2) for rate in (0.05, 0.5))
    assert computed == CENSUS_2020[largest]


@pytest.mark.parametrize("rate", CENSUS_1940)
def test_the_table_for_1940_is_as_printed(rate):
    assert round(epsilon_bound(rate, 264331), 2) == CENSUS_1940[rate]


@given(st.integers(2, 10**7), st.floats(0, 30))
def test_both_rates_return_their_epsilon(largest, more):
    epsilon = min_epsilon(largest)[0] + more
    for rate in rates_with_epsilon(epsilon, largest):
        assert epsilon_bound(rate, largest) == pytest.approx(epsilon, abs=1e-9)


def precise_bound(rate, largest):
    """The published bound of a rational rate, with 1200 bits."""
    with flint.ctx.workprec(1200):
        odds = (flint.arb(rate.numerator) / (rate.denominator - rate.numerator)).log()
        return max(odds, flint.arb(largest + 1).log() - odds, key=lambda x: float(x.mid()))


@pytest.mark.parametrize(
    "rate",
    [
        *(0.05, 0.5, 0.999, 0.999999999, 0.9999999999999999, 1e-9, 1e-300, 5e-324),
        *(Fraction(1, 3), Fraction(2**32 - 1, 2**32), Fraction(1, 2**32), Fraction(1, 10**320)),
    ],
)
@pytest.mark.parametrize("largest", [2, 10**6])
def test_the_stated_epsilon_is_not_below_that_of_the_rate_as_it_is_written(rate, largest):
    """In doubles 0.999999999 is further from 1 than it says, by 3 in 10^8."""
    true = precise_bound(rate if isinstance(rate, Fraction) else Fraction(repr(rate)), largest)
    stated = flint.fmpq(*Fraction(repr(guarantee_of(rate, largest).loss)).as_integer_ratio())
    with flint.ctx.workprec(1200):
        assert true <= flint.arb(stated) <= true + 2e-12 * (1 + true)


@pytest.mark.parametrize("rate", [1 - Fraction(1, 10**20), Fraction(1, 10**400)])
def test_a_rate_that_rounds_to_0_or_1_is_refused(rate):
    with pytest.raises(InputError, match="swap rate"):
        guarantee_of(rate, 100)


@pytest.mark.parametrize("odds", [0, -1.0, math.inf, math.nan])
def test_odds_are_positive_numbers(odds):
    with pytest.raises(InputError, match="odds"):
        Rate(odds)


def test_rates_near_one_keep_their_digits():
    _, high = rates_with_epsilon(60, 264331)
    assert high.selected == 1
    assert high.odds == pytest.approx(math.exp(60), rel=1e-12)
    assert epsilon_bound(high, 264331) == pytest.approx(60, rel=1e-12)


@pytest.mark.parametrize("largest", [2, 10, 264331])
def test_no_rate_has_less_than_the_smallest_epsilon(largest):
    least, best = min_epsilon(largest)
    rates = [Rate(odds) for odds in np.geomspace(best.odds / 100, best.odds * 100, 2001)]
    bounds = [epsilon_bound(rate, largest) for rate in rates]
    assert min(bounds) == pytest.approx(least, abs=1e-9)
    assert int(np.argmin(bounds)) == 1000


def test_the_guarantee_says_its_unit():
    assert "d_HAM" in guarantee_of(0.3, 264331).unit


def test_nothing_is_lost_where_nothing_can_be_swapped():
    assert epsilon_bound(0.3, 1) == 0


def test_an_epsilon_below_the_smallest_is_refused_and_the_smallest_named():
    with pytest.raises(InputError, match=r"6\.242481"):
        rates_with_epsilon(6.2, 264331)


@pytest.mark.parametrize("epsilon", [math.nan, math.inf, 1000, "5", True])
def test_what_is_no_epsilon_is_refused(epsilon):
    with pytest.raises(InputError, match="epsilon"):
        rates_with_epsilon(epsilon, 10)


@pytest.mark.parametrize("size", [0, -3, 2.5, "10", True])
def test_what_is_no_size_is_refused(size):
    for call in (lambda: epsilon_bound(0.5, size), lambda: rates_with_epsilon(3.0, 1)):
        with pytest.raises(InputError, match="number of records"):
            call()
