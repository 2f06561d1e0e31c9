"""Exact privacy of finite mechanisms, and their least errors, by closed forms."""

from fractions import Fraction

import numpy as np
import pytest

from isdp import InputError, Invariants
from isdp.subspace import Query, null_space
from reproduction.subspace.theory.finite_mechanisms import (
    FiniteMechanism,
    FiniteSetting,
    FiniteSpace,
    project_onto_rows,
)
from reproduction.subspace.theory.least_error import least_error, least_errors_of_both

PAIRS = np.array([[0, 1], [1, 0]])


def test_delta_of_randomised_response_is_its_closed_form():
    outputs = np.array([[[0], [1]], [[1], [0]]])
    response = FiniteMechanism(outputs, np.array([[3, 1], [3, 1]]))
    assert response.delta(PAIRS, Fraction(2)) == Fraction(1, 4)
    assert response.delta(PAIRS, Fraction(3)) == 0
    assert response.mean().tolist() == [[1], [3]]


@pytest.mark.parametrize("held", [Invariants.margins((2, 3)), Invariants([[1, 2, 3]])])
def test_the_exact_projection_is_that_of_floating_point(held):
    row, unit = project_onto_rows(held.matrix)
    exact = np.eye(held.cells) - row / unit
    assert exact == pytest.approx(null_space(held).matrix(), abs=1e-12)


def test_neighbours_differ_in_one_record():
    space = FiniteSpace(FiniteSetting("", Query.histogram(2), Invariants.total(2), records=3))
    assert sorted(map(tuple, space.answers)) == [(0, 3), (1, 2), (2, 1), (3, 0)]
    assert len(space.pairs) == 6


def test_the_least_error_of_two_datasets_is_that_of_shrunk_randomised_response():
    # with the ratio 3, the answers 1 and -1 are best released as 1/2 and -1/2
    outputs = np.array([-1, -0.5, 0, 0.5, 1])
    errors = np.square(outputs - np.array([[1], [-1]]))
    every = np.arange(5)
    assert least_error(errors, every, PAIRS, 3.0, 0.0) == pytest.approx(0.75)
    assert least_error(errors, every, PAIRS, 3.0, 1.0) == pytest.approx(0)
    # outputs in one group are not protected from each other
    assert least_error(errors, 0 * every, PAIRS, 3.0, 0.0) == pytest.approx(0)
    errors[0] = np.inf  # a dataset without any output
    with pytest.raises(InputError, match="HiGHS"):
        least_error(errors, every, PAIRS, 3.0, 0.0)


def test_both_least_errors_are_that_of_randomised_response_on_a_coarse_grid():
    space = FiniteSpace(FiniteSetting("", Query.histogram(2), Invariants.total(2), records=1))
    # the other dataset, at a squared distance of 2, is released with probability 1 / 5
    assert least_errors_of_both(space, 4.0, 0.0) == pytest.approx((0.4, 0.4))
