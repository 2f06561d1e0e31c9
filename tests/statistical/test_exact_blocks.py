"""The sampler for totals of blocks draws from the distribution exactly, at every scale.

Compositions of a given sum are checked too.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from isdp import GeneralizedLaplace, Invariants
from isdp.exact import total_distribution
from isdp.exact.bits.geometric import Geometric
from isdp.exact.bits.source import BitSource
from isdp.exact.disjoint.compositions import CompositionSampler, draw_compositions
from isdp.testing import DistributionError, check_distribution, check_mean


def generator(seed=21):
    return np.random.default_rng(seed)


def sample_blocks(rng, invariants, epsilon, draws):
    return CompositionSampler(invariants, GeneralizedLaplace(epsilon)).sample(rng, draws)


def test_counties_follow_the_distribution_of_one_cell_under_one_total():
    cells, epsilon = 102, 0.192
    law = total_distribution(cells, epsilon)
    draws = sample_blocks(generator(), Invariants.total(cells), epsilon, draws=25_000)
    for cell in (0, 50, 100, 101):
        check_distribution(histogram(draws[:, cell], law.support), np.append(law.pmf, 0.0))
    wrong = sample_blocks(generator(), Invariants.total(cells), 1.1 * epsilon, draws=25_000)
    with pytest.raises(DistributionError):
        check_distribution(histogram(wrong[:, 0], law.support), np.append(law.pmf, 0.0))


def histogram(values, support):
    counts = np.bincount(
        np.clip(values, support[0], support[-1]) - support[0], minlength=len(support)
    )
    outside = ((values < support[0]) | (values > support[-1])).sum()
    return np.append(counts, outside)


@pytest.mark.parametrize(("cells", "epsilon"), [(10**5, 1e-3), (10**6, 0.2), (10**5, 3.0)])
def test_many_cells_spread_as_the_distribution_of_one_says(cells, epsilon):
    """Cells are all but independent of one another."""
    law = total_distribution(cells, epsilon)
    noise = sample_blocks(generator(), Invariants.total(cells), epsilon, draws=3)
    fourth = (law.pmf * law.support.astype(float) ** 4).sum()
    squares = noise.ravel().astype(float) ** 2
    check_mean(squares, law.sd**2, math.sqrt(fourth - law.sd**4))
    with pytest.raises(DistributionError):
        check_mean(1.1 * squares, law.sd**2, math.sqrt(fourth - law.sd**4))


@pytest.mark.parametrize(("total", "cells"), [(10**12, 3), (10**9, 50), (5000, 500), (300, 3000)])
def test_a_part_of_a_large_composition_follows_its_distribution(total, cells):
    # P(part >= k) = prod over j < n - 1 of (S - k + n - 1 - j) / (S + n - 1 - j)
    geometric = Geometric(Fraction(math.log1p(cells / total)))
    several = np.full(10_000, total), np.full(10_000, cells)
    out = draw_compositions(BitSource(generator().bytes), *several, geometric).reshape(-1, cells)
    mean = total / cells
    edges = np.unique([0, 1, 2] + [round(mean * -math.log(1 - i / 20)) for i in range(20)])
    j = np.arange(cells - 1)
    left = np.array(
        [np.exp(np.log1p(-edge / (total + cells - 1 - j)).sum()) for edge in edges] + [0.0]
    )
    for part in (0, cells // 2, cells - 2, cells - 1):
        counts = np.bincount(
            np.searchsorted(edges, out[:, part], side="right") - 1, minlength=len(edges)
        )
        check_distribution(counts, -np.diff(left))
    # two parts together
    variance = mean * (mean + 1) * (cells - 1) / (cells + 1)
    pair = out[:, 0] + out[:, -1]
    spread = math.sqrt(2 * variance * (1 - 1 / (cells - 1)))
    check_mean(pair, 2 * mean, spread)
    squares = (pair - 2 * mean) ** 2
    check_mean(squares, spread**2)
