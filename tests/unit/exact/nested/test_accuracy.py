"""Variances of nested noise: exact ones against enumeration, and bounds in closed form."""

from fractions import Fraction

import numpy as np
import pytest

from isdp import InputError, Invariants
from isdp.exact import sum_variances
from isdp.exact.distributions import Part, sum_distribution
from isdp.exact.nested.accuracy import NestedAccuracy
from isdp.mechanisms import GeneralizedGaussian, NestedGaussian, NestedLaplace, SetTree
from isdp.mechanisms.base import Energy
from tests.unit.exact.nested.small_trees import (
    FAMILIES,
    covariance_by_the_dual_lattice,
    enumerate_noise,
    scales_of,
    small_noise,
)


def symmetric(kind, shape, scales):
    """Accuracy of a symmetric tree under its total, and one node of each level, top first."""
    at = np.indices(shape).reshape(len(shape), -1)
    levels = [f"level {k}" for k in range(len(shape) - 1)]
    tree = SetTree.from_columns(dict(zip(levels, at, strict=False)))
    noise = kind(tree, dict(zip([*levels, "cell"], scales, strict=True)))
    nodes = [int(np.argmax(tree.level_of == level)) for level in range(1, len(shape) + 1)]
    return NestedAccuracy(noise, Invariants.total(tree.cells)), nodes


TABLE = [
    (NestedGaussian, (2, 3), (1, 4), (0.4596802, 2.7177422)),
    (NestedGaussian, (2, 3, 4), (1, 1, 1), (0.3435755, 0.5710507, 0.7856797)),
    (NestedLaplace, (2, 3), (0.5, 0.25), (1.5575710, 13.5102660)),
    (NestedLaplace, (2, 3, 4), (0.4, 0.3, 0.2), (2.0746165, 7.8326666, 27.0896803)),
    (NestedLaplace, (2, 3), (None, 0.25), (37.4051294, 20.7806275)),
]


@pytest.mark.parametrize(("kind", "shape", "scales", "expected"), TABLE)
def test_exact_variances_of_symmetric_trees(kind, shape, scales, expected):
    levels = {level: scale for level, scale in enumerate(scales) if scale is not None}
    if len(levels) < len(scales):
        tree = SetTree.from_columns({"region": np.repeat([0, 1], 3)})
        accuracy = NestedAccuracy(kind(tree, {"cell": scales[1]}), Invariants.total(6))
        nodes = [7, 0]
    else:
        accuracy, nodes = symmetric(kind, shape, scales)
    assert [accuracy.variance(node) for node in nodes] == pytest.approx(expected, abs=6e-8)


@pytest.mark.parametrize("shape", [(2, 3), (3, 1, 4), (2, 3, 2, 5)])
def test_bounds_have_the_closed_form_of_symmetric_trees(shape):
    variances = [0.5, 3, 2, 4][: len(shape)]
    accuracy, nodes = symmetric(NestedGaussian, shape, variances)
    n = np.append(np.cumprod(shape[::-1])[::-1], 1).astype(float)  # leaves below each level
    p = 1 / np.array(variances)
    mu = np.cumsum((n[1:] * p)[::-1])[::-1]
    terms = (1 / n[1:] - 1 / n[:-1]) / mu
    expected = [n[k] ** 2 * terms[:k].sum() for k in range(1, len(n))]
    assert accuracy.variance_bounds()[nodes] == pytest.approx(expected)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("kind", [NestedGaussian, NestedLaplace])
def test_covariances_agree_with_enumeration(name, kind):
    noise, invariants = small_noise(name, kind)
    points, pmf = enumerate_noise(noise, invariants)
    totals = noise.tree.totals(points).astype(float)
    expected = totals.T @ (pmf[:, None] * totals)
    accuracy, nodes = NestedAccuracy(noise, invariants), range(noise.tree.nodes)
    exact = np.array([[accuracy.covariance(i, j) for i in nodes] for j in nodes])
    assert exact == pytest.approx(expected, abs=1e-8)
    assert [accuracy.variance(i) for i in nodes] == pytest.approx(np.diag(expected), abs=1e-8)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("factor", [1, "1/3"])
def test_covariances_agree_with_the_sum_over_the_dual_lattice(name, factor):
    wide, invariants = small_noise(name)
    scales = scales_of(wide.tree.nodes, NestedGaussian)
    noise = NestedGaussian(
        wide.tree, [s if s is None else Fraction(s) * Fraction(factor) for s in scales]
    )
    rates = np.append([float(rate) for rate in noise.rates], 0)[noise.rate_of]
    sets, nodes = noise.tree.incidence.toarray(), range(noise.tree.nodes)
    form = sets.T @ np.diag(2 * rates) @ sets
    expected, real = covariance_by_the_dual_lattice(form, invariants, sets)
    accuracy = NestedAccuracy(noise, invariants)
    exact = np.array([[accuracy.covariance(i, j) for i in nodes] for j in nodes])
    assert exact == pytest.approx(expected, abs=1e-9)
    assert (real - expected).max() > 1e-5  # so that the correction is noticed


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("kind", [NestedGaussian, NestedLaplace])
def test_distributions_of_totals_agree_with_enumeration(name, kind):
    noise, invariants = small_noise(name, kind)
    points, pmf = enumerate_noise(noise, invariants)
    totals, accuracy = noise.tree.totals(points), NestedAccuracy(noise, invariants)
    for node in range(noise.tree.nodes):
        found = accuracy.distribution(node)
        width = max(len(found.pmf) // 2, abs(totals[:, node]).max())
        expected = np.bincount(totals[:, node] + width, pmf, 2 * width + 1)
        missing = (len(expected) - len(found.pmf)) // 2
        assert np.pad(found.pmf, missing) == pytest.approx(expected, abs=1e-11)
        assert found.sd**2 == pytest.approx(accuracy.variance(node), abs=1e-9)


def test_distributions_of_large_trees():
    """With terms of the cells alone, a set of cells is a part of one block."""
    cells, chosen = 20_000, 50
    tree = SetTree.from_columns({"region": np.arange(cells) // chosen})
    noise, total = NestedLaplace(tree, {"cell": "1/20"}), Invariants.total(cells)
    accuracy, root = NestedAccuracy(noise, total), cells
    for node, part in ((root + 1, chosen), (0, 1)):
        found = accuracy.distribution(node)
        expected = sum_distribution(Energy(1, False, 0.05), [Part(cells, part)])
        assert found.sd == pytest.approx(expected.sd, rel=1e-9)
        for size in (0, 10, 100, 400):
            assert found.beyond(size) == pytest.approx(expected.beyond(size), abs=1e-10)
    assert accuracy.distribution(root).pmf.tolist() == [1]
    with pytest.raises(InputError, match="grid"):
        NestedAccuracy(NestedLaplace(tree, {"cell": 1e-8}), total).distribution(0)
    with pytest.raises(InputError, match="node"):
        accuracy.distribution(-1)


@pytest.mark.parametrize("name", FAMILIES)
def test_bounds_are_the_conditioned_real_gaussian_and_exceed_the_covariances(name):
    noise, invariants = small_noise(name)
    rates = np.append([float(rate) for rate in noise.rates], 0)[noise.rate_of]
    sets = noise.tree.incidence.toarray()
    basis = np.linalg.svd(invariants.matrix.astype(float))[2][
        np.linalg.matrix_rank(invariants.matrix) :
    ]
    precision = basis @ sets.T @ np.diag(2 * rates) @ sets @ basis.T
    expected = sets @ basis.T @ np.linalg.inv(precision) @ basis @ sets.T
    accuracy, nodes = NestedAccuracy(noise, invariants), range(noise.tree.nodes)
    pairs = np.stack([sets[:, None] + sets, sets[:, None] - sets]).reshape(-1, sets.shape[1])
    plus, minus = sum_variances(noise, invariants, pairs).reshape(2, len(sets), len(sets))
    bound = (plus - minus) / 4
    exact = np.array([[accuracy.covariance(i, j) for i in nodes] for j in nodes])
    assert bound == pytest.approx(expected, abs=1e-10)
    assert accuracy.variance_bounds() == pytest.approx(np.diag(expected), abs=1e-10)
    assert np.linalg.eigvalsh(bound - exact).min() > -1e-9


def test_large_uneven_trees_take_no_enumeration():
    rng = np.random.default_rng(1)
    county = np.sort(rng.integers(0, 300, 20_000))
    tree = SetTree.from_columns({"state": county // 60, "county": county})
    noise = NestedGaussian(tree, {"state": 4, "county": 9, "cell": 2})
    accuracy = NestedAccuracy(noise, Invariants.total(20_000))
    bounds = accuracy.variance_bounds()
    for node in (0, 19_999, 20_001, 20_007, 20_300):
        assert accuracy.variance(node) == pytest.approx(bounds[node], rel=1e-6)
    assert bounds[20_000] == accuracy.variance(20_000) == 0


def test_too_many_different_sets_are_refused():
    tree = SetTree.from_columns({"block": np.arange(60_000) // 2})
    noise = NestedGaussian(tree, [Fraction(10**6 + i, 10**6) for i in range(tree.nodes)])
    accuracy = NestedAccuracy(noise, Invariants.total(60_000))
    with pytest.raises(InputError, match="scales"):
        accuracy.variance(0)
    assert accuracy.variance_bounds()[0] == pytest.approx(2 / 3, abs=0.01)


def test_requests_without_an_answer_are_refused():
    tree = SetTree.from_columns({"region": [0, 0, 1, 1, 2]})
    total = Invariants.total(5)
    with pytest.raises(InputError, match="cell"):  # the energy is indefinite
        NestedAccuracy(NestedGaussian(tree, {"region": 1}), total)
    alone = NestedGaussian(tree, [1, 1, 1, 1, None, None, 2, 2, 3])
    assert NestedAccuracy(alone, total).variance(4) > 0  # its set has a term
    noise = NestedLaplace(tree, {"region": 1, "cell": 1})
    with pytest.raises(InputError, match="Gaussian"):
        NestedAccuracy(noise, total).variance_bounds()
    with pytest.raises(InputError, match="nested"):
        NestedAccuracy(noise, Invariants.subsets([[1, 2]], 5))
    with pytest.raises(InputError, match="nested"):
        NestedAccuracy(noise, Invariants([[1, 2, 0, 0, 0]]))
    with pytest.raises(InputError, match="cells"):
        NestedAccuracy(noise, Invariants.total(4))
    with pytest.raises(InputError, match="node"):
        NestedAccuracy(noise, total).variance(9)
    with pytest.raises(InputError, match="terms"):
        NestedAccuracy(GeneralizedGaussian(1), total)
    with pytest.raises(InputError, match="grid"):
        NestedAccuracy(NestedLaplace(tree, {"cell": 1e-8}), total).variance(0)
