"""Gaussian noise of the release, against enumeration, convolution and another sampler."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from isdp import GeneralizedGaussian, Invariants, draw_noise
from isdp.exact.bits.source import BitSource
from isdp.exact.disjoint.recursive_splitting import SplittingSampler
from isdp.exact.overlapping.klein import KleinSampler
from isdp.lattice.null_lattice import kernel_lattice
from isdp.testing import DistributionError, check_distribution, check_mean, count_points
from tests.distributions import gaussian
from tests.exact_noise import exact_noise

DRAWS = 8_000
LATTICES = {
    "2 x 2 table": Invariants.margins((2, 2)),
    "2 x 3 table": Invariants.margins((2, 3)),
    "a sum and an alternating sum": Invariants([[1, 1, 1, 1], [1, -1, 1, 2]]),
    "free cell, entries other than 0 and 1": Invariants([[2, 3, 0], [4, 6, 0]]),
    "three cells": Invariants.total(3),
}


def pseudo(seed=17):
    return BitSource(np.random.default_rng(seed).bytes)


def enumerated(invariants, variance, reach=16):
    """Points of two dimensions, and their probabilities."""
    basis = kernel_lattice(invariants, "lll").basis
    grid = itertools.product(range(-reach, reach + 1), repeat=basis.shape[1])
    points = np.array(list(grid)) @ basis.T
    weights = np.exp(-(points**2).sum(axis=1) / (2 * float(variance)))
    edge = abs(points).max(axis=1) > reach / 2
    assert weights[edge].sum() < 1e-6 * weights.sum()
    return points, weights / weights.sum()


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(1), Fraction(5, 2)])
@pytest.mark.parametrize("name", LATTICES)
def test_klein_follows_the_distribution_on_small_lattices(name, variance):
    invariants = LATTICES[name]
    points, pmf = enumerated(invariants, variance)
    drawn = KleinSampler(invariants, gaussian(variance)).draw(pseudo(), DRAWS)
    check_distribution(count_points(drawn, points), np.append(pmf, 0.0))
    off = KleinSampler(invariants, gaussian(variance * Fraction(6, 5))).draw(pseudo(), DRAWS)
    with pytest.raises(DistributionError):
        check_distribution(count_points(off, points), np.append(pmf, 0.0))


def test_draws_one_at_a_time_follow_the_distribution():
    """Bounds of the acceptance probability decide nearly all splits, its value the others."""
    invariants, variance, bits = Invariants.total(3), Fraction(1, 5), pseudo()
    points, pmf = enumerated(invariants, variance)
    sampler = SplittingSampler(invariants, gaussian(variance))
    drawn = np.vstack([sampler.draw(bits, 1) for _ in range(4_000)])
    check_distribution(count_points(drawn, points), np.append(pmf, 0.0))


def convolved(cells, variance, reach):
    """Law of one cell under one total over `cells`, on -reach to reach."""
    k = np.arange(-reach, reach + 1)
    own = np.exp(-(k**2) / (2 * float(variance)))
    others = np.ones(1)
    for _ in range(cells - 1):
        others = np.convolve(others, own)
    middle = len(others) // 2
    pmf = own * others[middle - reach : middle + reach + 1][::-1]
    return k, pmf / pmf.sum()


@pytest.mark.parametrize("variance", [Fraction(1, 6), Fraction(1), Fraction(9)])
@pytest.mark.parametrize("cells", [2, 3, 6, 11, 64])
def test_a_cell_under_one_total_follows_the_convolution(cells, variance):
    reach = 12 * math.ceil(math.sqrt(variance))
    k, pmf = convolved(cells, variance, reach)
    drawn = SplittingSampler(Invariants.total(cells), gaussian(variance)).draw(pseudo(), DRAWS)
    for cell in {0, cells // 2, cells - 1}:
        counts = np.bincount(drawn[:, cell] + reach, minlength=len(k))
        check_distribution(counts, pmf)
    pair = drawn[:, 0] * drawn[:, -1]  # negative on average, as the total holds them together
    mean = -(pmf * k**2).sum() / (cells - 1)
    check_mean(pair, mean, math.sqrt((pair.astype(float) ** 2).mean()))


def test_a_table_of_use_has_the_variance_of_the_normal_distribution():
    """For sigma of 3 the lattice is fine: each cell of a 5 x 6 table has sigma^2 times 20/30."""
    invariants = Invariants.margins((5, 6))
    drawn = exact_noise(
        GeneralizedGaussian(rho="1/18"), invariants, 3_000, source=np.random.default_rng(3).bytes
    )
    wanted = 9 * 20 / 30
    for cell in (0, 13, 29):
        check_mean(drawn[:, cell] ** 2.0, wanted, math.sqrt(2) * wanted)
    norms = (drawn**2.0).sum(axis=1)
    floating = draw_noise(
        GeneralizedGaussian(3.0), invariants, n_draws=3_000, rng=np.random.default_rng(4)
    )
    sd = math.sqrt(2 * 20) * 9
    check_mean(norms, 9 * 20, sd)
    check_mean((floating**2.0).sum(axis=1), 9 * 20, sd)
    off = exact_noise(
        GeneralizedGaussian(rho="1/20"), invariants, 3_000, source=np.random.default_rng(3).bytes
    )
    with pytest.raises(DistributionError):
        check_mean((off**2.0).sum(axis=1), 9 * 20, sd)
