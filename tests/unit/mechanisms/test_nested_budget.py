"""The split of a budget over the levels of nested Gaussian noise."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from isdp import InputError, Invariants
from isdp.exact.nested.accuracy import NestedAccuracy
from isdp.mechanisms import NestedGaussian, SetTree
from isdp.mechanisms.nested_budget import (
    nested_frontier,
    split_nested_by_errors,
    split_nested_by_weights,
)


def tree_of(shape):
    """A symmetric tree with the levels a, b, ... and cells, and one node of each level."""
    at = np.indices(shape).reshape(len(shape), -1)
    tree = SetTree.from_columns(dict(zip("abcd", at[:-1], strict=False)))
    return tree, {level: int(np.argmax(tree.level_of == i)) for i, level in enumerate(tree.levels)}


def bounds(tree, nodes, variances):
    """The variance of each level under the total of all cells."""
    accuracy = NestedAccuracy(NestedGaussian(tree, variances), Invariants.total(tree.cells))
    found = accuracy.variance_bounds()
    return {level: found[node] for level, node in nodes.items()}


@pytest.mark.parametrize("shape", [(2, 3), (4, 2, 5), (2, 3, 2, 3)])
@pytest.mark.parametrize("skewed", [False, True])
def test_weights_give_the_numerical_minimum_and_use_the_budget_exactly(shape, skewed):
    tree, nodes = tree_of(shape)
    levels = tree.levels[1:]
    weights = {level: Fraction(1, 1 + 9 * skewed * i) for i, level in enumerate(levels)}
    rho = Fraction("0.83")
    variances = split_nested_by_weights(tree, "root", rho, weights)
    assert sum(1 / variance for variance in variances.values()) == rho
    noise = NestedGaussian(tree, variances)
    assert noise.guarantee_of(Invariants.total(tree.cells)).loss_per_person == rho

    def objective(precisions):
        scales = {level: Fraction(1 / p) for level, p in zip(levels, precisions, strict=True)}
        found = bounds(tree, nodes, scales)
        return sum(float(weights[level]) * found[level] for level in levels)

    def softmax(x):
        return float(rho) * np.exp(x) / np.exp(x).sum()

    start = np.zeros(len(levels))
    best = minimize(lambda x: objective(softmax(x)), start, method="Nelder-Mead", tol=1e-9)
    ours = bounds(tree, nodes, variances)
    value = sum(float(weights[level]) * ours[level] for level in levels)
    assert value == pytest.approx(best.fun, rel=1e-5)


def test_a_level_that_would_get_a_negative_share_has_no_term():
    tree, _ = tree_of((2, 3))
    variances = split_nested_by_weights(tree, "root", 1, {"a": Fraction(1, 1000), "cell": 1})
    assert variances == {"cell": 1}


@pytest.mark.parametrize("shape", [(2, 3), (4, 2, 5), (3, 3, 2, 4)])
def test_errors_are_attained(shape):
    tree, nodes = tree_of(shape)
    errors = dict(zip(tree.levels[1:], ["1", "1.5", "9/4", "5/2"], strict=False))
    found = bounds(tree, nodes, split_nested_by_errors(tree, "root", errors))
    for level, error in errors.items():
        assert found[level] == pytest.approx(float(Fraction(error)) ** 2)


def test_totals_of_a_lower_level_can_be_held():
    tree, _ = tree_of((4, 3, 5))
    variances = split_nested_by_errors(tree, "a", {"b": 2, "cell": 3})
    held = Invariants.partition(np.repeat(np.arange(4), 15).tolist())
    found = NestedAccuracy(NestedGaussian(tree, variances), held).variance_bounds()
    assert found[0] == pytest.approx(9)
    assert found[tree.level_of == 2] == pytest.approx(4)


def test_the_frontier_has_the_errors_of_each_split():
    tree, nodes = tree_of((4, 3, 5))
    shares = [0.01, 0.1, 0.5, 0.9]
    for level in ("a", "b"):
        found = nested_frontier(tree, "root", "0.7", level, shares)
        for share, errors in zip(shares, found, strict=True):
            split = {level: 1 / Fraction(0.7 * share), "cell": 1 / Fraction(0.7 * (1 - share))}
            expected = bounds(tree, nodes, split)
            assert errors**2 == pytest.approx([expected[level], expected["cell"]])
    assert nested_frontier(tree, "a", 1, "b", []).shape == (0, 2)
    for wrong in ([1], [-1e-9], [np.nan], 0.5):
        with pytest.raises(InputError, match="shares"):
            nested_frontier(tree, "root", 1, "a", wrong)
    with pytest.raises(InputError, match="level"):
        nested_frontier(tree, "root", 1, "root", [0.5])


def test_requests_without_a_split_are_refused():
    tree, _ = tree_of((2, 3))
    for errors in (
        {"a": 1},
        {"cell": 0},
        {"cell": -1},
        {"cell": "inf"},
        {"b": 1, "cell": 1},
        {"root": 1, "cell": 1},
        {"a": 9, "cell": 2},
        {"a": 9, "cell": 3},
        {"a": 100, "cell": 1},
    ):
        with pytest.raises(InputError):
            split_nested_by_errors(tree, "root", errors)
    for rho, weights in ((0, {"cell": 1}), (1, {"a": 1}), (1, {"a": 1, "cell": 0})):
        with pytest.raises(InputError):
            split_nested_by_weights(tree, "root", rho, weights)
    with pytest.raises(InputError, match="held"):
        split_nested_by_errors(tree, "state", {"cell": 1})
    single = SetTree.from_columns({"a": [1, 1, 1]})
    with pytest.raises(InputError, match="a"):
        split_nested_by_errors(single, "root", {"a": 1, "cell": 1})
