"""The split of a budget over the pairs of levels of crossing noise, against other optimizers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import differential_evolution

from isdp import InputError, Invariants
from isdp.mechanisms import CrossingGaussian, SetTree
from isdp.mechanisms.crossing_budget import (
    crossing_frontier,
    split_crossing_by_errors,
    split_crossing_by_weights,
)

REGIONS = SetTree.from_columns({"state": np.arange(24) // 4}, root="nation")
GROUPS = SetTree.from_columns({"group": np.arange(15) // 5}, root="total")
CELLS = ("cell", "cell")
STATE_TOTALS, NATION_TOTAL = ("state", "total"), ("nation", "total")
BELOW_STATES = [
    ("nation", "group"),
    ("nation", "cell"),
    ("state", "group"),
    ("state", "cell"),
    ("cell", "total"),
    ("cell", "group"),
    CELLS,
]
SOME = [("nation", "group"), ("cell", "total"), CELLS]


def invariants_of(held, regions=REGIONS, groups=GROUPS):
    """All totals of one pair of levels."""
    i, j = regions.levels.index(held[0]), groups.levels.index(held[1])
    rows = regions.incidence.toarray()[regions.level_of == i]
    columns = groups.incidence.toarray()[groups.level_of == j]
    return Invariants([np.kron(row, column) for row in rows for column in columns])


def errors_of(variances, held, pairs, regions=REGIONS, groups=GROUPS):
    """The root mean square error of a total of each pair, by least squares."""
    noise = CrossingGaussian(regions, groups, variances)
    invariants, found = invariants_of(held, regions, groups), []
    for region, group in pairs:
        weights = groups.incidence.toarray()[groups.level_of == groups.levels.index(group)][0]
        node = int(np.argmax(regions.level_of == regions.levels.index(region)))
        found.append(math.sqrt(noise.query_variances(weights, invariants)[node]))
    return np.array(found)


def weighted_sum(shares, weights, held, pairs):
    """The weighted sum of variances at rho = 1."""
    variances = {
        pair: Fraction(1 / share) for pair, share in zip(pairs, shares, strict=True) if share > 0
    }
    return weights @ errors_of(variances, held, pairs) ** 2


@pytest.mark.parametrize("held", [STATE_TOTALS, NATION_TOTAL, ("cell", "total")])
@pytest.mark.parametrize("seed", range(4))
def test_weights_give_the_minimum_and_use_the_budget_exactly(held, seed):
    """The sum of the variances is convex, so that its slopes bound the distance to the minimum."""
    rng = np.random.default_rng(seed)
    order = [*REGIONS.levels], [*GROUPS.levels]
    pairs = [
        (region, group)
        for i, region in enumerate(order[0])
        for j, group in enumerate(order[1])
        if i > order[0].index(held[0]) or j > order[1].index(held[1])
    ]
    pairs = [pair for pair in pairs if pair == CELLS or seed == 0 or rng.random() < 0.7]
    weights = 10 ** rng.uniform(-1.5, 1.5, len(pairs))
    rho = Fraction("1.24")
    scales = split_crossing_by_weights(
        REGIONS, GROUPS, held, rho, dict(zip(pairs, weights.tolist(), strict=True))
    )
    noise = CrossingGaussian(REGIONS, GROUPS, scales)
    assert noise.guarantee_of(invariants_of(held)).loss_per_person == rho
    shares = np.array([float(1 / (scales[pair] * rho)) if pair in scales else 0 for pair in pairs])
    here, step = weighted_sum(shares, weights, held, pairs), 1e-7
    for vertex in np.eye(len(pairs)):
        there = weighted_sum(shares + step * (vertex - shares), weights, held, pairs)
        assert (there - here) / step > -1e-3 * here


def closed_form(c, m, of_column, of_row, of_cell):
    """Shares of columns, rows and cells in c x m cells: the best case of terms that are used."""
    rows = (1 - 1 / c) * (of_row + of_cell / m**2)
    columns = (1 - 1 / m) * (of_column + of_cell / c**2)
    cells = (1 - 1 / c) * (1 - 1 / m) * of_cell
    best = math.inf, None
    for row_term in (False, True):
        for column_term in (False, True):
            # x = pr + p0/m, y = pc + p0/c and z = p0; without a term, x or y is a part of z
            cost = 1 - row_term / m - column_term / c
            load = cells + (0 if row_term else m * rows) + (0 if column_term else c * columns)
            z = math.sqrt(load / cost)
            x = math.sqrt(rows) if row_term else z / m
            y = math.sqrt(columns) if column_term else z / c
            shares = np.array([y - z / c, x - z / m, z])
            if shares.min() > -1e-12:
                total = shares.sum()
                value = total * (rows / x + columns / y + cells / z)
                best = min(best, (value, tuple(shares / total)))
    return best[1]


@pytest.mark.parametrize(
    "weights", [(1, 1, 1), (0.1, 5, 2), (1e-3, 1e-3, 1), (3, 1e-4, 1), (1e-4, 3, 1)]
)
def test_the_split_of_one_region_is_its_closed_form(weights):
    rows, columns = SetTree.from_sets([range(4)], 4), SetTree.from_sets([range(6)], 6)
    top = rows.levels[0]
    pairs = [(top, "cell"), ("cell", top), CELLS]
    given = dict(zip(pairs, weights, strict=True))
    scales = split_crossing_by_weights(rows, columns, (top, top), 1, given)
    shares = [float(1 / scales[pair]) if pair in scales else 0 for pair in pairs]
    assert shares == pytest.approx(closed_form(4, 6, *weights), abs=1e-4)


@pytest.mark.parametrize("limits", [(6, 3, 1), (1, 3, 1), (6, 1, 2), (20, 20, 1)])
def test_errors_are_within_their_limits_at_the_smallest_loss(limits):
    given = dict(zip(SOME, limits, strict=True))
    scales = split_crossing_by_errors(REGIONS, GROUPS, STATE_TOTALS, given)
    found = errors_of(scales, STATE_TOTALS, SOME) / limits
    assert found.max() == pytest.approx(1, abs=1e-6)
    rho = float(sum(1 / variance for variance in scales.values()))

    def loss(x):
        """The loss of a split, scaled so that the limits are kept."""
        first, second = x
        shares = np.array([first, (1 - first) * second, (1 - first) * (1 - second)])
        variances = {pair: Fraction(1 / p) for pair, p in zip(SOME, shares, strict=True) if p > 0}
        return float((errors_of(variances, STATE_TOTALS, SOME) / limits).max() ** 2)

    best = differential_evolution(loss, [(0, 0.99), (0, 0.99)], rng=1, tol=1e-8, popsize=8)
    assert rho == pytest.approx(best.fun, rel=2e-3)
    assert rho < best.fun * (1 + 1e-4)


def test_limits_that_are_all_attained_invert_the_errors_of_a_split():
    shares = dict(zip(BELOW_STATES, [0.02, 0.05, 0.03, 0.15, 0.17, 0.03, 0.55], strict=True))
    variances = {pair: 1 / Fraction(str(share)) for pair, share in shares.items()}
    errors = errors_of(variances, STATE_TOTALS, BELOW_STATES)
    given = dict(zip(BELOW_STATES, errors.tolist(), strict=True))
    found = split_crossing_by_errors(REGIONS, GROUPS, STATE_TOTALS, given)
    assert found == pytest.approx({pair: float(variance) for pair, variance in variances.items()})


def test_the_frontier_has_the_errors_of_each_split():
    pair, shares = ("cell", "total"), [0, 0.1, 0.5]
    found = crossing_frontier(REGIONS, GROUPS, STATE_TOTALS, "1.24", pair, shares)
    for share, errors in zip(shares, found, strict=True):
        scales = {CELLS: 1 / Fraction(1.24 * (1 - share))}
        if share:
            scales[pair] = 1 / Fraction(1.24 * share)
        assert errors == pytest.approx(errors_of(scales, STATE_TOTALS, [pair, CELLS]))
    assert (np.diff(found[:, 0]) < 0).all()
    assert (np.diff(found[:, 1]) > 0).all()


@pytest.mark.parametrize(
    ("held", "given"),
    [
        (STATE_TOTALS, {("cell", "total"): 1}),
        (STATE_TOTALS, {STATE_TOTALS: 1, CELLS: 1}),
        (STATE_TOTALS, {NATION_TOTAL: 1, CELLS: 1}),
        (STATE_TOTALS, {("town", "total"): 1, CELLS: 1}),
        (STATE_TOTALS, {"cell": 1, CELLS: 1}),
        (STATE_TOTALS, {CELLS: 0}),
        (STATE_TOTALS, {CELLS: -1}),
        (STATE_TOTALS, {CELLS: math.nan}),
        (STATE_TOTALS, {CELLS: math.inf}),
        (STATE_TOTALS, {CELLS: 1e300}),
        (STATE_TOTALS, {CELLS: 1e-300}),
        (STATE_TOTALS, {CELLS: "x"}),
        (STATE_TOTALS, {}),
        (("state", "age"), {CELLS: 1}),
        ("state", {CELLS: 1}),
    ],
)
def test_requests_without_a_split_are_refused(held, given):
    with pytest.raises(InputError, match=r"^(weights|held)"):
        split_crossing_by_weights(REGIONS, GROUPS, held, 1, given)
    with pytest.raises(InputError, match=r"^(errors|held)"):
        split_crossing_by_errors(REGIONS, GROUPS, held, given)


def test_invalid_budgets_shares_and_levels_are_refused():
    with pytest.raises(InputError, match="rho"):
        split_crossing_by_weights(REGIONS, GROUPS, STATE_TOTALS, 0, {CELLS: 1})
    for shares in ([1], [-0.1], [[0.5]], [math.nan], 0.5):
        with pytest.raises(InputError, match="shares"):
            crossing_frontier(REGIONS, GROUPS, STATE_TOTALS, 1, ("cell", "total"), shares)
    alone = SetTree.from_columns({"state": [0, 1, 2]}, root="nation")
    with pytest.raises(InputError, match="cell"):  # each state has one region
        split_crossing_by_weights(alone, GROUPS, ("state", "total"), 1, {CELLS: 1})
