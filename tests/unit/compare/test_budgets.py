"""Releases and forecasts of every system have the variance that its theory gives a budget.

In a region of two areas of one cell all noise is k and -k, so that every variance is in closed
form.
"""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from isdp import compare
from isdp.commands.compare import compare as compare_systems
from isdp.compare import Areas
from isdp.testing import DistributionError, check_mean
from isdp.topdown import Budget, Plan, Schema

REGIONS, COUNT = 600, 10**6
LEVELS = ("all", "region", "area")
ONE_CELL = Schema(("cell",), (1,))
AREAS = Areas(
    np.full((2 * REGIONS, 1), COUNT), [str(number // 2) for number in range(2 * REGIONS)], ONE_CELL
)


def geometric(rate):
    """Variance of k with the weight exp(-rate |k|)."""
    a = math.exp(-rate)
    return 2 * a / (1 - a) ** 2


def gaussian(rate):
    """Variance of k with the weight exp(-rate k^2)."""
    k = np.arange(-400, 401)
    weights = np.exp(-rate * k**2)
    return float(weights @ k**2 / weights.sum())


def topdown(epsilon):
    """Half of the difference of two measurements; rounding to whole numbers adds at most 1/4."""
    return geometric(epsilon / 3 / 2) / 2


def plan_of(epsilon):
    shares = dict.fromkeys(LEVELS, Fraction(1, 3))
    return Plan(ONE_CELL, Budget("pure", epsilon, shares, {name: {"detail": 1} for name in LEVELS}),
                ("region",))  # fmt: skip


# the budgets at which one person who moves changes k by 1 and is protected
THEORY = {
    compare.IntegerLaplace(): geometric,
    compare.IntegerGaussian(): gaussian,
    compare.ProjectedLaplaceNoise(): lambda epsilon: (2 / epsilon) ** 2,
    compare.KNormNoise(): lambda epsilon: 2 / epsilon**2,
    compare.ProjectedGaussianNoise(): lambda rho: 1 / (2 * rho),
    compare.ConditionedNoise(): lambda epsilon: geometric(epsilon / 2),
    compare.TopDown(plan_of, "TopDown", "epsilon"): topdown,
}


@pytest.mark.parametrize("budget", [0.02, 0.3])
@pytest.mark.parametrize("system", THEORY, ids=lambda system: system.name)
def test_a_release_has_the_variance_of_its_budget(system, budget):
    released = system.release(np.random.default_rng(8), AREAS, budget)
    squares = (released[::2, 0] - COUNT).astype(float) ** 2
    variance = THEORY[system](budget)
    check_mean(squares, variance)
    # twice or half of the budget is seen: the variance of pure systems goes with its square
    factor = 2 if system.parameter == "rho" else 3
    for other in (variance / factor, factor * variance):
        with pytest.raises(DistributionError):
            check_mean(squares, other)


@pytest.mark.parametrize("rate", [0.3, 0.6])
def test_swapping_moves_the_records_of_its_rate(rate):
    """Two records are selected both or none, and change places where they are."""
    people = np.tile([[1, 0], [0, 1]], (REGIONS, 1))
    areas = Areas(people, AREAS.regions, Schema(("cell",), (2,)))
    released = compare.Swapping().release(np.random.default_rng(9), areas, rate)
    changed = (released[::2, 0] == 0).astype(float)
    both = rate**2 / (rate**2 + (1 - rate) ** 2)
    check_mean(changed, both, math.sqrt(both * (1 - both)))
    with pytest.raises(DistributionError):
        check_mean(changed, 2.2 * both, 0.5)


@pytest.mark.parametrize("free", [False, True])
def test_forecasts_have_the_variance_of_their_budgets(tmp_path, free):
    """With and without a cell in no total, whose noise has one variable alone."""
    cells = pd.DataFrame({"region": list("aabb"), "area": list("ABCD"), "cell": "x"})
    cells.to_csv(tmp_path / "cells.csv", index=False)
    cells.assign(count=COUNT).to_csv(tmp_path / "stand_in.csv", index=False)
    rules = "subsets: {a: {region: a}}" if free else "totals: [region]"
    (tmp_path / "rules.yaml").write_text(rules)
    alone = {
        "integer noise": lambda epsilon: geometric(epsilon / 2),
        "projected Laplace noise": lambda epsilon: 2 * (2 / epsilon) ** 2,
        "integer Gaussian noise": lambda rho: gaussian(rho / 2),
        "projected Gaussian noise": lambda rho: 1 / rho,
    }
    files = [tmp_path / "cells.csv", tmp_path / "rules.yaml"]
    budgets = {"epsilons": [0.25, 1.0], "rhos": [0.125, 0.5]}
    found = compare_systems(
        *files, **budgets, stand_in=tmp_path / "stand_in.csv", simulations=100
    ).errors.query("query == 'cells' and size == 'all' and system != 'TopDown'")
    if free:
        found = found[found["system"].isin(alone)]
    assert len(found) == (8 if free else 12)
    for row in found.itertuples():
        (theory,) = (each for system, each in THEORY.items() if system.name == row.system)
        variance = theory(row.budget)
        if free:
            variance = (variance + alone[row.system](row.budget)) / 2
        near = {"exact": 1e-6 * row.rmse, "simulated": 2.5 * row.rmse_error}
        assert abs(row.rmse - math.sqrt(variance)) <= near[row.rmse_is], row
