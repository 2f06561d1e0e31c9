"""Closed forms of the loss against brute force over all datasets and outputs."""

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from isdp.swapping.privacy.bound import epsilon_bound
from isdp.swapping.privacy.worst_case import min_worst_case_loss, worst_case_loss
from reproduction.swapping.theory.enumeration import (
    distance,
    output_distribution,
    permutation_distribution,
)
from reproduction.swapping.theory.privacy_profile import (
    exchange_epsilon,
    exchange_loss_distribution,
)
from reproduction.swapping.theory.variants import (
    VARIANTS,
    log_weights,
    worst_case_loss_of_weights,
)
from tests.unit.swapping.brute_force import largest_loss

RATES = (0.02, 0.2, 0.5, 0.7, 0.9, 0.99)


@pytest.mark.parametrize(
    ("size", "rate"), [*product([2, 3, 4], ["1/50", "1/2", "7/10", "99/100"]), (5, "7/10")]
)
def test_the_closed_form_is_the_brute_force_over_all_pairs(size, rate):
    brute = largest_loss(range(size), range(size), rate)
    assert worst_case_loss(float(Fraction(rate)), size) == pytest.approx(brute, abs=1e-12)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("size", [*range(2, 30), 40, 100, 150])
def test_the_closed_form_is_the_maximum_over_all_numbers_moved(size, rate):
    assert worst_case_loss(rate, size) == pytest.approx(
        worst_case_loss_of_weights(log_weights(rate, size)), abs=1e-9
    )


@pytest.mark.parametrize("size", [1000, 264331])
def test_the_bound_is_tight_up_to_three_over_twice_the_stratum(size):
    gap = epsilon_bound(0.5, size) - worst_case_loss(0.5, size)
    assert gap == pytest.approx(1.5 / size, rel=3 / size + 1e-6)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 12, 60])
def test_the_least_worst_loss_is_the_minimum_over_rates(size):
    rates = 1 / (1 + np.exp(-np.linspace(-6, 6, 6_001)))
    least = min(worst_case_loss(rate, size) for rate in rates)
    assert min_worst_case_loss(size) == pytest.approx(least, abs=1e-3)
    assert min_worst_case_loss(size) <= least + 1e-12


def weights_by_enumeration(size, rate, variant):
    """Chance of each permutation of a variant, straight from its words."""
    p = Fraction(rate)
    law = dict.fromkeys(permutations(range(size)), Fraction(0))
    for chosen in range(2**size):
        points = [i for i in range(size) if chosen >> i & 1]
        chance = p ** len(points) * (1 - p) ** (size - len(points))
        orders = list(permutations(points))
        if variant == "no redraw" and len(points) > 1:
            orders = [o for o in orders if all(i != j for i, j in zip(points, o, strict=True))]
        for order in orders:
            whole = list(range(size))
            for place, source in zip(points, order, strict=True):
                whole[place] = source
            law[tuple(whole)] += chance / len(orders)
    return law


@pytest.mark.parametrize("variant", VARIANTS[1:])
@pytest.mark.parametrize("rate", ["1/5", "1/2", "9/10"])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_the_weights_of_a_variant_are_its_chances(size, rate, variant):
    weights = log_weights(float(Fraction(rate)), size, variant)
    for sigma, chance in weights_by_enumeration(size, rate, variant).items():
        moved = sum(i != j for i, j in enumerate(sigma))
        assert math.exp(weights[moved]) == pytest.approx(float(chance), rel=1e-12)


def test_the_weights_of_the_listing_are_its_chances():
    for sigma, chance in permutation_distribution(5, "3/10").items():
        moved = sum(i != j for i, j in enumerate(sigma))
        assert math.exp(log_weights(0.3, 5)[moved]) == pytest.approx(float(chance), rel=1e-12)
    assert sum(permutation_distribution(5, "3/10").values()) == 1


def test_equal_invariants_give_a_finite_loss_and_others_an_infinite_one():
    counties, tenure = (0, 0, 1, 1), (0, 0, 1, 1)
    assert largest_loss(counties, tenure, "1/2") == pytest.approx(0.779072, abs=5e-7)
    here = output_distribution(counties, tenure, "1/2", table=True)
    exchanged = output_distribution((0, 1, 0, 1), tenure, "1/2", table=True)
    elsewhere = output_distribution((0, 0, 0, 1), tenure, "1/2", table=True)
    assert distance(counties, (0, 1, 0, 1), tenure) == 2
    assert here.keys() == exchanged.keys()
    assert sum(abs(here[output] - exchanged[output]) for output in here) / 2 == Fraction(5, 36)
    assert not here.keys() & elsewhere.keys()


def test_without_a_delta_an_exchange_costs_half_its_largest_loss():
    largest = exchange_loss_distribution(6, 0.3).loss.max()
    assert exchange_epsilon(6, 0.3, 0) == largest / 2
    assert exchange_epsilon(6, 0.3, 1e-15) == pytest.approx(largest / 2, rel=1e-6)
