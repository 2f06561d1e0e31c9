"""Crossing noise against enumeration of small products, and against variances of larger ones.

The false-alarm rate of each check is FALSE_ALARM_RATE of `isdp.testing`.
"""

import itertools

import numpy as np
import pytest

from isdp import SYSTEM_RANDOMNESS, Invariants, draw_noise
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mechanisms import CrossingGaussian, SetTree
from isdp.testing import check_distribution, check_mean, count_points
from tests.crossing_families import held_totals, sets_of, uneven_states

DRAWS = 40_000
SCALES = {("cell", "cell"): "4/5", ("cell", "root"): "3/5", ("root", "cell"): "1/2"}
NARROW = {("cell", "cell"): "2/5", ("cell", "root"): "3/5", ("root", "cell"): "1/2"}


def square(scales=SCALES):
    """Two regions of two cells."""
    pair = SetTree.from_columns({"all": [0, 0]})
    return CrossingGaussian(pair, pair, scales)


def narrow():
    """The same with smaller scales, so that 7 percent of the proposals are rejected."""
    return square(NARROW)


def states():
    """States of two regions and of one region, with terms of all pairs of levels."""
    regions = SetTree.from_columns({"state": list("aba")}, root="nation")
    groups = SetTree.from_columns({"all": [0, 0]}, root="total")
    pairs = itertools.product(regions.levels, groups.levels)
    return CrossingGaussian(regions, groups, dict.fromkeys(pairs, "3/2"))


def groups_of_two():
    """One region of 2 x 2 cells."""
    regions = SetTree.from_columns({"all": [0]})
    groups = SetTree.from_columns({"group": [0, 1, 1, 0]})
    return CrossingGaussian(regions, groups, {("all", "group"): "2/3", ("cell", "cell"): "1/2"})


CASES = {
    "2 x 2 under a total": (square, [(0, 0)], 8),
    "2 x 2 with small scales": (narrow, [(0, 0)], 8),
    "2 x 2 without invariants": (square, [], 6),
    "states with totals": (states, [(1, 0)], 8),
    "states with both margins": (states, [(2, 0), (0, 1)], 12),
    "groups under a total": (groups_of_two, [(0, 0)], 8),
    "groups with totals": (groups_of_two, [(0, 1)], 12),
}


def enumerated(mechanism, invariants, reach):
    """Points in a box of coefficients of a basis, and their probabilities."""
    basis = kernel_lattice(invariants, "lll").basis
    grid = np.array(list(itertools.product(range(-reach, reach + 1), repeat=basis.shape[1])))
    points = grid @ basis.T
    weights = np.exp(mechanism.log_weight(points))
    edge = abs(grid).max(axis=1) == reach
    assert weights[edge].sum() < 1e-6 * weights.sum()
    return points, np.append(weights / weights.sum(), 0.0)


@pytest.mark.parametrize("case", CASES)
def test_draws_follow_the_enumerated_distribution(case):
    family, pairs, reach = CASES[case]
    mechanism = family()
    invariants = held_totals(mechanism, pairs)
    points, pmf = enumerated(mechanism, invariants, reach)
    noise = draw_noise(mechanism, invariants, n_draws=DRAWS, rng=np.random.default_rng(11))
    check_distribution(count_points(noise, points), pmf)


@pytest.mark.parametrize("case", CASES)
def test_variances_of_the_integer_noise_are_at_most_those_of_real_noise(case):
    family, pairs, reach = CASES[case]
    mechanism = family()
    invariants = held_totals(mechanism, pairs)
    points, pmf = enumerated(mechanism, invariants, reach)
    rows = points.reshape(-1, mechanism.regions.cells, mechanism.groups.cells)
    for weights in np.random.default_rng(1).normal(size=(5, mechanism.groups.cells)):
        totals = rows @ weights @ sets_of(mechanism.regions).T
        exact = pmf[:-1] @ totals**2
        bounds = mechanism.query_variances(weights, invariants)
        assert (exact <= bounds + 1e-5).all()


def test_noise_for_release_follows_the_enumerated_distribution():
    mechanism, total = square(), Invariants.total(4)
    points, pmf = enumerated(mechanism, total, 8)
    noise = draw_noise(mechanism, total, n_draws=DRAWS, rng=SYSTEM_RANDOMNESS)
    check_distribution(count_points(noise, points), pmf)


def reciprocals(mechanism):
    for region, row in zip(mechanism.regions.levels, mechanism.precisions, strict=True):
        for group, precision in zip(mechanism.groups.levels, row, strict=True):
            yield (region, group), precision


@pytest.mark.parametrize("pairs", [[], [(1, 0)], [(1, 1)], [(2, 0), (0, 1)]])
def test_totals_of_a_larger_product_have_the_variances_of_least_squares(pairs):
    """All variances are above 1, so that those of the integers equal those of real noise."""
    given = uneven_states()
    scales = {pair: 6 / precision for pair, precision in reciprocals(given) if precision}
    mechanism = CrossingGaussian(given.regions, given.groups, scales)
    invariants = held_totals(mechanism, pairs)
    noise = draw_noise(mechanism, invariants, n_draws=6_000, rng=np.random.default_rng(14))
    for weights in ([1, 0, 0, 0], [1, 0, 0, 1], [1, 1, 1, 1], [2, -1, 0, 3]):
        variances = mechanism.query_variances(weights, invariants)
        totals = noise.reshape(-1, 6, 4) @ weights @ sets_of(mechanism.regions).T
        for node, variance in enumerate(variances):
            if variance < 1e-9:
                assert not totals[:, node].any()
            else:
                check_mean(totals[:, node] ** 2.0, variance, np.sqrt(2) * variance)
