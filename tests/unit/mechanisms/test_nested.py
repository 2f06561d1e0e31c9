"""Nested noise: the tree of sets, the energy and the guarantee, against plain enumeration."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from isdp import InputError, Invariants
from isdp.accounting import guarantee_from_record
from isdp.mechanisms import GeneralizedGaussian, NestedGaussian, NestedLaplace, SetTree

UNEVEN = [[0, 1, 2, 3, 4, 5, 6], [0, 1, 2], [3, 4, 5], [3, 4]]  # of 8 cells


def uneven_tree():
    return SetTree.from_sets(UNEVEN, 8)


def sets_of(tree):
    """The cells of each node, by walking up from each cell."""
    found = [set() for _ in range(tree.nodes)]
    for cell in range(tree.cells):
        node = cell
        while node >= 0:
            found[node].add(cell)
            node = tree.parents[node]
    return found


def test_sets_in_any_order_give_the_same_sets():
    for order in itertools.permutations(range(len(UNEVEN))):
        tree = SetTree.from_sets([UNEVEN[k] for k in order], 8)
        expected = [{cell} for cell in range(8)] + [set(UNEVEN[k]) for k in order]
        assert sets_of(tree) == expected
        assert tree.sizes.tolist() == [len(inside) for inside in expected]


def test_columns_make_nested_sets_with_missing_labels_and_single_children():
    columns = {"state": ["a", "a", "a", "b", None], "county": ["x", "y", None, "x", None]}
    tree = SetTree.from_columns(columns)
    sets = {tuple(sorted(inside)) for inside in sets_of(tree)[5:]}
    assert sets == {(0, 1, 2, 3, 4), (0, 1, 2), (0,), (1,), (3,)}
    assert [tree.levels[level] for level in tree.level_of[5:]] == ["root", "state", "state"] + [
        "county"
    ] * 3


def test_totals_are_sums_over_the_sets():
    tree = uneven_tree()
    noise = np.random.default_rng(1).integers(-9, 9, (2, 3, 8))
    sums = [noise[..., sorted(inside)].sum(axis=-1) for inside in sets_of(tree)]
    assert np.array_equal(tree.totals(noise), np.stack(sums, axis=-1))


@pytest.mark.parametrize(
    "sets",
    [
        [[0, 1], [1, 2]],
        [[0, 1, 2], [0, 1], [1, 2]],
        [[0, 1], [1, 0]],
        [[0, 1, 1]],
        [[0]],
        [[]],
        [[0, 3]],
        [[-1, 0]],
        [[0, 1.5]],
        [[0, math.nan]],
        [[True, False]],
        [["a", "b"]],
        [[0, 10**30]],
        "ab",
    ],
)
def test_families_that_are_not_nested_or_repeat_a_set_are_refused(sets):
    with pytest.raises(InputError, match="set"):
        SetTree.from_sets(sets, 3)


@pytest.mark.parametrize(
    "parents", [[2, 2, 2], [2, 2, 3, 2], [2, 2, -1, -1], [1, -1, -1], [5, 2, -1], [-2, 2, -1]]
)
def test_invalid_parents_are_refused(parents):
    with pytest.raises(InputError, match="tree"):
        SetTree(2, np.array(parents), ("set", "cell"), np.zeros(len(parents), dtype=np.int64))


@pytest.mark.parametrize("cells", [0, -1, 1.5, math.nan, math.inf, True, None, "a", 10**18, 10**30])
def test_invalid_numbers_of_cells_are_refused(cells):
    with pytest.raises(InputError, match="cells"):
        SetTree.from_sets([], cells)


def test_labels_of_a_pandas_column_are_read_by_position():
    column = pd.Series(["a", "b", "a"], index=[7, 8, 9])
    assert SetTree.from_columns({"state": column}).parents.tolist() == [4, 5, 4, -1, 3, 3]


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"state": []},
        {"state": ["a"], "county": ["x", "y"]},
        {"state": 5},
        {"state": None},
        {"state": "abc"},
        {"state": iter("ab")},
        {"state": [["a"], ["b"]]},
        {"state": np.ones((2, 2))},
        {1: ["a", "b"]},
    ],
)
def test_invalid_columns_are_refused(columns):
    with pytest.raises(InputError, match="tree"):
        SetTree.from_columns(columns)
    with pytest.raises(InputError, match="name"):
        SetTree.from_columns({"cell": ["a"]})


@pytest.mark.parametrize(
    "value", [0, -1, math.inf, math.nan, "inf", "1e300", 1e21, 0.0, True, "a", [1], 10**500]
)
def test_scales_out_of_range_are_refused(value):
    tree = uneven_tree()
    for mechanism in (NestedGaussian, NestedLaplace):
        with pytest.raises(InputError, match="cell"):
            mechanism(tree, {"cell": value})
        with pytest.raises(InputError, match="node 3"):
            mechanism(tree, [None] * 3 + [value] + [None] * 8)


def test_unknown_levels_and_missing_scales_are_refused():
    for scales in ({"county": 1}, {}, [None] * 12, [1] * 11):
        with pytest.raises(InputError, match="variances"):
            NestedGaussian(uneven_tree(), scales)
    with pytest.raises(InputError, match="invariants"):
        NestedGaussian(uneven_tree(), {"cell": 1}).guarantee_of(Invariants.total(7))


def test_many_children_and_great_depth():
    wide = SetTree.from_columns({"block": np.arange(200_000) // 2})
    noise = NestedGaussian(wide, {"root": 9, "block": 2, "cell": 4})
    assert noise.guarantee_of(Invariants.total(200_000)).loss == Fraction(3, 4)
    deep = SetTree.from_sets([range(k) for k in range(2, 52)], 51)
    moves = NestedLaplace(deep, [1] * deep.nodes).losses_by_level(None)
    assert moves["depth 0"] == 51
    assert moves["depth 49"] == 2
    with pytest.raises(InputError, match="chain"):
        SetTree.from_sets([range(k) for k in range(2, 1200)], 1200)


def random_scales(rng, nodes):
    """Scales of nodes with one missing in four."""
    scales = [Fraction(int(a), int(b)) for a, b in rng.integers(1, 9, (nodes, 2))]
    return [
        scale if kept else None
        for scale, kept in zip(scales, rng.random(nodes) < 0.75, strict=True)
    ]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [NestedGaussian, NestedLaplace])
@pytest.mark.parametrize(
    "held", [None, Invariants.total(8), Invariants.subsets([[0, 1, 2], [3, 4], [0, 1, 2, 3, 4]], 8)]
)
@pytest.mark.parametrize("root", [[], [range(8)]])
def test_losses_are_the_largest_over_all_moves(seed, kind, held, root):
    tree = SetTree.from_sets(UNEVEN + root, 8)
    scales = random_scales(np.random.default_rng(seed), tree.nodes)
    noise, sets = kind(tree, scales), sets_of(tree)
    rate = {NestedGaussian: lambda x: 1 / (2 * x), NestedLaplace: lambda x: x}[kind]
    loss_of = [0 if scale is None else rate(scale) for scale in scales]
    moves, arrivals = {}, [Fraction(0)]
    matrix = np.zeros((0, 8), int) if held is None else held.matrix
    for i, j in itertools.combinations(range(8), 2):
        if (matrix[:, i] == matrix[:, j]).all():
            loss = sum(loss_of[v] for v, inside in enumerate(sets) if len(inside & {i, j}) == 1)
            common = [v for v, inside in enumerate(sets) if {i, j} <= inside]
            smallest = min(common, key=lambda v: len(sets[v]), default=None)
            level = "no common set" if smallest is None else tree.levels[tree.level_of[smallest]]
            moves[level] = max(loss, moves.get(level, loss))
    for i in np.flatnonzero(~matrix.any(axis=0)).tolist():
        arrivals.append(sum(loss_of[v] for v, inside in enumerate(sets) if i in inside))
    assert noise.losses_by_level(held) == moves
    assert noise.arrival_loss(held) == max(arrivals)
    guarantee = noise.guarantee_of(held)
    assert guarantee.loss_per_person == max([*moves.values(), *arrivals])
    assert guarantee_from_record(guarantee.record()) == guarantee
    assert noise.guarantee.loss >= guarantee.loss


def test_cells_alone_are_the_generalized_mechanism():
    tree, plain = uneven_tree(), GeneralizedGaussian(rho="1/3")
    noise = NestedGaussian(tree, {"cell": "3/2"})
    assert noise.exact_energy == plain.exact_energy
    assert noise.energy == pytest.approx(plain.energy)
    total = Invariants.total(8)
    assert noise.guarantee_of(total).loss_per_person == plain.guarantee.loss_per_person
    draws = np.random.default_rng(1).integers(-5, 5, (10, 8))
    assert noise.log_weight(draws) == pytest.approx(plain.log_weight(draws))
    assert NestedGaussian(tree, {"depth 0": 4, "cell": "3/2"}).energy is None


@pytest.mark.parametrize("kind", [NestedGaussian, NestedLaplace])
@pytest.mark.parametrize("overlap", [False, True])
def test_a_loss_that_grows_with_the_number_of_persons_bounds_that_of_two(kind, overlap):
    """Under overlapping totals two persons of two regions exchange cells, and neither may alone."""
    regions = np.repeat(np.arange(2), 4)
    tree = SetTree.from_columns({"region": regions, "part": np.arange(8) // 2})
    noise = kind(tree, {"part": "1/100" if kind is NestedGaussian else 100, "cell": 1})
    held = [np.flatnonzero(regions == i) for i in (0, 1)]
    if overlap:  # cells 0 and 1 of a part are alike in all totals, and those of its neighbour
        held += [[0, 1, 4, 5], [2, 3, 6, 7]]
    invariants = Invariants.subsets(held, 8)
    one = np.array([a - b for a, b in itertools.permutations(np.eye(8, dtype=np.int64), 2)])
    two = (one[:, None] + one[None, :]).reshape(-1, 8)
    possible = two[~invariants.apply(two).any(axis=1)]
    largest, power = -noise.log_weight(possible).min(), noise.power
    guarantee = noise.guarantee_of(invariants)
    bounded = largest <= 2**power * float(guarantee.loss) * (1 + 1e-9)
    assert bounded == (not overlap)
    assert guarantee.growth == ("none" if overlap else ["linear", "quadratic"][power - 1])
