"""The release sampler draws from the distribution, on every kind of lattice and at every scale."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from isdp import GeneralizedLaplace, Invariants
from isdp.exact import enumerate_distribution, total_distribution
from isdp.exact.bits.geometric import Geometric
from isdp.exact.bits.source import BitSource
from isdp.exact.disjoint.compositions import draw_compositions
from isdp.testing import (
    FALSE_ALARM_RATE,
    DistributionError,
    check_distribution,
    check_mean,
    count_points,
)
from tests.exact_noise import exact_noise

LATTICES = {
    "two cells": Invariants.total(2),
    "three cells": Invariants.total(3),
    "two blocks": Invariants.partition([0, 1, 0, 1]),
    "a free cell, a block of one and a row twice": Invariants(
        [[0, 1, 1, 0], [0, 3, 3, 0], [0, 0, 0, 1]]
    ),
    "2 x 2 table": Invariants.margins((2, 2)),
    "2 x 3 table": Invariants.margins((2, 3)),
    "a free cell and entries other than 0 and 1": Invariants([[2, 3, 0], [4, 6, 0]]),
    "a sum and an alternating sum": Invariants([[1, 1, 1, 1], [1, -1, 1, 2]]),
}


def pseudo(seed=31):
    return np.random.default_rng(seed).bytes


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize("name", LATTICES)
def test_distribution_on_lattices_small_enough_to_enumerate(name, epsilon):
    invariants, mechanism = LATTICES[name], GeneralizedLaplace(float(epsilon))
    draws = exact_noise(GeneralizedLaplace(epsilon), invariants, 6_000, source=pseudo())
    law = enumerate_distribution(invariants, mechanism)
    assert law.left_out < 1e-8
    check_distribution(count_points(draws, law.points), np.append(law.pmf, 0.0))
    norms = mechanism.noise_norm(law.points)
    sd = np.sqrt((law.pmf * norms**2).sum() - (law.pmf * norms).sum() ** 2)
    check_mean(mechanism.noise_norm(draws), (law.pmf * norms).sum(), sd)


@pytest.mark.parametrize("name", ["two blocks", "2 x 3 table"])
def test_power_an_epsilon_off_by_a_tenth_is_caught(name):
    invariants, mechanism = LATTICES[name], GeneralizedLaplace(0.5)
    draws = exact_noise(GeneralizedLaplace("0.55"), invariants, 6_000, source=pseudo())
    law = enumerate_distribution(invariants, mechanism)
    norms = mechanism.noise_norm(law.points)
    sd = np.sqrt((law.pmf * norms**2).sum() - (law.pmf * norms).sum() ** 2)
    with pytest.raises(DistributionError):
        check_mean(mechanism.noise_norm(draws), (law.pmf * norms).sum(), sd)


@pytest.mark.parametrize("rate", [Fraction(1, 4), Fraction(1, 100), Fraction(1, 10**4)])
def test_counts_are_geometric(rate):
    counts = Geometric(rate).draw(BitSource(pseudo()), 100_000)
    edges = np.unique([round(-math.log(1 - i / 40) / rate) for i in range(40)])
    left = np.append(np.exp(-float(rate) * edges), 0.0)
    binned = np.searchsorted(edges, counts, side="right") - 1
    check_distribution(np.bincount(binned, minlength=len(edges)), -np.diff(left))
    # every bit of the lowest byte
    for bit in range(8):
        one = 1 / (1 + math.exp(rate * 2**bit))
        check_mean((counts >> bit) & 1, one, math.sqrt(one * (1 - one)))


@pytest.mark.parametrize(
    ("total", "cells", "epsilon"),
    [(9, 3, "1/3"), (30, 2, "1/7"), (30, 3, "1/40"), (9, 2, "1/100"), (150, 2, "1/100")],
)
def test_compositions_are_uniform(total, cells, epsilon):
    bits, counts = BitSource(pseudo()), Geometric(Fraction(epsilon))
    several = np.full(200_000, total), np.full(200_000, cells)
    draws = draw_compositions(bits, *several, counts).reshape(-1, cells)
    assert (draws.sum(axis=1) == total).all()
    assert draws.min() >= 0
    grid = np.indices((total + 1,) * cells).reshape(cells, -1).T
    points = grid[grid.sum(axis=1) == total]
    check_distribution(
        count_points(draws, points), np.append(np.full(len(points), 1 / len(points)), 0)
    )


@pytest.mark.parametrize(("cells", "epsilon"), [(2, 1e-6), (7, 1e-3), (300, 1e-4)])
def test_small_epsilons_give_the_distribution_of_the_norm_and_of_a_cell(cells, epsilon):
    """The norm is Gamma(cells - 1, rate epsilon), but for a part in 1 / epsilon."""
    draws = exact_noise(
        GeneralizedLaplace(epsilon), Invariants.total(cells), 2_500, source=pseudo()
    )
    scaled = epsilon * abs(draws).sum(axis=1)
    assert stats.kstest(scaled, "gamma", args=(cells - 1,)).pvalue > FALSE_ALARM_RATE
    assert stats.kstest(1.3 * scaled, "gamma", args=(cells - 1,)).pvalue < FALSE_ALARM_RATE
    for cell in (draws[:, 0], draws[:, -1]):
        assert stats.kstest(cell, law_below(cells, epsilon)).pvalue > FALSE_ALARM_RATE


def law_below(cells, epsilon):
    """Distribution function of a cell."""
    if cells == 2:
        return stats.laplace(scale=0.5 / epsilon).cdf
    law = total_distribution(cells, epsilon)
    below = np.append(0.0, np.cumsum(law.pmf))
    return lambda values: below[np.searchsorted(law.support, values, side="right")]


def test_a_table_with_both_margins_at_the_epsilon_of_use():
    # every point within a norm, weighted anew, and the draws that fall there
    invariants, epsilon = Invariants.margins((3, 3)), 0.25
    draws = exact_noise(GeneralizedLaplace("1/4"), invariants, 6_000, source=pseudo())
    law = enumerate_distribution(invariants, GeneralizedLaplace(1.0), radius=24)
    weights = np.exp(-epsilon * abs(law.points).sum(axis=1))
    inside = abs(draws).sum(axis=1) <= 24
    check_distribution(
        count_points(draws[inside], law.points), np.append(weights / weights.sum(), 0.0)
    )
