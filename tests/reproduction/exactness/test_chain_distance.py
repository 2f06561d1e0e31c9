"""How far a chain is from its target, on a lattice small enough to follow in full."""

import numpy as np
import pytest

from isdp import GeneralizedLaplace, Invariants, draw_noise
from isdp.diagnostics.kolmogorov import kolmogorov_bound
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mcmc.metropolis import LatticeWalk
from reproduction.exactness.chain_distance import (
    distance_curve,
    distance_in_full,
    enumerate_target,
    transition_matrix,
)

ACCEPTANCES = pytest.mark.parametrize("acceptance", ["joint", "coordinate"])


def walk(acceptance="joint", cells=3, epsilon=1.0):
    lattice = kernel_lattice(Invariants.total(cells))
    return LatticeWalk(lattice, GeneralizedLaplace(epsilon), 0.3, acceptance)


@ACCEPTANCES
def test_a_sweep_keeps_the_target_and_moves_by_the_rule(acceptance):
    chain = walk(acceptance)
    law = enumerate_target(chain)
    matrix = transition_matrix(chain, law)
    assert matrix.sum(axis=1) == pytest.approx(1)
    assert matrix.min() > -1e-12
    assert np.abs(law.pmf @ matrix - law.pmf).max() < 1e-9
    # from zero by one step along the first vector: p(1), times p(0) along the other in a joint one
    step = 0.3 * 0.7 / 1.3
    goal = np.flatnonzero((law.points == chain.lattice.basis[:, 0]).all(axis=1))[0]
    start = np.flatnonzero((law.points == 0).all(axis=1))[0]
    if acceptance == "joint":
        assert matrix[start, goal] == pytest.approx(step * 0.7 / 1.3 * np.exp(-2))


@ACCEPTANCES
def test_the_distance_in_full_is_that_of_powers_of_the_sweep(acceptance):
    chain = walk(acceptance)
    law = enumerate_target(chain)
    matrix = transition_matrix(chain, law)
    now = (law.points == 0).all(axis=1).astype(float)
    table = distance_in_full(chain, np.array([0, 1, 3, 8]))
    assert table["t"].tolist() == [0, 1, 3, 8]
    for t, distance in zip(table["t"], table["distance"], strict=True):
        after = now @ np.linalg.matrix_power(matrix, t)
        assert distance == pytest.approx(0.5 * np.abs(after - law.pmf).sum())
    assert table["distance"].is_monotonic_decreasing


def test_a_curve_starts_at_zero_noise_and_comes_near():
    chain = walk(cells=4, epsilon=0.5)
    rng = np.random.default_rng(1)
    exact = draw_noise(chain.mechanism, Invariants.total(4), n_draws=4000, rng=rng)
    curve = distance_curve(
        np.random.default_rng(2), chain, exact, chains=400, times=[0, 1, 200]
    ).set_index(["statistic", "t"])
    moved = (exact != 0).any(axis=1).mean()
    assert curve.loc[("norm", 0), "distance"] == pytest.approx(moved)
    # as soon as one chain of 400 has moved; each does so in the first sweep more often than not
    assert curve.loc[("norm", 1), "distance"] < moved
    for statistic, comparisons in (("norm", 1), ("cells", 4)):
        row = curve.loc[(statistic, 200)]
        assert row["error"] == pytest.approx(kolmogorov_bound(400, 4000, comparisons))
        assert row["distance"] < row["error"]


def test_only_a_small_lattice_is_followed_in_full():
    assert enumerate_target(walk(cells=5)) is None  # dimension 4
    assert enumerate_target(walk(epsilon=0.01)) is None
    exact = np.zeros((2, 3), np.int64)
    for chain, full in ((walk(), True), (walk(epsilon=0.01), False)):
        curve = distance_curve(np.random.default_rng(1), chain, exact, chains=2, times=[0])
        assert ("in full" in set(curve["statistic"])) == full
        assert curve.index.tolist() == list(range(len(curve)))
        assert {"norm", "cells"} <= set(curve["statistic"])
