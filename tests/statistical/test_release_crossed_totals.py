"""Gaussian noise under totals of regions and of classes, against enumeration and Klein's sampler.

The false-alarm rate of each check is FALSE_ALARM_RATE of `isdp.testing`.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from isdp import SYSTEM_RANDOMNESS, GeneralizedGaussian, draw_noise
from isdp.exact.bits.source import BitSource
from isdp.exact.overlapping.crossed_gaussian import CrossedTotalsSampler
from isdp.exact.overlapping.klein import KleinSampler
from isdp.lattice.null_lattice import kernel_lattice
from isdp.testing import FALSE_ALARM_RATE, DistributionError, check_distribution, count_points
from tests.crossed_families import crossed_invariants
from tests.distributions import gaussian

DRAWS = 80_000
CASES = ["2 x 3", "a class of two cells", "a row of two regions"]
VARIANCES = [Fraction(2, 3), Fraction(3, 2)]


def enumerated(invariants, variance, reach=11):
    """Points in a box of coefficients of a basis, and their probabilities."""
    basis = kernel_lattice(invariants, "lll").basis
    grid = np.array(list(itertools.product(range(-reach, reach + 1), repeat=basis.shape[1])))
    points = grid @ basis.T
    weights = np.exp(-np.square(points).sum(axis=1) / (2 * float(variance)))
    assert weights[abs(grid).max(axis=1) == reach].sum() < 1e-6 * weights.sum()
    return points, np.append(weights / weights.sum(), 0.0)


def drawn(sampler, seed, n_draws=DRAWS):
    return sampler.draw(BitSource(np.random.default_rng(seed).bytes), n_draws)


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("name", CASES)
def test_draws_follow_the_enumerated_distribution(name, variance):
    invariants = crossed_invariants(name)
    points, pmf = enumerated(invariants, variance)
    sampler = CrossedTotalsSampler(invariants, gaussian(variance))
    check_distribution(count_points(drawn(sampler, 21), points), pmf)


@pytest.mark.parametrize("factor", [Fraction(95, 100), Fraction(105, 100)])
@pytest.mark.parametrize("name", CASES)
def test_a_variance_that_is_off_by_5_percent_is_noticed(name, factor):
    invariants, variance = crossed_invariants(name), Fraction(3, 2)
    points, pmf = enumerated(invariants, variance)
    sampler = CrossedTotalsSampler(invariants, gaussian(variance * factor))
    with pytest.raises(DistributionError):
        check_distribution(count_points(drawn(sampler, 22), points), pmf)


def test_noise_for_release_follows_the_enumerated_distribution():
    invariants = crossed_invariants("a class of two cells")
    points, pmf = enumerated(invariants, 1)
    noise = draw_noise(GeneralizedGaussian(1), invariants, n_draws=DRAWS, rng=SYSTEM_RANDOMNESS)
    check_distribution(count_points(noise, points), pmf)


def p_value(one, two):
    """The p-value of equal distributions of the energy, a cell, and a product of two cells."""
    found = []
    for statistic in (
        lambda u: (u * u).sum(axis=1),
        lambda u: u[:, 0],
        lambda u: u[:, 0] * u[:, 1],
    ):
        values = [statistic(noise) for noise in (one, two)]
        inner = np.unique(np.quantile(values[0], np.linspace(0, 1, 25)[1:-1]))
        counts = [np.bincount(np.searchsorted(inner, each), minlength=25) for each in values]
        table = np.array(counts)
        found.append(stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)
    return 3 * min(found)


@pytest.mark.parametrize("name", ["both", "three classes of unequal sizes"])
def test_larger_products_have_the_distribution_of_klein(name):
    invariants = crossed_invariants(name)
    crossed, klein = (
        drawn(kind(invariants, gaussian(Fraction(4, 5))), seed)
        for kind, seed in ((CrossedTotalsSampler, 23), (KleinSampler, 24))
    )
    assert p_value(crossed, klein) > FALSE_ALARM_RATE
    off = CrossedTotalsSampler(invariants, gaussian(Fraction(4, 5) * Fraction(105, 100)))
    assert p_value(drawn(off, 25), klein) < FALSE_ALARM_RATE
