import math
from fractions import Fraction

import numpy as np
import pytest

from isdp import InputError
from isdp.exact.independent import _gaussian, discrete_gaussian, double_geometric
from isdp.exact.secure import _Words
from tests.statistical.checks import LawRejected, check_law

DRAWS = 60_000


def seeded(seed):
    return np.random.default_rng(seed).bytes


def frequencies(drawn, reach):
    kept = drawn[np.abs(drawn) <= reach]
    return np.bincount(kept + reach, minlength=2 * reach + 1)


def gaussian_law(variance, reach):
    weights = np.array([math.exp(-k * k / (2 * variance)) for k in range(-reach, reach + 1)])
    return weights / weights.sum()


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(1), Fraction(47, 10), Fraction(225)])
def test_the_discrete_gaussian_follows_its_law(variance):
    drawn = discrete_gaussian(variance, DRAWS, seeded(3))
    reach = math.ceil(12 * math.sqrt(variance)) + 1
    check_law(frequencies(drawn, reach), gaussian_law(float(variance), reach))
    with pytest.raises(LawRejected):
        check_law(frequencies(drawn, reach), gaussian_law(1.08 * float(variance), reach))


def test_double_geometric_noise_follows_its_law():
    drawn = double_geometric("1/3", DRAWS, seeded(4))
    weights = np.exp(-np.abs(np.arange(-90, 91)) / 3)
    check_law(frequencies(drawn, 90), weights / weights.sum())


def test_a_large_variance_comes_out():
    drawn = discrete_gaussian(10**12, 4000, seeded(5))
    assert np.abs(drawn).max() < 7e6
    assert drawn.std() == pytest.approx(1e6, rel=0.07)  # six standard errors


def test_chances_are_whole_parts_and_a_certain_one_is_kept():
    """With variance 4 the scale is 3; 4/3 is no size, so no chance is 1; with 12/1 one is."""
    law = _gaussian(Fraction(4))
    assert law.scale == 3
    for size in (0, 1, 2, 7):
        exact = math.exp(-((size - 4 / 3) ** 2) / 8)
        assert law._bound(size) / 2**64 == pytest.approx(exact, rel=1e-12)
    certain = _gaussian(Fraction(12))
    assert certain.scale == 4
    assert certain.log_chance(3) == 0
    all_ones = _Words(lambda count: b"\xff" * count)
    assert certain.keep(all_ones, np.array([3])).all()
    assert not certain.keep(all_ones, np.array([4])).any()


def test_bits_on_the_bound_are_decided_by_more_bits():
    law = _gaussian(Fraction(4))
    bound = law._bound(1)
    for following, kept in ((b"\x00", True), (b"\xff", False)):
        words = _Words(lambda count, fill=following: fill * count)
        assert law._refine(words, bound, 1) == kept


@pytest.mark.parametrize("variance", [0, Fraction(1, 10**9), 10**30, 0.5, True, "1"])
def test_variances_that_will_not_do_are_refused(variance):
    with pytest.raises(InputError, match="variance"):
        discrete_gaussian(variance, 3)


def test_no_draws_are_none():
    assert discrete_gaussian(1, 0).shape == double_geometric(1, 0).shape == (0,)
