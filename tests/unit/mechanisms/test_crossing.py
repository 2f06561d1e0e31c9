"""Crossing noise: the energy, the guarantee and the variances, against plain linear algebra."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from isdp import InputError, Invariants
from isdp.accounting import guarantee_from_record
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mechanisms import CrossingGaussian, SetTree
from tests import ROOT
from tests.crossing_families import FAMILIES, held_totals, quadratic_form, sets_of


@pytest.mark.parametrize("family", FAMILIES)
def test_the_weight_is_the_quadratic_form(family):
    mechanism = family()
    q = quadratic_form(mechanism).astype(float)
    noise = np.random.default_rng(1).integers(-9, 9, (2, 3, len(q)))
    expected = np.einsum("abi,ij,abj->ab", noise, q, noise)
    assert mechanism.log_weight(noise) == pytest.approx(-expected / 2)
    assert mechanism.noise_norm(noise[0, 0]) ** 2 == pytest.approx(expected[0, 0] / 2)


@pytest.mark.parametrize("pairs", [[], [(0, 0)], [(1, 0)], [(0, 1)], [(1, 0), (0, 1)], [(2, 1)]])
@pytest.mark.parametrize("family", FAMILIES)
def test_variances_are_those_of_dense_linear_algebra(family, pairs):
    mechanism = family()
    invariants = held_totals(mechanism, pairs)
    basis = kernel_lattice(invariants, "smith").basis.astype(float)
    q = quadratic_form(mechanism).astype(float)
    covariance = basis @ np.linalg.inv(basis.T @ q @ basis) @ basis.T
    weights = np.random.default_rng(2).normal(size=mechanism.groups.cells)
    found = mechanism.query_variances(weights, invariants)
    for inside, variance in zip(sets_of(mechanism.regions), found, strict=True):
        query = np.kron(inside, weights)
        assert variance == pytest.approx(query @ covariance @ query, rel=1e-9, abs=1e-12)


def test_variances_of_one_region_are_those_of_its_closed_form():
    """A table of c groups of m cells is one region with rows; here the regions are the rows."""
    c, m, p0, pr, pc = 4, 5, 0.5, 0.25, 0.125
    regions = SetTree.from_columns({"all": [0] * c}, root="root")
    groups = SetTree.from_columns({"all": [0] * m}, root="root")
    scales = {("cell", "cell"): 1 / p0, ("cell", "root"): 1 / pr, ("root", "cell"): 1 / pc}
    mechanism, total = CrossingGaussian(regions, groups, scales), Invariants.total(c * m)
    row = (1 - 1 / c) / (pr + p0 / m)
    column = (1 - 1 / m) / (pc + p0 / c)
    cell = (1 - 1 / c) * (1 - 1 / m) / p0 + row / m**2 + column / c**2
    root = c  # the node after the regions
    one = [1, 0, 0, 0, 0]
    assert mechanism.query_variances([1] * m, total)[[0, root]] == pytest.approx([row, 0])
    assert mechanism.query_variances(one, total)[[0, root]] == pytest.approx([cell, column])
    assert mechanism.guarantee_of(total).loss_per_person == Fraction(p0 + pr + pc)


@pytest.mark.parametrize(
    "pairs", [[], [(0, 0)], [(1, 0)], [(0, 1)], [(1, 1)], [(1, 0), (0, 1)], [(2, 0)], [(0, 2)]]
)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_loss_is_the_largest_of_all_moves_of_a_person(family, pairs):
    mechanism = family()
    invariants, q = held_totals(mechanism, pairs), quadratic_form(mechanism)
    a, unit = invariants.matrix, np.eye(len(q), dtype=np.int64)
    changes = [unit[x] - unit[y] for x, y in itertools.combinations(range(len(q)), 2)]
    changes += list(unit)
    losses = [Fraction(d @ q @ d) / 2 for d in changes if not (a @ d).any()]
    guarantee = mechanism.guarantee_of(invariants)
    assert guarantee.loss_per_person == max(losses)
    assert "exchange" not in guarantee.statement()
    assert guarantee_from_record(guarantee.record()) == guarantee
    if not pairs:
        assert mechanism.guarantee == guarantee


@pytest.mark.parametrize("pairs", [[(2, 0), (0, 2)], [(2, 0), (1, 2)], [(2, 1), (0, 2)]])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_unit_is_an_exchange_if_no_person_can_move_alone(family, pairs):
    mechanism = family()
    invariants, q = held_totals(mechanism, pairs), quadratic_form(mechanism)
    rows, columns = mechanism.regions.cells, mechanism.groups.cells
    losses = []
    for r, s in itertools.combinations(np.eye(rows, dtype=np.int64), 2):
        for g, h in itertools.combinations(np.eye(columns, dtype=np.int64), 2):
            d = np.kron(r - s, g - h)
            if not invariants.apply(d).any():
                losses.append(Fraction(d @ q @ d) / 2)
    guarantee = mechanism.guarantee_of(invariants)
    assert guarantee.loss_per_person == max(losses, default=0)  # 0 without noise
    assert "exchange" in guarantee.statement()
    assert not mechanism.losses_by_level(invariants)


def test_losses_by_level_are_those_of_moves_within_sets():
    mechanism = FAMILIES[0]()
    p = [[Fraction(x) for x in row] for row in mechanism.precisions]
    losses = mechanism.losses_by_level(held_totals(mechanism, [(1, 0)]))
    assert losses["state", "root"] == sum(map(sum, p)) - p[0][0] - p[1][0]
    assert losses["cell", "group"] == p[0][2] + p[1][2] + p[2][2]
    assert set(losses) == {("state", "root"), ("state", "group"), ("state", "cell")} | {
        ("cell", "root"),
        ("cell", "group"),
    }


@pytest.mark.parametrize(("own", "other"), [(1, "3/2"), ("1/2", 2), (2, 1)])
def test_the_guarantee_is_attained_at_integer_orders_and_bounds_others(own, other):
    """Divergences are summed over the lattice of 2 regions x 2 cells under a total."""
    pair = SetTree.from_columns({"all": [0, 0]})
    mechanism = CrossingGaussian(pair, pair, {("cell", "root"): own, ("cell", "cell"): other})
    total = Invariants.total(4)
    basis = kernel_lattice(total, "smith").basis
    box = np.array(list(itertools.product(range(-14, 15), repeat=3)))
    points = box @ basis.T
    here = mechanism.log_weight(points)
    here -= np.logaddexp.reduce(here)
    largest = 0.0
    for x, y in itertools.permutations(range(4), 2):
        d = np.zeros(4, dtype=np.int64)
        d[x], d[y] = 1, -1
        there = mechanism.log_weight(points - d)
        there -= np.logaddexp.reduce(there)
        rho = float(-mechanism.log_weight(d))
        largest = max(largest, rho)
        for order in (1.5, 2, 3):
            divergence = np.logaddexp.reduce(order * here + (1 - order) * there) / (order - 1)
            assert divergence <= order * rho + 1e-9
            if order in (2, 3):
                assert divergence == pytest.approx(order * rho, rel=1e-6)
    assert mechanism.guarantee_of(total).loss_per_person == pytest.approx(largest)


def test_scales_are_exact():
    pair = SetTree.from_columns({"all": [0, 0]})
    mechanism = CrossingGaussian(pair, pair, {("cell", "cell"): "1/3", ("cell", "root"): 0.1})
    assert mechanism.guarantee_of(Invariants.total(4)).loss_per_person == 13
    assert mechanism.as_dict()["variances"] == {"cell x root": "1/10", "cell x cell": "1/3"}


@pytest.mark.parametrize(
    "scales",
    [
        {},
        {("cell", "root"): 1},
        {("cell", "cell"): 0},
        {("cell", "cell"): -1},
        {("cell", "cell"): math.inf},
        {("cell", "cell"): math.nan},
        {("cell", "cell"): 1e-7},
        {("cell", "cell"): 1e21},
        {("cell", "cell"): True},
        {("cell", "cell"): "x"},
        {("cell", "cell"): 1, ("cell", "town"): 1},
        {("cell", "cell"): 1, "cell": 1},
    ],
)
def test_invalid_scales_are_refused(scales):
    pair = SetTree.from_columns({"all": [0, 0]})
    with pytest.raises(InputError, match=r"^variances: "):
        CrossingGaussian(pair, pair, scales)


def test_trees_of_other_forms_are_refused():
    pair, scales = SetTree.from_columns({"all": [0, 0]}), {("cell", "cell"): 1}
    uneven = SetTree.from_columns({"group": [0, 0, 1]})
    forest = SetTree.from_sets([[0, 1], [2, 3]], 4)
    missing = SetTree.from_columns({"group": [0, None]})
    for trees, name in [((pair, uneven), "groups"), ((forest, pair), "regions")]:
        with pytest.raises(InputError, match=f"^{name}: "):
            CrossingGaussian(*trees, scales)
    for trees, name in [((missing, pair), "regions"), ((pair, missing), "groups")]:
        with pytest.raises(InputError, match=f"^{name}: "):
            CrossingGaussian(*trees, scales)


@pytest.mark.parametrize(
    "matrix",
    [
        [[1, 0, 0, 0]],
        [[1, 1, 0, 0]],
        [[1, 2, 1, 1]],
        [[1, 1, 1, 0]],
        [[1, 0, 0, 1], [0, 1, 1, 0]],
        [[1, 1, 1, 1], [1, 0, 0, 0]],
        [[1, 1]],
    ],
)
def test_invariants_that_are_no_totals_of_whole_levels_are_refused(matrix):
    pair = SetTree.from_columns({"all": [0, 0]})
    mechanism = CrossingGaussian(pair, pair, {("cell", "cell"): 1})
    with pytest.raises(InputError, match="invariant"):
        mechanism.guarantee_of(Invariants(matrix))
    for fine in ([[2, 2, 2, 2]], [[0, 0, 0, 0]], [[1, 1, 0, 0], [0, 0, -1, -1], [1, 1, 1, 1]]):
        assert mechanism.guarantee_of(Invariants(fine)).loss_per_person > 0


@pytest.mark.parametrize("weights", [[1], [1, math.nan], [[1, 1]]])
def test_weights_of_another_shape_are_refused(weights):
    pair = SetTree.from_columns({"all": [0, 0]})
    with pytest.raises(InputError, match=r"^weights: "):
        CrossingGaussian(pair, pair, {("cell", "cell"): 1}).query_variances(weights)


def test_the_accuracy_of_all_counties_is_that_of_independent_draws():
    """Root mean square errors of 3,221 counties x 252 cells at rho = 1.24, state totals held.

    The reference is two or three draws of another program, with the same shares of the budget.
    """
    table = pd.read_csv(
        ROOT / "data" / "census2010_race_hispanic_adult_county.csv", dtype={"fips": str}
    )
    columns = np.array([name.split(":") for name in table.columns[1:]])
    states = table["fips"].str[:2]
    regions = SetTree.from_columns({"state": states}, root="nation")
    groups = SetTree.from_columns({"group": [h + a for _, h, a in columns]}, root="total")
    shares = {
        ("nation", "cell"): ".05",
        ("nation", "group"): ".02",
        ("state", "cell"): ".15",
        ("state", "group"): ".03",
        ("cell", "total"): ".17",
        ("cell", "group"): ".03",
        ("cell", "cell"): ".55",
    }
    rho = Fraction("1.24")
    variances = {pair: 1 / (rho * Fraction(share)) for pair, share in shares.items()}
    mechanism = CrossingGaussian(regions, groups, variances)
    held = Invariants.partition(np.repeat(states.to_numpy(), 252))
    assert mechanism.guarantee_of(held).loss_per_person == rho
    queries = {"cell": np.arange(252) == 5, "total": np.ones(252)}
    queries |= {"race": columns[:, 0] == "WB", "hispanic": columns[:, 1] == "h"}
    expected = {
        ("cell", "cell"): 1.19,
        ("cell", "race"): 2.38,
        ("cell", "total"): 2.08,
        ("cell", "hispanic"): 4.7,
        ("state", "cell"): 2.15,
        ("state", "hispanic"): 5.0,
        ("nation", "cell"): 3.8,
    }
    for (level, query), error in expected.items():
        at_level = regions.level_of == regions.levels.index(level)
        found = mechanism.query_variances(queries[query], held)[at_level]
        assert math.sqrt(found.mean()) == pytest.approx(error, rel=0.04)


def two_moves(cells):
    """All changes of a table in which two persons change cell."""
    one = np.array([a - b for a, b in itertools.permutations(np.eye(cells, dtype=np.int64), 2)])
    return (one[:, None] + one[None, :]).reshape(-1, cells)


@pytest.mark.parametrize(("pairs", "growth"), [([(0, 0)], "quadratic"), ([(1, 0), (0, 1)], "none")])
def test_a_loss_that_grows_with_the_number_of_persons_bounds_that_of_two(pairs, growth):
    """Two persons of two states and groups change cells together where neither may alone."""
    family = FAMILIES[0]()
    scales = {("state", "group"): "1/100", ("cell", "cell"): 2}
    noise = CrossingGaussian(family.regions, family.groups, scales)
    invariants, q = held_totals(noise, pairs), quadratic_form(noise).astype(float)
    together = two_moves(invariants.cells)
    together = together[~invariants.apply(together).any(axis=1)]
    largest = ((together @ q) * together).sum(axis=1).max() / 2
    guarantee = noise.guarantee_of(invariants)
    assert guarantee.growth == growth
    assert (largest <= 4 * float(guarantee.loss)) == (growth == "quadratic")
