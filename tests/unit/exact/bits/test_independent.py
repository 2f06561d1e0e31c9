import math
from fractions import Fraction

import numpy as np
import pytest

from isdp import InputError
from isdp.exact.bits.discrete_gaussian import draw_gaussian_around
from isdp.exact.bits.independent import draw_discrete_gaussian, draw_discrete_laplace
from isdp.exact.bits.source import BitSource
from isdp.testing import DistributionError, check_distribution, check_mean

DRAWS = 60_000


def seeded(seed):
    return np.random.default_rng(seed).bytes


def frequencies(drawn, reach):
    kept = drawn[np.abs(drawn) <= reach]
    return np.bincount(kept + reach, minlength=2 * reach + 1)


def gaussian_distribution(variance, reach):
    weights = np.array([math.exp(-k * k / (2 * variance)) for k in range(-reach, reach + 1)])
    return weights / weights.sum()


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(1), Fraction(47, 10), Fraction(225)])
def test_the_discrete_gaussian_follows_its_distribution(variance):
    drawn = draw_discrete_gaussian(variance, DRAWS, seeded(3))
    reach = math.ceil(12 * math.sqrt(variance)) + 1
    check_distribution(frequencies(drawn, reach), gaussian_distribution(float(variance), reach))
    with pytest.raises(DistributionError):
        check_distribution(
            frequencies(drawn, reach), gaussian_distribution(1.08 * float(variance), reach)
        )


def test_double_geometric_noise_follows_its_distribution():
    drawn = draw_discrete_laplace("1/3", DRAWS, seeded(4))
    weights = np.exp(-np.abs(np.arange(-90, 91)) / 3)
    check_distribution(frequencies(drawn, 90), weights / weights.sum())


def test_a_large_variance_comes_out():
    drawn = draw_discrete_gaussian(10**12, 4000, seeded(5))
    assert np.abs(drawn).max() < 7e6
    check_mean((drawn / 1e6) ** 2, 1, math.sqrt(2))
    with pytest.raises(DistributionError):
        check_mean((drawn / 1.1e6) ** 2, 1, math.sqrt(2))


@pytest.mark.parametrize("variance", [Fraction(1, 5), Fraction(3)])
@pytest.mark.parametrize("centre", [Fraction(1, 2), Fraction(-7, 3), Fraction(2, 7)])
def test_any_centre_will_do(variance, centre):
    bits = BitSource(seeded(6))
    numerators = np.full(DRAWS, centre.numerator)
    drawn = draw_gaussian_around(bits, variance, numerators, centre.denominator)
    k = np.arange(-25, 26)
    weights = np.exp(-((k - float(centre)) ** 2) / (2 * float(variance)))
    check_distribution(frequencies(drawn, 25), weights / weights.sum())
    weights = np.exp(-((k - float(centre) - 0.1) ** 2) / (2 * float(variance)))
    with pytest.raises(DistributionError):
        check_distribution(frequencies(drawn, 25), weights / weights.sum())


@pytest.mark.parametrize("variance", [0, Fraction(1, 10**9), 10**30, 0.5, True, "1"])
def test_variances_that_will_not_do_are_refused(variance):
    with pytest.raises(InputError, match="variance"):
        draw_discrete_gaussian(variance, 3)


def test_no_draws_are_none():
    assert draw_discrete_gaussian(1, 0).shape == draw_discrete_laplace(1, 0).shape == (0,)
