"""Totals by kind at all levels at once: against dense algebra, enumeration and another solver."""

import itertools

import numpy as np
import piqp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array

from isdp import InputError
from isdp.constraints.presence import Presence
from isdp.topdown.presence_estimate import RegionTree, estimate_all_levels


def random_tree(rng, leaves):
    """A root, some regions and their leaves."""
    middle = np.sort(rng.integers(0, 3, leaves))
    middle = np.unique(middle, return_inverse=True)[1]
    parents = [np.zeros(middle.max() + 1, dtype=np.int64), middle]
    return RegionTree(parents, rng.uniform(0.1, 3, 3))


def sums_matrix(tree, leaves):
    """One row a region of any level, one column a leaf, and each row's weight."""
    levels = tree.sums(np.eye(leaves))
    weights = np.repeat(tree.weights, [len(level) for level in levels])
    return np.vstack(levels), weights


def random_presence(rng, leaves, kinds, most):
    present = rng.random((leaves, kinds)) < 0.6
    present[np.arange(leaves), rng.integers(0, kinds, leaves)] = True
    return Presence(present.sum(axis=1) + rng.integers(0, most, leaves), present)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9))
def test_least_squares_over_the_levels_is_that_of_the_dense_matrix(seed, leaves):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, leaves)
    rows, weights = sums_matrix(tree, leaves)
    right = rng.normal(size=(leaves, 2))
    dense = rows.T @ (weights[:, None] * rows) + 0.7 * np.eye(leaves)
    np.testing.assert_allclose(tree.solve(right, 0.7), np.linalg.solve(dense, right), atol=1e-10)
    measured = [rng.normal(size=(len(level), 2)) for level in tree.sums(right)]
    wanted = rows.T @ (weights[:, None] * np.vstack(measured))
    np.testing.assert_allclose(tree.weighted_measurements(measured), wanted, atol=1e-10)


def by_oracle(tree, measured, presence):
    """The same programme as one dense one."""
    leaves, kinds = presence.present.shape
    rows, weights = sums_matrix(tree, leaves)
    quadratic = np.kron(rows.T @ (weights[:, None] * rows), np.eye(kinds))
    pull = (rows.T @ (weights[:, None] * np.vstack(measured))).ravel()
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-10
    upper = np.where(presence.present, presence.totals[:, None].astype(float), 0.0)
    solver.setup(
        csc_array(quadratic),
        -pull,
        csc_array(np.kron(np.eye(leaves), np.ones((1, kinds)))),
        presence.totals.astype(float),
        x_l=presence.minimums.astype(float).ravel(),
        x_u=upper.ravel() + 1e-9,
    )
    assert solver.solve() == piqp.PIQP_SOLVED
    return solver.result.x.reshape(leaves, kinds)


def cost(tree, whole, real):
    return sum(np.abs(w - r).sum() for w, r in zip(tree.sums(whole), tree.sums(real), strict=True))


@pytest.mark.parametrize("seed", range(8))
def test_no_other_rounding_of_the_best_point_is_nearer_at_all_levels(seed):
    rng = np.random.default_rng(seed)
    tree, presence = RegionTree([[0, 0], [0, 0, 1]], [0.5, 1, 2]), random_presence(rng, 3, 3, 12)
    measured = [
        level + rng.normal(0, 4, (len(level), 3)) for level in tree.sums(np.full((3, 3), 4))
    ]
    real = by_oracle(tree, measured, presence)
    found = estimate_all_levels(rng, measured, tree, presence)
    assert (found.sum(axis=1) == presence.totals).all()
    assert (found >= presence.minimums).all()
    assert not found[~presence.present].any()
    floor = np.floor(real + 1e-4).astype(int)
    ups = (np.reshape(up, (3, 3)) for up in itertools.product((0, 1), repeat=9))
    best = min(
        cost(tree, floor + up, real)
        for up in ups
        if (up[~presence.present] == 0).all()
        and ((floor + up).sum(axis=1) == presence.totals).all()
        and all(
            np.abs(w - r).max() < 1 + 1e-4
            for w, r in zip(tree.sums(floor + up), tree.sums(real), strict=True)
        )
    )
    assert cost(tree, found, real) == pytest.approx(best, abs=1e-3)


def test_regions_of_nobody_and_large_counts():
    tree = RegionTree([[0, 0, 0]], [1, 1])
    presence = Presence(np.array([0, 10**9, 5]), np.array([[0, 0], [1, 1], [1, 0]], dtype=bool))
    measured = [
        np.array([[6 * 10**8, 4 * 10**8]]),
        np.array([[3, -3], [6 * 10**8, 4 * 10**8], [1, 1]]),
    ]
    found = estimate_all_levels(np.random.default_rng(0), measured, tree, presence)
    assert found.sum(axis=1).tolist() == [0, 10**9, 5]
    assert found[2].tolist() == [5, 0]
    assert abs(found[1, 0] - 6 * 10**8) < 10


def test_what_does_not_fit_is_refused():
    presence = Presence(np.array([3]), np.array([[True, True]]))
    with pytest.raises(InputError, match="regions"):
        estimate_all_levels(None, [np.zeros((1, 3))], RegionTree([], [1]), presence)
    with pytest.raises(InputError, match="weight"):
        RegionTree([[0, 0]], [1])
    with pytest.raises(InputError, match="weight"):
        RegionTree([[0, 0]], [1, 0])
