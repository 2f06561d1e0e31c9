"""Draws of nested noise against enumeration. Each check has a false-alarm rate of 1e-6."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from isdp import Invariants, draw_noise
from isdp.exact.nested.accuracy import NestedAccuracy
from isdp.mechanisms import NestedGaussian, NestedLaplace, SetTree
<<<<<<< HEAD
from tests.statistical.checks import check_law, check_mean, count_points
=======
from isdp.testing import DistributionError, check_distribution, check_mean, count_points
>>>>>>> main
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
<<<<<<< HEAD
=======
@pytest.mark.parametrize("level", [0, 6, 7])
def test_a_scale_off_by_5_percent_is_noticed(kind, level):
    """Nodes 0, 6 and 7 are a cell, a pair of cells and a set of three cells."""
    tree = SetTree.from_sets([[0, 1, 2, 3, 4], [0, 1], [2, 3, 4], [2, 3]], 5)
    gaussian = kind is NestedGaussian
    scales = [Fraction(2 if gaussian else 1)] * 5 + [Fraction(1), *[Fraction(1, 2 - gaussian)] * 3]
    noise, total = kind(tree, scales), Invariants.total(5)
    draws = draw_noise(noise, total, n_draws=DRAWS_FOR_POWER, rng=np.random.default_rng(3))
    points, pmf = enumerate_noise(noise, total)
    counts = count_points(draws, points)
    check_distribution(counts, np.append(pmf, 0))
    off = list(scales)
    off[level] *= Fraction(21, 20) ** (2 if gaussian else 1)
    weights = np.exp(kind(tree, off).log_weight(points))
    totals = points @ tree.incidence.toarray()[level]
    pmfs = [np.bincount(totals + 200, values) for values in (counts[:-1], weights / weights.sum())]
    with pytest.raises(
        DistributionError
    ):  # in the distribution of this total, which is the sharpest
        check_distribution(*pmfs)


CELL, REGION, STATE = 0.3, 2.0, 4.0  # variances of the tree below


def region_weights(size):
    """The weight of a region of two cells with each total, from the cells and the own term."""
    cells = np.arange(-30, 31)
    totals = np.arange(-size, size + 1)
    pairs = np.exp(-(cells[:, None] ** 2 + (totals - cells[:, None]) ** 2) / (2 * CELL)).sum(axis=0)
    return pairs * np.exp(-(totals**2) / (2 * REGION))


def distributions_of_totals(size=8):
    """Distributions of the totals of one state and a region in each of two states.

    Returns the true distribution, that of the proposals without acceptance, and that of acceptance
    node by node.
    """
    weight = region_weights(3 * size)
    values = np.arange(-size, size + 1)
    width = 1 / (1 / REGION + 1 / (2 * CELL))  # W of a region
    state_width = 1 / (1 / STATE + 1 / (2 * width))
    smooth = np.exp(-(np.arange(-3 * size, 3 * size + 1) ** 2) / (2 * width))

    def given(total, of_total):
        pairs = of_total[values + 3 * size] * of_total[total - values + 3 * size]
        return pairs, pairs.sum()

    true, proposed, by_node = [], [], []
    for state in values.tolist():
        own = math.exp(-(state**2) / STATE)  # both states have this term
        (one, one_sum), (other, other_sum) = given(state, weight), given(-state, weight)
        true.append(own * np.outer(one, other))
        gaussian = math.exp(-(state**2) / state_width)
        (a, a_sum), (b, b_sum) = given(state, smooth), given(-state, smooth)
        proposed.append(gaussian * np.outer(a, b) / (a_sum * b_sum))
        node = given(state, smooth)[1] * math.exp(state**2 / (4 * width))
        by_node.append(gaussian * node**2 * np.outer(one, other) / (one_sum * other_sum))
    return [np.array(found) / np.sum(found) for found in (true, proposed, by_node)]


def test_missing_acceptance_and_acceptance_by_node_are_noticed():
    at = np.indices((2, 2, 2)).reshape(3, -1)
    tree = SetTree.from_columns({"state": at[0], "region": at[1]})
    noise = NestedGaussian(tree, {"state": "4", "region": "2", "cell": "0.3"})
    draws = draw_noise(noise, Invariants.total(8), n_draws=200_000, rng=np.random.default_rng(4))
    first, one, other = (
        draws[:, :4].sum(axis=1),
        draws[:, :2].sum(axis=1),
        draws[:, 4:6].sum(axis=1),
    )
    totals, size = np.stack([first, one, other]), 8
    assert np.abs(totals).max() <= size
    counts = np.zeros((2 * size + 1,) * 3, dtype=np.int64)
    np.add.at(counts, tuple(totals + size), 1)
    true, proposed, by_node = distributions_of_totals(size)
    check_distribution(counts.ravel(), true.ravel())
    for wrong in (proposed, by_node):
        with pytest.raises(DistributionError):
            check_distribution(counts.ravel(), wrong.ravel())


@pytest.mark.parametrize("kind", [NestedGaussian, NestedLaplace])
>>>>>>> main
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
