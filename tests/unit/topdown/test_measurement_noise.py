import math
from fractions import Fraction

import numpy as np
import pytest

from isdp import InputError
from isdp.testing import DistributionError, check_distribution
from isdp.topdown.measurement_noise import discrete_gaussian, draw_noise, draw_noise_for_release

DRAWS = 200_000


def law(weight, reach):
    pmf = np.array([weight(k) for k in range(-reach, reach + 1)])
    return pmf / pmf.sum()


def counts(drawn, reach):
    kept = drawn[np.abs(drawn) <= reach]
    return np.bincount(kept + reach, minlength=2 * reach + 1)


@pytest.mark.parametrize("sigma", [0.4, 1.0, 3.7])
def test_the_discrete_gaussian_follows_its_law(sigma):
    drawn = discrete_gaussian(np.random.default_rng(5), np.full(DRAWS, sigma))
    reach = math.ceil(12 * sigma)
    pmf = law(lambda k: math.exp(-0.5 * (k / sigma) ** 2), reach)
    check_distribution(counts(drawn, reach), pmf)
    other = law(lambda k: math.exp(-0.5 * (k / (1.02 * sigma)) ** 2), reach)
    with pytest.raises(DistributionError):
        check_distribution(counts(drawn, reach), other)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_pure_noise_is_double_geometric_with_half_of_epsilon(epsilon):
    drawn = draw_noise(np.random.default_rng(6), "pure", [epsilon], [DRAWS])
    reach = math.ceil(60 / epsilon)
    check_distribution(counts(drawn, reach), law(lambda k: math.exp(-abs(k) * epsilon / 2), reach))
    with pytest.raises(DistributionError):
        check_distribution(
            counts(drawn, reach), law(lambda k: math.exp(-abs(k) * epsilon / 1.95), reach)
        )


def test_zcdp_noise_has_the_variance_of_each_answers_share():
    drawn = draw_noise(np.random.default_rng(7), "zCDP", [0.5, 0.01], [DRAWS, DRAWS])
    for loss, part in zip((0.5, 0.01), np.split(drawn, 2), strict=True):
        sigma, reach = loss**-0.5, math.ceil(12 * loss**-0.5)
        pmf = law(lambda k, s=sigma: math.exp(-0.5 * (k / s) ** 2), reach)
        check_distribution(counts(part, reach), pmf)


def test_an_unknown_flavour_is_refused():
    with pytest.raises(InputError, match="flavour"):
        draw_noise(np.random.default_rng(0), "approximate", [1.0], [1])


def test_the_noise_of_a_release_follows_the_same_laws():
    for flavour, weight in (
        ("pure", lambda k: math.exp(-abs(k) / 3)),
        ("zCDP", lambda k: math.exp(-k * k / 3)),
    ):
        drawn = draw_noise_for_release(None, flavour, [Fraction(2, 3), Fraction(5)], [20_000, 10])
        assert drawn.shape == (20_010,)
        check_distribution(counts(drawn[:20_000], 90), law(weight, 90))
