import math

import numpy as np
import pytest
from scipy import integrate

from isdp import InputError
from isdp.accounting.exact_composition import delta_geometric, delta_laplace, scale_laplace


def geometric_by_enumeration(epsilon, scale, count, reach=60):
    """Sum of max(0, P - e^epsilon Q) over all outcomes of a shifted and an unshifted vector."""
    a = math.exp(-1 / scale)
    k = np.arange(-reach, reach + 1)
    law = (1 - a) / (1 + a) * a ** np.abs(k)
    shifted = (1 - a) / (1 + a) * a ** np.abs(k - 1.0)
    p = q = np.ones(1)
    for _ in range(count):
        p, q = np.multiply.outer(p, law).ravel(), np.multiply.outer(q, shifted).ravel()
    return np.maximum(0, p - math.exp(epsilon) * q).sum()


@pytest.mark.parametrize(("epsilon", "scale", "count"), [(0, 2, 1), (0.7, 1.5, 2), (1.2, 2, 3)])
def test_the_geometric_law_agrees_with_a_sum_over_all_outcomes(epsilon, scale, count):
    wanted = geometric_by_enumeration(epsilon, scale, count, 60 if count < 3 else 30)
    assert delta_geometric(epsilon, scale, count) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize(("epsilon", "scale"), [(0, 1.0), (0.3, 1.5), (0.9, 0.5)])
def test_one_laplace_measurement_agrees_with_an_integral(epsilon, scale):
    def excess(x):
        p, q = (math.exp(-abs(x - mean) / scale) / (2 * scale) for mean in (0, 1))
        return max(0.0, p - math.exp(epsilon) * q)

    pieces = [(-60 * scale, 0), (0, 1), (1, 1 + 60 * scale)]
    wanted = sum(integrate.quad(excess, *piece, epsabs=1e-12, limit=200)[0] for piece in pieces)
    assert delta_laplace(epsilon, scale, 1) == pytest.approx(wanted, rel=1e-6)


def test_two_laplace_measurements_agree_with_a_sum_over_a_fine_grid():
    epsilon, scale, step = 1.1, 1.25, 0.005
    x = np.arange(-40 * scale, 40 * scale, step) + step / 2
    p = np.exp(-np.abs(x) / scale) / (2 * scale) * step
    q = np.exp(-np.abs(x - 1) / scale) / (2 * scale) * step
    # p / q falls, so that what is counted is all below a point, which the other measurement moves
    below = np.searchsorted(-p / q, -math.exp(epsilon) * q / p)
    first, second = (np.concatenate([[0], np.cumsum(law)])[below] for law in (p, q))
    wanted = (p * first - math.exp(epsilon) * q * second).sum()
    assert delta_laplace(epsilon, scale, 2) == pytest.approx(wanted, rel=1e-4)


@pytest.mark.parametrize("law", [delta_laplace, delta_geometric])
@pytest.mark.parametrize("count", [1, 2, 12, 60])
def test_at_the_pure_epsilon_nothing_is_left_and_just_below_little(law, count):
    scale = 3.0
    assert law(count / scale * (1 + 1e-12), scale, count) == pytest.approx(0, abs=1e-14)
    below = law(count / scale * (1 - 1e-3), scale, count)
    assert 0 < below < 1e-3 * count


def test_composed_laplace_noise_spares_little_at_a_small_delta():
    pure = 12 / 1.0
    for delta in (1e-14, 1e-9, 1e-6, 1e-3):
        scale = scale_laplace(1.0, delta, 12)
        assert scale < pure
        assert delta_laplace(1.0, scale, 12) <= delta
        assert delta_laplace(1.0, scale * (1 - 1e-6), 12) > delta
    spared = 1 - (scale_laplace(1.0, 1e-6, 12) / pure) ** 2  # of a variance of 288
    assert 0 < spared < 0.01


@pytest.mark.parametrize(
    "call",
    [
        lambda: delta_laplace(-1, 1, 1),
        lambda: delta_laplace(1, 0, 1),
        lambda: delta_laplace(1, 1, 0),
        lambda: delta_geometric(1, 1, 1.5),
        lambda: delta_geometric(1, 1, 61),
        lambda: scale_laplace(1, 0, 12),
        lambda: scale_laplace(0, 0.1, 12),
    ],
)
def test_numbers_out_of_range_are_refused(call):
    with pytest.raises(InputError):
        call()
