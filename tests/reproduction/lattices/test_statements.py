"""The checks of the statements of ISDP, by closed forms and well-known numbers of points."""

import numpy as np
import pytest
from scipy import stats

from isdp import GeneralizedLaplace
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from reproduction.jobs.statements import compare, count_failures
from reproduction.lattices.enumerated import (
    GRID,
    SMALL,
    list_points,
    probability,
)
from reproduction.lattices.privacy_statements import (
    check_chain_error,
    check_gaussian_privacy,
    check_laplace_privacy,
    check_smooth_privacy,
    exceeding,
    list_differences,
    release_pair,
)
from reproduction.lattices.statements import (
    check_jumps,
    check_smith_bases,
    check_two_way_margins,
    count_points_in_balls,
)

TWO_BY_TWO = SMALL["2 x 2 margins"]
MOVE = np.array([1, -1, -1, 1])


def test_points_are_those_of_the_square_and_the_hexagonal_lattice():
    assert len(list_points(GRID, 5)) == 81  # Gauss's circle problem
    hexagonal = SMALL["total of 3 cells"]
    assert [len(list_points(hexagonal, r)) for r in (1, 1.5, 2.5, 3)] == [1, 7, 13, 19]
    assert len(list_differences(TWO_BY_TWO, "l1")) == 2
    rows = {row["setting"]: row for row in count_points_in_balls()}
    area = 400 * np.pi / np.sqrt(3)
    assert rows["total of 3 cells, radius 20"]["bound"] == pytest.approx(area)


def test_probabilities_of_a_lattice_of_one_dimension_are_geometric():
    points = list_points(TWO_BY_TWO, 60)
    noise = GeneralizedLaplace(0.25)
    at_zero = probability(noise, points)[len(points) // 2]
    assert at_zero == pytest.approx(np.tanh(0.5))
    _, p, q = release_pair(noise, points, MOVE)
    # the losses are 1 and -1, so that delta is (1 - e^(epsilon - 1)) P(loss = 1)
    assert exceeding(p, q, 0.5) == pytest.approx(-np.expm1(-0.5) / (1 + np.exp(-1)))


def test_delta_of_wide_gaussian_noise_is_that_of_a_normal_variable():
    sigma = 20
    _, p, q = release_pair(GeneralizedGaussian(sigma), list_points(TWO_BY_TWO, 8 * sigma), 3 * MOVE)
    shift, epsilon = 6 / sigma, 0.2
    ends = stats.norm.cdf([shift / 2 - epsilon / shift, -shift / 2 - epsilon / shift])
    assert exceeding(p, q, epsilon) == pytest.approx(ends[0] - np.exp(epsilon) * ends[1], rel=0.02)


def test_rows_have_the_worst_case_and_the_failures():
    row = compare("s", "t", [1, 3, 2], [2, 4, 8])
    assert (row["value"], row["bound"], row["ratio"], row["cases"]) == (3, 4, 0.75, 3)
    failed = count_failures("s", "t", [True, False, False])
    assert (failed["cases"], failed["failures"]) == (3, 2)


def test_the_l2_distance_needs_more_than_the_loss_of_neighbours():
    rows = {(row["statement"][-11:-9], row["setting"][:2]): row for row in check_smooth_privacy()}
    assert rows["l1", "l1"]["ratio"] == pytest.approx(1)
    assert rows["l2", "l1"]["ratio"] == pytest.approx(np.sqrt(2))


def test_the_laplace_bound_is_tight_and_an_energy_that_is_too_large_exceeds_it(monkeypatch):
    assert [row["ratio"] for row in check_laplace_privacy()] == pytest.approx([1] * 20)
    weight = GeneralizedLaplace.log_weight
    monkeypatch.setattr(GeneralizedLaplace, "log_weight", lambda *args: 1.01 * weight(*args))
    assert min(row["ratio"] for row in check_laplace_privacy()) == pytest.approx(1.01)


def test_the_gaussian_constant_is_between_1_and_2_and_a_linear_error_term_fails():
    rows = list(check_gaussian_privacy())
    constants = [row["value"] for row in rows if row["statement"] == "Gaussian constant"]
    assert 1 <= min(constants) < max(constants) <= 2
    assert max(row["ratio"] for row in rows if "linear" in row["statement"]) > 1


def test_equalities_hold_and_the_chain_keeps_its_bound():
    equalities = [check_two_way_margins(), *check_smith_bases(), *check_jumps()]
    assert sum(row["failures"] for row in equalities) == 0
    assert max(row["ratio"] for row in check_chain_error()) <= 1
