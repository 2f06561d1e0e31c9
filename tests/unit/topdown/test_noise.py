import math

import numpy as np
import pytest

from isdp import InputError
from isdp.topdown.noise import discrete_gaussian, draw_noise
from tests.statistical.checks import LawRejected, check_law

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
    check_law(counts(drawn, reach), pmf)
    other = law(lambda k: math.exp(-0.5 * (k / (1.02 * sigma)) ** 2), reach)
    with pytest.raises(LawRejected):
        check_law(counts(drawn, reach), other)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_pure_noise_is_double_geometric_with_half_of_epsilon(epsilon):
    drawn = draw_noise(np.random.default_rng(6), "pure", np.full(DRAWS, epsilon))
    reach = math.ceil(60 / epsilon)
    check_law(counts(drawn, reach), law(lambda k: math.exp(-abs(k) * epsilon / 2), reach))
    with pytest.raises(LawRejected):
        check_law(counts(drawn, reach), law(lambda k: math.exp(-abs(k) * epsilon / 1.95), reach))


def test_zcdp_noise_has_the_variance_of_each_answers_share():
    losses = np.repeat([0.5, 0.01], DRAWS)
    drawn = draw_noise(np.random.default_rng(7), "zCDP", losses)
    for loss in (0.5, 0.01):
        sigma, reach = loss**-0.5, math.ceil(12 * loss**-0.5)
        pmf = law(lambda k, s=sigma: math.exp(-0.5 * (k / s) ** 2), reach)
        check_law(counts(drawn[losses == loss], reach), pmf)


def test_an_unknown_flavour_is_refused():
    with pytest.raises(InputError, match="flavour"):
        draw_noise(np.random.default_rng(0), "approximate", [1.0])
