"""Variances of weighted sums, against dense linear algebra, enumeration and closed forms."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from scipy import sparse

from isdp import GeneralizedGaussian, InputError, Invariants
from isdp.exact import sum_variances
from isdp.exact.nested.accuracy import NestedAccuracy
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mechanisms import CrossingGaussian, NestedGaussian, NestedLaplace, SetTree
from tests import crossing_families
from tests.crossing_families import held_totals, quadratic_form, sets_of
from tests.unit.exact.nested.small_trees import (
    FAMILIES,
    covariance_by_the_dual_lattice,
    small_noise,
)


def real_variances(form, invariants, weights):
    """Variances of the real-valued noise with a quadratic form, by dense linear algebra."""
    basis = kernel_lattice(invariants, "smith").basis.astype(float)
    covariance = basis @ np.linalg.inv(basis.T @ form @ basis) @ basis.T
    return np.einsum("ij,jk,ik->i", weights, covariance, weights)


def random_weights(cells):
    """Sums of all cells, of a few cells, with integer weights, and with none."""
    rng = np.random.default_rng(1)
    dense = rng.normal(size=(6, cells))
    few = rng.normal(size=(12, cells)) * (rng.random((12, cells)) < 0.3)
    return np.concatenate([dense, few, rng.integers(-2, 3, (6, cells)), np.zeros((1, cells))])


@pytest.mark.parametrize("name", FAMILIES)
def test_sums_of_nested_noise_have_the_variances_of_dense_linear_algebra(name):
    noise, invariants = small_noise(name)
    rates = np.append([float(rate) for rate in noise.rates], 0)[noise.rate_of]
    sets, weights = noise.tree.incidence.toarray(), random_weights(5)
    expected = real_variances(sets.T @ np.diag(2 * rates) @ sets, invariants, weights)
    assert sum_variances(noise, invariants, weights) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("pairs", [[], [(0, 0)], [(1, 0)], [(0, 1)], [(1, 0), (0, 1)], [(2, 1)]])
@pytest.mark.parametrize("family", crossing_families.FAMILIES)
def test_sums_of_crossing_noise_have_the_variances_of_dense_linear_algebra(family, pairs):
    noise = family()
    invariants, form = held_totals(noise, pairs), quadratic_form(noise).astype(float)
    weights = random_weights(len(form))
    expected = real_variances(form, invariants, weights)
    found = sum_variances(noise, invariants, sparse.coo_array(weights))
    assert found == pytest.approx(expected, abs=1e-12)


def exact_variances(form, invariants, weights):
    """Variances of integer combinations of real-valued noise, computed in fractions."""
    basis = fmpq_mat(kernel_lattice(invariants, "smith").basis.astype(int).tolist())
    q = fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row] for row in form.tolist()])
    inverse = (basis.transpose() * q * basis).inv()
    rows = [fmpq_mat([row]) * basis for row in np.asarray(weights).tolist()]
    found = [(row * inverse * row.transpose())[0, 0] for row in rows]
    return [float(Fraction(int(x.p), int(x.q))) for x in found]


@pytest.mark.parametrize("seed", range(6))
def test_extreme_scales_lose_no_digits(seed):
    rng = np.random.default_rng(seed)
    columns = {"state": list("aaabbbb"), "county": list("xxyzzww")}
    tree = SetTree.from_columns(columns)
    groups = SetTree.from_columns({"group": [0, 0, 1, 1]}, root="total")
    scales = [Fraction(10) ** int(x) for x in rng.integers(-6, 21, tree.nodes)]
    nested = NestedGaussian(tree, scales)
    pairs = itertools.product(tree.levels, groups.levels)
    chosen = dict(zip(pairs, rng.integers(-6, 21, 12).tolist(), strict=True))
    crossing = CrossingGaussian(tree, groups, {p: Fraction(10) ** x for p, x in chosen.items()})
    form = np.full((7, 7), Fraction(0))
    for scale, inside in zip(scales, sets_of(tree), strict=True):
        form[np.ix_(*[np.flatnonzero(inside)] * 2)] += 1 / scale
    products = [np.kron(a, b) for a in sets_of(tree) for b in sets_of(groups)]
    cases = (nested, form, sets_of(tree)), (crossing, quadratic_form(crossing), products)
    for noise, q, sets in cases:
        total = Invariants.total(len(q))
        sums = np.concatenate([sets, rng.integers(-1, 2, (8, len(q)))])
        expected = exact_variances(q, total, sums)
        assert sum_variances(noise, total, sums) == pytest.approx(expected, rel=1e-9, abs=0)


@pytest.mark.parametrize("pairs", [[(0, 0)], [(2, 0)], [(0, 1)], [(2, 0), (0, 1)]])
def test_the_variances_of_the_integer_noise_are_at_most_the_bounds(pairs):
    pair = SetTree.from_columns({"all": [0, 0]}, root="top")
    regions = SetTree.from_columns({"state": [0, 0, 1]}, root="top")
    for factor, tight in ((1, False), (20, True)):
        scales = {("cell", "cell"): "1/2", ("state", "cell"): 1, ("cell", "top"): 2}
        scales = {name: factor * Fraction(variance) for name, variance in scales.items()}
        noise = CrossingGaussian(regions, pair, scales)
        held, form = held_totals(noise, pairs), quadratic_form(noise).astype(float)
        weights = random_weights(len(form))
        exact = np.diag(covariance_by_the_dual_lattice(form, held, weights)[0])
        bounds = sum_variances(noise, held, weights)
        assert (exact <= bounds + 1e-12).all()
        assert np.allclose(exact, bounds, rtol=1e-9) is tight


@pytest.mark.parametrize(("variance", "distance"), [(1, 2e-3), (2, 1e-6)])
def test_a_total_of_crossing_noise_is_almost_a_discrete_gaussian(variance, distance):
    pair = SetTree.from_columns({"all": [0, 0]})
    scales = {("cell", "all"): 2 * variance, ("all", "cell"): 2 * variance}
    noise = CrossingGaussian(pair, pair, scales | {("cell", "cell"): variance})
    values = np.indices((31, 31, 31)).reshape(3, -1).T - 15
    points = np.column_stack([values, -values.sum(axis=1)])
    weights, integers = np.exp(noise.log_weight(points)), np.arange(-45, 46)
    for cells in ([1, 0, 0, 0], [1, 1, 0, 0]):
        (bound,) = sum_variances(noise, Invariants.total(4), cells)
        assert bound == pytest.approx(variance / 2)
        found = np.bincount(points @ cells + 45, weights, 91) / weights.sum()
        gaussian = np.exp(-(integers**2) / (2 * bound))
        assert abs(found - gaussian / gaussian.sum()).sum() / 2 < distance


def test_a_crossing_family_of_one_column_is_nested():
    columns = {"state": list("aabbb"), "county": list("xyyzz")}
    tree = SetTree.from_columns(columns)
    column = SetTree.from_columns({"all": [0]})
    scales = {"state": 3, "county": "1/2", "cell": 2}
    nested = NestedGaussian(tree, scales)
    crossing = CrossingGaussian(
        tree, column, {(level, "cell"): scale for level, scale in scales.items()}
    )
    states, weights = Invariants.partition([0, 0, 1, 1, 1]), random_weights(5)
    expected = sum_variances(nested, states, weights)
    assert sum_variances(crossing, states, weights) == pytest.approx(expected, abs=1e-12)


def test_sums_over_sets_agree_with_the_variances_of_all_sets_of_large_families():
    rng = np.random.default_rng(2)
    county = np.sort(rng.integers(0, 300, 20_000))
    tree = SetTree.from_columns({"state": county // 60, "county": county})
    noise = NestedGaussian(tree, {"state": 4, "county": 9, "cell": 2})
    total = Invariants.total(20_000)
    expected = NestedAccuracy(noise, total).variance_bounds()
    nodes = [0, 5, 20_000, 20_001, *range(20_050, 20_060)]
    found = sum_variances(noise, total, tree.incidence[nodes])
    assert found == pytest.approx(expected[nodes], rel=1e-10)
    assert found[2] == 0

    regions = SetTree.from_columns({"state": rng.integers(0, 9, 200)}, root="nation")
    groups = SetTree.from_columns({"age": np.arange(12) // 6, "sex": np.arange(12) // 3})
    pairs = itertools.product(regions.levels, groups.levels)
    crossing = CrossingGaussian(regions, groups, {p: 2 + k for k, p in enumerate(pairs)})
    held, weights = held_totals(crossing, [(1, 1)]), rng.normal(size=12)
    found = sum_variances(crossing, held, np.kron(sets_of(regions), weights))
    assert found == pytest.approx(crossing.query_variances(weights, held), rel=1e-10)


def test_sums_that_the_invariants_hold_have_no_variance():
    noise = crossing_families.uneven_states()
    held = held_totals(noise, [(1, 1)])  # the groups in each state
    assert not sum_variances(noise, held, 7 * held.matrix).any()
    tree = SetTree.from_columns({"region": np.arange(100_000) // 7})
    flat = NestedGaussian(tree, {"region": "1/3", "cell": 1000})
    assert not sum_variances(flat, Invariants.total(100_000), np.full(100_000, 0.1)).any()


def test_unsuitable_requests_are_refused():
    tree = SetTree.from_columns({"region": [0, 0, 1, 1]})
    noise, total = NestedGaussian(tree, {"region": 1, "cell": 2}), Invariants.total(4)
    unlike = [[1, 2, 3], [[[1, 0, 0, 0]]], [[1, 0, 0, 0], [1]], ["a"] * 4]
    for weights in (*unlike, [1, 0, np.inf, 0], [1, 0, np.nan, 0]):
        with pytest.raises(InputError, match="weights"):
            sum_variances(noise, total, weights)
    for other in (GeneralizedGaussian(1), NestedLaplace(tree, {"cell": 1})):
        with pytest.raises(InputError, match="Gaussian"):
            sum_variances(other, total, [1, 0, 0, 0])
    with pytest.raises(InputError, match="nested"):
        sum_variances(noise, Invariants.subsets([[1, 2]], 4), [1, 0, 0, 0])
    assert sum_variances(noise, total, np.zeros((0, 4))).shape == (0,)
