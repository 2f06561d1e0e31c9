"""The split of a budget over the levels of nested Laplace noise, against exact variances."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from isdp import InputError, Invariants
from isdp.exact.nested.accuracy import NestedAccuracy
from isdp.mechanisms import NestedLaplace, SetTree
from isdp.mechanisms.laplace_budget import (
    laplace_frontier,
    split_laplace_by_errors,
    split_laplace_by_weights,
)


def tree_of(shape):
    """A symmetric tree with the levels a, b, ... and cells."""
    at = np.indices(shape).reshape(len(shape), -1)
    return SetTree.from_columns(dict(zip("abc", at[:-1], strict=False)))


def errors_of(tree, epsilons):
    """The exact root mean square error of each level below the root, under the total."""
    accuracy = NestedAccuracy(NestedLaplace(tree, epsilons), Invariants.total(tree.cells))
    nodes = [int(np.argmax(tree.level_of == level)) for level in range(1, len(tree.levels))]
    return np.sqrt([accuracy.variance(node) for node in nodes])


@pytest.mark.parametrize(
    ("shape", "epsilon"), [((2, 3), "3/2"), ((2, 3), 20), ((7, 40), "1/10"), ((3, 2000), 1)]
)
def test_the_frontier_has_the_exact_errors_of_each_split(shape, epsilon):
    tree, shares = tree_of(shape), [0, 0.05, 0.5, 0.9]
    found = laplace_frontier(tree, "root", epsilon, "a", shares)
    for share, errors in zip(shares, found, strict=True):
        half = Fraction(epsilon) / 2
        epsilons = {"cell": half * (1 - Fraction(share))}
        if share:
            epsilons["a"] = half * Fraction(share)
        assert errors == pytest.approx(errors_of(tree, epsilons), rel=1e-4)


@pytest.mark.parametrize("weights", [(1, 1), (100, 1), (1, 100)])
@pytest.mark.parametrize("shape", [(2, 3), (6, 50)])
def test_weights_give_the_minimum_for_two_levels(shape, weights):
    tree = tree_of(shape)
    given = dict(zip(("a", "cell"), weights, strict=True))
    found = split_laplace_by_weights(tree, "root", 2, given)
    noise = NestedLaplace(tree, found)
    assert noise.guarantee_of(Invariants.total(tree.cells)).loss_per_person == 2

    def objective(share):
        return weights @ errors_of(tree, {"a": share, "cell": 1 - share}) ** 2

    best = minimize_scalar(objective, bounds=(1e-6, 0.999), method="bounded")
    assert weights @ errors_of(tree, found) ** 2 <= best.fun * (1 + 1e-4)


def test_weights_give_the_minimum_for_three_levels():
    tree, weights = tree_of((3, 4, 10)), np.array([1, 2, 3])
    levels = tree.levels[1:]
    given = dict(zip(levels, weights.tolist(), strict=True))
    found = split_laplace_by_weights(tree, "root", "3/2", given)
    assert 2 * sum(found.values()) == Fraction(3, 2)

    def objective(x):
        shares = 0.75 * np.exp(x) / np.exp(x).sum()
        return weights @ errors_of(tree, dict(zip(levels, shares.tolist(), strict=True))) ** 2

    best = minimize(objective, np.zeros(3), method="Nelder-Mead", tol=1e-5)
    assert weights @ errors_of(tree, found) ** 2 <= best.fun * (1 + 1e-4)


@pytest.mark.parametrize("limits", [(5, 3), (20, 2), (1, 4)])
def test_errors_are_within_their_limits_at_the_smallest_loss(limits):
    tree = tree_of((5, 30))
    found = split_laplace_by_errors(tree, "root", dict(zip(("a", "cell"), limits, strict=True)))
    ratios = errors_of(tree, found) / limits
    assert ratios.max() == pytest.approx(1, abs=1e-4)

    def loss(share):
        """The sum of the epsilons of a split that keeps the limits."""

        def excess(scale):
            epsilons = {"a": scale * share, "cell": scale * (1 - share)}
            return (errors_of(tree, epsilons) / limits).max()

        low, high = 0.01, 20.0
        for _ in range(25):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if excess(middle) > 1 else (low, middle)
        return high

    best = minimize_scalar(loss, bounds=(1e-4, 0.99), method="bounded", options={"xatol": 1e-3})
    assert float(sum(found.values())) <= best.fun * (1 + 1e-3)


def test_totals_of_a_lower_level_can_be_held():
    tree = tree_of((4, 3, 5))
    found = split_laplace_by_errors(tree, "a", {"b": 3, "cell": 2})
    held = Invariants.partition(np.repeat(np.arange(4), 15).tolist())
    accuracy = NestedAccuracy(NestedLaplace(tree, found), held)
    assert accuracy.variance(0) == pytest.approx(4, rel=1e-4)
    assert accuracy.variance(int(np.argmax(tree.level_of == 2))) == pytest.approx(9, rel=1e-4)


@pytest.mark.parametrize(
    "given",
    [
        {"a": 1},
        {"root": 1, "cell": 1},
        {"b": 1, "cell": 1},
        {"cell": 0},
        {"cell": math.nan},
        {"cell": math.inf},
        {"cell": 1e300},
        {"cell": 1e-300},
        {},
    ],
)
def test_requests_without_a_split_are_refused(given):
    tree = tree_of((2, 3))
    with pytest.raises(InputError, match=r"^weights"):
        split_laplace_by_weights(tree, "root", 1, given)
    with pytest.raises(InputError, match=r"^errors"):
        split_laplace_by_errors(tree, "root", given)
    for epsilon in (0, -1, math.nan, 1e300, 1e-300):
        with pytest.raises(InputError, match=r"^epsilon"):
            split_laplace_by_weights(tree, "root", epsilon, {"cell": 1})
        with pytest.raises(InputError, match=r"^epsilon"):
            laplace_frontier(tree, "root", epsilon, "a", [0.5])
    with pytest.raises(InputError, match=r"^shares"):
        laplace_frontier(tree, "root", 1, "a", [1])
    with pytest.raises(InputError, match=r"^level"):
        laplace_frontier(tree, "root", 1, "b", [0.5])
    with pytest.raises(InputError, match=r"^held"):
        split_laplace_by_weights(tree, "state", 1, {"cell": 1})
