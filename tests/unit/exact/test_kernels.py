"""Steps of the samplers by rejection, from uniforms that the test gives."""

import math

import numpy as np
import pytest

from tests.uncompiled import Given, uncompiled

kernels = uncompiled("isdp.exact.kernels")


def theta(s, c):
    """Sum over the integers of exp(-(k - c)^2 / (2 s^2)), term by term."""
    k = np.arange(-60, 61)
    return np.exp(-0.5 * ((k - c) / s) ** 2).sum()


@pytest.mark.parametrize("s", [0.1, 0.3, 0.499, 0.5, 0.8, 2.0, 2.5, 6.0])
def test_the_mass_of_an_integer_gaussian_is_its_sum(s):
    for c in (-3.3, 0.0, 0.25, 0.5, 7.9):
        assert kernels.mass(s, c) == pytest.approx(theta(s, c), rel=1e-12)


def test_each_mass_has_its_logarithm_and_none_minus_infinity():
    logs = kernels.log_each_mass(np.array([0.2, 1.0, 5.0, 1e-3]), 0.5)
    assert logs[:3] == pytest.approx([math.log(theta(s, 0.5)) for s in (0.2, 1.0, 5.0)], rel=1e-12)
    assert logs[3] == -np.inf


@pytest.mark.parametrize("c", [-2.4, 0.0, 0.3, 0.5, 4.8])
@pytest.mark.parametrize("s", [0.2, 0.45])
def test_a_narrow_gaussian_inverts_its_uniform_from_the_nearest_outwards(s, c):
    nearest = math.floor(c + 0.5)
    order = [nearest, *(nearest + sign * k for k in range(1, 6) for sign in (1, -1))]
    weights = np.array([math.exp(-0.5 * ((k - c) / s) ** 2) for k in order])
    ends = np.cumsum(weights) / weights.sum()
    for k, start, end in zip(order, [0, *ends], ends, strict=False):
        if end - start > 1e-9:
            for uniform in (start + 1e-3 * (end - start), end - 1e-3 * (end - start)):
                assert kernels.integer_gaussian(Given([uniform]), c, s) == k


def test_a_uniform_at_an_end_belongs_to_what_comes_next():
    s = 0.25
    total = sum(math.exp(-0.5 * (k / s) ** 2) for k in range(-5, 6))
    at_zero = 1 / total
    assert at_zero * total == 1
    assert kernels.integer_gaussian(Given([at_zero]), 0.0, s) == 1


def test_a_wide_gaussian_takes_a_geometric_step_from_either_neighbour_of_its_centre():
    c, s = 0.25, 2.0
    share_above = 1 / (1 + math.exp((2 * 0.75 - 1) / s))  # of exp(-0.75 / s) against exp(-0.25 / s)

    def draw(side, steps, chance=0.0):
        """A step of n takes a uniform just above 1 - exp(-n / s)."""
        return kernels.integer_gaussian(
            Given([side, -math.expm1(-(steps + 0.5) / s), chance]), c, s
        )

    assert draw(share_above - 1e-9, 0) == 1
    assert draw(share_above - 1e-9, 3) == 4
    assert draw(share_above + 1e-9, 0) == 0
    assert draw(share_above + 1e-9, 2) == -2
    # the value 4 is 3.75 away: kept with chance exp(-(3.75 - 2)^2 / 8), else drawn anew
    kept = math.exp(-((3.75 - s) ** 2) / (2 * s * s))
    again = [0.99, 0.01, 0.0]
    step = [0.0, -math.expm1(-3.5 / s)]
    assert kernels.integer_gaussian(Given([*step, kept - 1e-9]), c, s) == 4
    assert kernels.integer_gaussian(Given([*step, kept + 1e-9, *again]), c, s) == 0


BASIS = np.array([[1, 0], [-1, 1], [0, -1]])
# Gram-Schmidt by hand: b1 = (1, -1, 0), b2 = (0, 1, -1) + b1 / 2 = (1/2, 1/2, -1)
FRAME = kernels.GramSchmidt(BASIS, np.sqrt([2.0, 1.5]), np.array([[0.0, -0.5], [0.0, 0.0]]))


def inverted(k, c, s):
    """A uniform in the middle of what the inversion gives to k."""
    nearest = math.floor(c + 0.5)
    order = [nearest, *(nearest + sign * k for k in range(1, 6) for sign in (1, -1))]
    weights = np.array([math.exp(-0.5 * ((v - c) / s) ** 2) for v in order])
    ends = np.cumsum(weights) / weights.sum()
    at = order.index(k)
    return ends[at] - 0.5 * weights[at] / weights.sum()


def klein(uniforms, sigma=0.5):
    rng, coefficients = Given(uniforms), np.zeros(2)
    accepted = kernels.klein_try(rng, FRAME, sigma, coefficients)
    assert rng.spent
    return accepted, coefficients.tolist()


def test_a_try_draws_the_last_coefficient_first_and_centres_the_others_on_it():
    s1, s2 = 0.5 / FRAME.lengths
    first = [0.0, inverted(1, 0.0, s2)]
    second = [0.0, inverted(0, 0.5, s1)]  # the centre is mu_12 times 1, taken away: +1/2
    assert klein([*first, *second]) == (True, [0.0, 1.0])


def test_a_try_is_given_up_by_the_share_of_the_mass_that_its_centre_has():
    s1, s2 = 0.5 / FRAME.lengths
    share = theta(s1, 0.5) / theta(s1, 0.0)
    assert 0.1 < share < 0.9
    first = [0.0, inverted(1, 0.0, s2)]
    assert klein([*first, share + 1e-9])[0] is False
    assert klein([*first, share - 1e-9, inverted(1, 0.5, s1)]) == (True, [1.0, 1.0])


def test_coefficients_are_combined_in_integers():
    noise = np.full(3, 99)
    kernels.combine(BASIS, np.array([2.0**52, -3.0]), noise)
    assert noise.tolist() == [2**52, -(2**52) - 3, 3]
    kernels.combine(BASIS, np.array([0.0, 1.0]), noise)
    assert noise.tolist() == [0, 1, -1]


def test_a_mixture_draws_its_width_first_and_accepts_it_by_its_mass():
    """Two bins of width 1/10 from 3/10 on; their products are at the right ends."""
    epsilon, left, width = 0.7, np.array([0.3, 0.4]), 0.1
    product = [math.prod(theta((x + width) / g, 0.0) for g in FRAME.lengths) for x in left]
    bins = kernels.Bins(left, width, np.log(product), np.array([0.25, 1.0]))
    sigma = 0.4 + width * 0.75  # the second bin's, from a uniform of 1/4
    mass = math.prod(theta(sigma / g, 0.0) for g in FRAME.lengths)
    chance = mass / product[1] * math.exp(-0.5 * epsilon**2 * (sigma**2 - 0.4**2))
    assert 0.2 < chance < 0.99
    s1, s2 = sigma / FRAME.lengths
    at_zero = [0.0, inverted(0, 0.0, s2), 0.0, inverted(0, 0.0, s1)]
    at_one = [0.0, inverted(1, 0.0, s2), 0.0, inverted(1, 0.5, s1)]
    kept = np.zeros((1, 3), dtype=np.int64)
    given = [0.25, 0.25, chance + 1e-9, 0.25, 0.25, chance - 1e-9]
    assert kernels.draw_mixture(Given([*given, *at_one]), FRAME, epsilon, bins, 9, kept) == 2
    assert kept.tolist() == [[1, 0, -1]]
    assert kernels.draw_mixture(Given([*given, *at_zero]), FRAME, epsilon, bins, 9, kept) == 2
    assert kept.tolist() == [[0, 0, 0]]
    assert kernels.draw_mixture(Given(given[:3]), FRAME, epsilon, bins, 1, kept) == -1
