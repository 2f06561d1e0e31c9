from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from isdp import InputError, Invariants
from reproduction.subspace.theory.conditioned_laplace import conditioned_laplace
from reproduction.subspace.theory.piecewise_exponential import pieces
from tests.statistical.checks import LawRejected, check_law


def test_pieces_against_direct_integration():
    points, weights = np.array([[3.0, -1, 0.5], [0, 0, 0]]), np.array([1.0, -2, 0.25])
    found = pieces(points, weights, 1.5)
    for y, bends, log_masses in zip(points, found.bends, found.log_masses, strict=True):
        edges = [-np.inf, *bends, np.inf]
        for k, mass in enumerate(np.exp(log_masses)):
            expected = quad(
                lambda s, y=y: np.exp(-np.abs(y + s * weights).sum() / 1.5), *edges[k : k + 2]
            )[0]
            assert mass == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_draws_of_a_line_follow_its_law():
    points = np.tile([3.0, -1, 0.5], (20_000, 1))
    weights = np.array([1.0, -2, 0.25])
    drawn = pieces(points, weights, 1.5).sample(np.random.default_rng(1))

    def density(s):
        return np.exp(-np.abs(points[0] + s * weights).sum() / 1.5)

    edges = [-60, *np.arange(-4, 3.1, 0.5), 60]  # the density bends at -3, -2 and -0.5
    masses = np.array([quad(density, *pair, limit=200)[0] for pair in pairwise(edges)])
    counts, _ = np.histogram(drawn, edges)
    check_law(counts, masses / masses.sum())
    with pytest.raises(LawRejected):
        check_law(np.histogram(1.05 * drawn, edges)[0], masses / masses.sum())


def test_invariants_hold_and_fixed_cells_stay():
    held = Invariants([[1, 1, 1, 0], [0, 0, 0, 2]])
    noise = conditioned_laplace(np.random.default_rng(1), held, 3.0, 50, 20)
    assert np.abs(noise[:, :3].sum(axis=1)).max() < 1e-12
    assert np.abs(noise[:, 3]).max() < 1e-12
    assert np.abs(noise[:, :3]).min() > 0
    nothing_free = conditioned_laplace(np.random.default_rng(1), Invariants.total(1), 1.0, 3, 5)
    assert nothing_free.tolist() == [[0]] * 3


def test_wrong_numbers_are_refused():
    for scale, draws, steps in ((0, 1, 1), (1.0, -1, 1), (1.0, 1, 1.5)):
        with pytest.raises(InputError, match="subspace"):
            conditioned_laplace(np.random.default_rng(1), Invariants.total(3), scale, draws, steps)
