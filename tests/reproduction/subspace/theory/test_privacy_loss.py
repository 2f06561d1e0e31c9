from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from isdp import Invariants
from isdp.subspace import Query, null_space, quotient_sensitivity
from isdp.subspace.mechanisms.k_norm import draw_root_polytope_noise
from isdp.testing import check_mean
from reproduction.subspace.theory.privacy_loss import (
    integrated_profile,
    k_norm_profile,
    log_density,
)

RNG = np.random.default_rng(37)
ROOT_TWO = np.sqrt(2)
ALONG = np.array([1, -1]) / ROOT_TWO


@pytest.mark.parametrize("held", [Invariants.total(4), Invariants([[3, 1, -2, 0]])])
def test_the_density_against_direct_integration(held):
    row = held.matrix[0] / np.linalg.norm(held.matrix[0])
    for point in null_space(held).project(RNG.normal(scale=5, size=(6, 4))):

        def product(r, point=point):
            return np.exp(-np.abs(point + r * row).sum() / 1.5) / 3.0**4

        bends = sorted(-point[row != 0] / row[row != 0])
        edges = [-np.inf, *bends, np.inf]
        expected = sum(quad(product, a, b, epsabs=0, epsrel=1e-11)[0] for a, b in pairwise(edges))
        assert log_density(point, held, 1.5) == pytest.approx(np.log(expected), abs=1e-8)


def test_two_cells_have_a_closed_form_near_and_far():
    x = np.array([0, 0.1, 1, 30, 300, 1e6])
    closed = np.log1p(2 * x) - 2 * x - np.log(2 * ROOT_TWO)
    assert log_density(np.outer(x, [1, -1]), Invariants.total(2), 1.0) == pytest.approx(
        closed, rel=1e-12, abs=1e-12
    )


def test_the_loss_tends_to_the_quotient_norm_and_never_exceeds_it():
    for held, cells in ((Invariants.total(5), 5), (Invariants([[3, 1]]), 2)):
        query = Query.histogram(cells)
        shift = null_space(held).project(np.eye(cells)[0] - np.eye(cells)[1])
        most = quotient_sensitivity(query, held)
        noise = null_space(held).project(RNG.laplace(size=(2000, cells)))
        losses = log_density(noise, held, 1.0) - log_density(noise - shift, held, 1.0)
        assert np.abs(losses).max() <= most + 1e-9
        far = 1e5 * shift
        reached = log_density(far - shift, held, 1.0) - log_density(far, held, 1.0)
        assert reached == pytest.approx(most, rel=1e-4)


def test_points_a_thousand_scales_out_in_102_cells_stay_finite():
    far = np.zeros(102)
    far[:2] = 1000, -1000
    held = Invariants.total(102)
    loss = log_density(far * (1 - 1e-3), held, 1.0) - log_density(far, held, 1.0)
    assert loss == pytest.approx(2, abs=1e-2)
    assert log_density(np.zeros(102), held, 1.0) == pytest.approx(
        np.log(np.sqrt(102) * 2 / 102) - 102 * np.log(2)
    )


def test_the_profile_of_two_cells():
    profile = integrated_profile(
        ALONG,
        ROOT_TWO,
        lambda y: log_density(y, Invariants.total(2), 2.0),
        [0.0, 0.5, 0.9, 0.99],
        2.0,
    )
    assert profile.deltas[:2] == pytest.approx([0.24184, 0.05724], abs=5e-6)
    assert profile.deltas[2:] == pytest.approx([4.80e-6, 4.14e-46], rel=0.005 / 4.14)
    assert profile.divergence == pytest.approx(0.1451, abs=5e-5)


def test_no_loss_reaches_the_whole_epsilon():
    def density(y):
        return log_density(y, Invariants.total(2), 2.0)

    deltas = integrated_profile(ALONG, ROOT_TWO, density, np.linspace(0, 1, 21), 2.0).deltas
    assert (np.diff(deltas) < 0).all()
    assert 0 <= deltas[-1] < 1e-60


@pytest.mark.parametrize("cells", [3, 10])
def test_the_exact_profile_of_k_norm_noise_agrees_with_draws(cells):
    epsilons, shift = np.array([0.0, 0.5, 0.9]), np.eye(cells)[0] - np.eye(cells)[1]
    noise = draw_root_polytope_noise(RNG, cells, 2.0, 100_000)
    loss = (np.abs(noise - shift).sum(axis=1) - np.abs(noise).sum(axis=1)) / 2
    found = k_norm_profile(cells, 2.0, epsilons)
    for epsilon, delta in zip(epsilons, found.deltas, strict=True):
        check_mean(-np.expm1(np.minimum(epsilon - loss, 0)), delta)
    check_mean(loss, found.divergence)


def test_two_cells_of_k_norm_noise_have_a_closed_form():
    epsilons = np.array([0.0, 0.3, 1.0])
    found = k_norm_profile(2, 2.0, epsilons)
    assert found.deltas == pytest.approx(-np.expm1((epsilons - 1) / 2), abs=1e-12)
    assert found.divergence == pytest.approx(np.exp(-1))
