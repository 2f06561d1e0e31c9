"""Draws of nested noise against enumeration. Each check has a false-alarm rate of 1e-6."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from isdp import Invariants, draw_noise
from isdp.exact.nested.accuracy import NestedAccuracy
from isdp.mechanisms import NestedGaussian, NestedLaplace, SetTree
from isdp.testing import check_distribution, check_mean, count_points
from tests.unit.exact.nested.small_trees import (
    FAMILIES,
    enumerate_noise,
    scales_of,
    small_noise,
)

DRAWS = 40_000


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("kind", [NestedGaussian, NestedLaplace])
def test_draws_have_the_enumerated_distribution(name, kind):
    noise, invariants = small_noise(name, kind)
    draws = draw_noise(noise, invariants, n_draws=DRAWS, rng=np.random.default_rng(1))
    points, pmf = enumerate_noise(noise, invariants)
    check_distribution(count_points(draws, points), np.append(pmf, 0))


@pytest.mark.parametrize("name", ["root held", "inner set held"])
def test_narrow_gaussian_draws_have_the_enumerated_distribution(name):
    wide, invariants = small_noise(name)
    scales = scales_of(wide.tree.nodes, NestedGaussian)
    scales = [None if scale is None else Fraction(scale) / 4 for scale in scales]
    noise = NestedGaussian(wide.tree, scales)
    draws = draw_noise(noise, invariants, n_draws=DRAWS, rng=np.random.default_rng(2))
    points, pmf = enumerate_noise(noise, invariants)
    check_distribution(count_points(draws, points), np.append(pmf, 0))


@pytest.mark.parametrize("kind", [NestedGaussian, NestedLaplace])
def test_variances_in_a_larger_uneven_tree(kind):
    rng = np.random.default_rng(5)
    county = np.sort(rng.integers(0, 40, 300))
    tree = SetTree.from_columns({"state": county // 12, "county": county})
    scales = rng.integers(1, 4, tree.nodes) * (2 if kind is NestedGaussian else Fraction(1, 4))
    scales[: tree.cells] = Fraction(1, 2) if kind is NestedLaplace else 1  # blocks of cells
    noise = kind(tree, list(scales))
    total = Invariants.total(300)
    draws = draw_noise(noise, total, n_draws=4000, rng=rng)
    accuracy, totals = NestedAccuracy(noise, total), tree.totals(draws)
    for node in (0, 150, *range(301, tree.nodes, 5)):
        check_mean(totals[:, node].astype(float) ** 2, accuracy.variance(node))
    for first, second in itertools.combinations((301, 302, 310, 2), 2):
        product = totals[:, first].astype(float) * totals[:, second]
        check_mean(product, accuracy.covariance(first, second))
