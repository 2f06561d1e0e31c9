from functools import cache

import numpy as np
import pytest
from scipy import stats

from isdp import Invariants
from isdp.subspace import (
    CorrelatedGaussian,
    ExtendedGaussian,
    ExtendedLaplace,
    KNorm,
    ProjectedGaussian,
    ProjectedLaplace,
    Query,
    base_decomposition,
    kronecker_basis,
    min_trace_shape,
)
from isdp.subspace.mechanisms.k_norm import draw_root_polytope_noise
from isdp.subspace.privacy.difference_hull import hit_and_run
from isdp.testing import FALSE_ALARM_RATE, DistributionError, check_distribution, check_mean
from reproduction.subspace.theory.distributed_noise import central_noise

DRAWS = 40_000
TABLE = Query.histogram(12), Invariants.margins((3, 4))
TREE = Query.hierarchy((2, 3)), Invariants.subsets([[0]], 9)
CUBE = Query.histogram(9), Invariants.margins((3, 3))

LAWS = {
    "projected Gaussian": ProjectedGaussian(*TABLE, 1.0, 1e-5),
    "extended Gaussian": ExtendedGaussian(*TABLE, 1.0, 1e-5),
    "projected Laplace": ProjectedLaplace(*TABLE, 1.0),
    "extended Laplace": ExtendedLaplace(*TABLE, 1.0, kronecker_basis((3, 4))),
    "best Gaussian": CorrelatedGaussian(min_trace_shape(*TREE), 1.0, 1e-5),
    "Gaussian of the paper": CorrelatedGaussian(base_decomposition(*TREE), 1.0, 1e-5),
    "K-norm by image": KNorm(*TREE, 1.0),
    "K-norm by hull": KNorm(*CUBE, 1.0),
    "K-norm of added records": KNorm(*TREE, 1.0, relation="add-remove"),
}


def directions(law):
    """Unit vectors in which to look: single answers and random combinations of the free ones."""
    rng = np.random.default_rng(7)
    random = law.null.project(rng.standard_normal((4, law.query.answers)))
    return np.vstack([np.eye(law.query.answers)[:3], random])


@cache
def noise_of(name):
    return LAWS[name].sample(np.random.default_rng(20220222), 20_000)


def check_moments(law, noise):
    """Mean zero and the stated variance in several directions, by check_mean."""
    for way in directions(law):
        variance = way @ law.covariance() @ way
        if variance > 1e-9 * law.error:
            values = noise @ way
            check_mean(values, 0, np.sqrt(variance))
            squares = values**2
            check_mean(squares, variance)


@pytest.mark.parametrize("name", LAWS)
def test_noise_has_mean_zero_and_the_covariance_that_is_stated(name):
    law, noise = LAWS[name], noise_of(name)
    check_moments(law, noise)
    squares = np.square(noise).sum(axis=1)
    check_mean(squares, law.error)


@pytest.mark.parametrize("name", LAWS)
def test_a_twentieth_more_noise_is_noticed(name):
    law = LAWS[name]
    squares = np.square(1.05 * noise_of(name)).sum(axis=1)
    with pytest.raises(DistributionError):
        check_mean(squares, law.error)


def by_quantiles(values, law, bins=50):
    edges = law.ppf(np.linspace(0, 1, bins + 1))
    return check_distribution(np.histogram(values, edges)[0], np.full(bins, 1 / bins))


def test_the_norm_of_k_norm_noise_is_gamma():
    noise = draw_root_polytope_noise(np.random.default_rng(3), 6, 2.0, DRAWS)
    assert np.abs(noise.sum(axis=1)).max() < 1e-12 * np.abs(noise).max()
    size = np.abs(noise).sum(axis=1)
    by_quantiles(size, stats.gamma(5, scale=2.0))
    with pytest.raises(DistributionError):
        by_quantiles(1.04 * size, stats.gamma(5, scale=2.0))


def test_conditioned_laplace_noise_of_three_cells_is_uniform_on_its_hexagon():
    """Six sectors, by the signs of the cells, have equal shares at every radius."""
    noise = draw_root_polytope_noise(np.random.default_rng(8), 3, 1.0, DRAWS)
    sectors = (noise > 0) @ [1, 2, 4]
    counts = np.bincount(sectors, minlength=8)
    assert counts[[0, 7]].tolist() == [0, 0]
    check_distribution(counts[1:7], np.full(6, 1 / 6))
    share = np.sort(np.abs(noise), axis=1)[:, 1] / np.abs(noise).max(axis=1)
    by_quantiles(share, stats.uniform(0.5, 0.5))
    with pytest.raises(DistributionError):
        by_quantiles(0.5 + 0.5 * (2 * share - 1) ** 1.2, stats.uniform(0.5, 0.5))


def test_two_cells_under_a_total_share_laplace_noise():
    law = KNorm(Query.histogram(2), Invariants.total(2), 1.0)
    noise = law.sample(np.random.default_rng(4), DRAWS)[:, 0]
    by_quantiles(noise, stats.laplace(scale=1.0))
    check_mean(np.abs(noise), 1, 1)
    with pytest.raises(DistributionError):
        check_mean(np.abs(noise), 1.05, 1.05)


def test_the_walk_has_the_error_of_the_hull():
    """Student's t on the means of 20 batches, which hardly remember each other."""
    query, held = Query.histogram(6), Invariants.margins((2, 3))
    exact = KNorm(query, held, 1.0).error
    walk = KNorm(query, held, 1.0, method="hit-and-run")
    estimate, error, effective = walk.estimated_error(np.random.default_rng(5), 600)

    def p_value(claimed):
        return 2 * stats.t.sf(abs(estimate - claimed) / error, 19)

    assert p_value(exact) > FALSE_ALARM_RATE
    assert p_value(1.5 * exact) < FALSE_ALARM_RATE
    # what it is made of: in two dimensions 3 x 4 |U|^2, in 20 batches
    points = hit_and_run(np.random.default_rng(5), walk.space, 600)
    values = 12 * np.square(points).sum(axis=1)
    assert estimate == pytest.approx(values.mean(), rel=1e-12)
    assert error == pytest.approx(stats.sem(values.reshape(20, 30).mean(axis=1)), rel=1e-12)
    assert effective == pytest.approx(values.var() / error**2, rel=1e-12)


def test_shared_seeds_give_laplace_noise():
    nothing = Invariants(np.zeros((1, 100), dtype=int))
    noise = np.concatenate([central_noise(f"draw {k}", nothing, 3.0) for k in range(40)])
    by_quantiles(noise, stats.laplace(scale=3.0), bins=20)
    with pytest.raises(DistributionError):
        by_quantiles(1.3 * noise, stats.laplace(scale=3.0), bins=20)
