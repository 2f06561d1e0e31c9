import numpy as np
import pytest

from isdp import InputError
from isdp.subspace.privacy.gaussian_calibration import (
    certified_delta,
    delta,
    log_delta,
    multiplier,
    paper_constant,
    sigma,
)
from reproduction.subspace.guarantees import log10_failing_delta


@pytest.mark.parametrize(
    ("epsilon", "target"),
    [
        *[(0.192, 1e-5), (1, 1e-5), (0.5, 1e-6), (1, 1e-10), (10, 1e-20), (1e-3, 0.5)],
        *[(50, 1e-300), (1e-12, 1e-20), (1e-60, 1e-100), (1e6, 1e-20), (1e-9, 0.999)],
    ],
)
def test_the_least_sigma_is_certified_and_least(epsilon, target):
    least = sigma(epsilon, target)
    lower, upper = certified_delta(epsilon, least)
    assert lower <= upper <= target
    assert upper == pytest.approx(target, rel=1e-6)
    assert certified_delta(epsilon, least * (1 - 1e-9))[0] > target


def test_sigmas_in_numbers():
    assert sigma(0.192, 1e-5) == pytest.approx(16.92609, abs=5e-6)
    assert sigma(1, 1e-5) == pytest.approx(3.730632, abs=5e-7)


@pytest.mark.parametrize("log10", [-1, -5, -14, -20, -100])
@pytest.mark.parametrize("epsilon", [0.1, 1, 8])
def test_logarithms_keep_their_digits_far_out(epsilon, log10):
    spread = sigma(epsilon, 10.0**log10)
    lower, upper = certified_delta(epsilon, spread)
    assert np.log(lower) - 1e-9 <= log_delta(epsilon, spread) <= np.log(upper) + 1e-9


@pytest.mark.parametrize(
    ("epsilon", "exponent"),
    [(0.1, 13.554219), (0.192, 12.737944), (0.5, 11.415775), (1, 10.267454), (8, 2.7763036)],
)
def test_the_paper_s_constant_fails_below_some_delta(epsilon, exponent):
    log10 = log10_failing_delta(epsilon)
    assert log10 == pytest.approx(-exponent, abs=1e-6)
    for shift, fails in ((-0.01, True), (0.01, False)):
        target = 10 ** (log10 + shift)
        found = certified_delta(epsilon, paper_constant(epsilon, target))
        assert (found[0] > target) == fails
        assert (found[1] > target) == fails


def test_the_paper_s_constant_by_how_much():
    assert delta(1, paper_constant(1, 1e-14)) == pytest.approx(2.299e-13, abs=5e-17)
    assert delta(1, paper_constant(1, 1e-20)) == pytest.approx(4.986e-17, abs=5e-21)
    assert delta(8, paper_constant(8, 1e-20)) == pytest.approx(1.167e-14, abs=5e-18)


@pytest.mark.parametrize(
    ("epsilon", "target", "waste"),
    [
        (0.192, 1e-5, 1.9494),
        (1, 1e-5, 1.4793),
        (0.5, 1e-6, 1.4487),
        (1, 1e-10, 1.0116),
        (0.1, 1e-3, 4.797),
    ],
)
def test_where_the_constant_holds_it_wastes_noise(epsilon, target, waste):
    ratio = multiplier(epsilon, target, "paper") / multiplier(epsilon, target)
    assert ratio**2 == pytest.approx(waste, rel=1e-4)


@pytest.mark.parametrize(
    ("epsilon", "target"),
    [
        *[(0, 0.1), (-1, 0.1), (1, 0), (1, 1), (1, np.nan), (np.inf, 0.1)],
        *[(1e-320, 0.1), (10**400, 0.1)],
    ],
)
def test_numbers_out_of_range_are_refused(epsilon, target):
    with pytest.raises(InputError, match="subspace"):
        sigma(epsilon, target)
    with pytest.raises(InputError, match="subspace"):
        paper_constant(epsilon, target)


def test_a_delta_at_the_end_of_floating_point_is_met():
    least = sigma(1.0, 1e-320)
    assert certified_delta(1.0, least)[1] <= 1e-320
    assert certified_delta(1.0, least * (1 - 1e-5))[0] > 1e-320


def test_an_epsilon_beyond_all_reason_is_refused():
    with pytest.raises(InputError, match="epsilon"):
        sigma(1e15, 1e-20)


def test_an_unknown_constant_is_refused():
    with pytest.raises(InputError, match="constant"):
        multiplier(1.0, 0.1, "theirs")
