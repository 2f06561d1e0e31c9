import numpy as np
import pytest

from isdp import Invariants
from isdp.exact import enumerate_distribution
from isdp.mechanisms import GeneralizedLaplace
from reproduction.subspace.theory.two_way_error import continuous_error, lattice_error


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 3)])
def test_the_error_of_integer_noise_equals_a_sum_over_all_tables(shape):
    known = enumerate_distribution(Invariants.margins(shape), GeneralizedLaplace(2.0))
    expected = known.pmf @ np.square(known.points).sum(axis=1)
    assert lattice_error(shape, 2.0) == pytest.approx(expected, rel=1e-9)
    assert lattice_error(shape[::-1], 2.0) == lattice_error(shape, 2.0)


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_two_by_two_tables_have_a_closed_form(epsilon):
    # the noise is k (1, -1, -1, 1), and 4 |k| is its l1 norm
    assert lattice_error((2, 2), epsilon) == pytest.approx(4 / (np.cosh(4 * epsilon) - 1))


def test_continuous_noise_is_the_limit():
    assert continuous_error((2, 2)) == pytest.approx(0.5, rel=5e-6)
    assert continuous_error((4, 4)) == pytest.approx(8.98964, rel=1e-5)
