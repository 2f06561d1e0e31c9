import numpy as np
import pytest
from scipy.optimize import linprog

from isdp.subspace.accuracy import min_variance_approximate, min_variance_pure
from isdp.subspace.privacy.gaussian_calibration import sigma

SLACK = 1e-4  # HiGHS lets each of the constraints be off by 1e-7, which adds up in the tails


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("offset", [0.0, 0.25, 0.5])
def test_no_private_law_on_a_grid_spreads_less(epsilon, offset):
    """The least second moment, by linear programming over all laws on offset + Z."""
    points = np.arange(-60, 61) + offset
    size, grown = len(points), np.exp(epsilon)
    up = np.eye(size)[1:] - grown * np.eye(size)[:-1]
    down = np.eye(size)[:-1] - grown * np.eye(size)[1:]
    found = linprog(
        points**2,
        A_ub=np.vstack([up, down]),
        b_ub=np.zeros(2 * size - 2),
        A_eq=np.ones((1, size)),
        b_eq=[1],
    )
    assert found.fun >= min_variance_pure(epsilon) * (1 - SLACK)
    if offset == 0:
        assert found.fun == pytest.approx(min_variance_pure(epsilon), rel=SLACK)


def test_spreads_in_numbers():
    assert min_variance_approximate(0.192, 1e-5) == pytest.approx(9.0128, abs=5e-5)
    assert min_variance_approximate(1, 1e-5) == pytest.approx(0.306882, abs=5e-7)
    assert 1e-6 * min_variance_pure(1e-3) == pytest.approx(2, rel=1e-6)
    assert sigma(1, 1e-5) ** 2 / min_variance_approximate(1, 1e-5) == pytest.approx(45.4, abs=5e-2)
