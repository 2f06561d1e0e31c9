"""The privacy guarantee of nested and crossing noise: exact divergences of all neighbours.

The divergences are computed by enumeration on small lattices. The neighbours are all pairs of
tables with equal invariants that differ by one person, or by one exchange if no person can move
alone.
"""

import itertools

import numpy as np
import pytest

from isdp import Invariants
from isdp.mechanisms import CrossingGaussian, NestedGaussian, NestedLaplace, SetTree

SIZE = 9  # the noise of each cell, whose standard deviation is below 1, is enumerated up to this
HALVES = [[0, 1, 2, 3], [0, 1], [2, 3]]
CHAIN = [[0, 1, 2, 3], [0, 1, 2], [0, 1]]
# sets of 4 cells, held sets
NESTED = {
    "nothing held": (HALVES, []),
    "total held": (HALVES, [[0, 1, 2, 3]]),
    "one half held": (HALVES, [[0, 1]]),
    "both halves held": (HALVES, [[0, 1], [2, 3]]),
    "chain, total held": (CHAIN, [[0, 1, 2, 3]]),
    "chain, inner set held": (CHAIN, [[0, 1, 2]]),
    "chain, a cell held": (CHAIN, [[3]]),
    "one pair, another pair held": ([[0, 1]], [[2, 3]]),
}
# rows and columns of a table of 2 x 2 cells that are held
CROSSING = {
    "nothing held": [],
    "total held": [[0, 1, 2, 3]],
    "rows held": [[0, 1], [2, 3]],
    "columns held": [[0, 2], [1, 3]],
    "rows and columns held": [[0, 1], [2, 3], [0, 2], [1, 3]],
}


def nested(name, kind):
    sets, held = NESTED[name]
    tree = SetTree.from_sets(sets, 4)
    gaussian = ["2/3", 1, "3/4", "4/5", "7/8", "1/2", "2/3"]
    laplace = ["3/2", 1, "5/4", 2, "2/3", "1/2", "3/4"]
    scales = gaussian if kind is NestedGaussian else laplace
    return kind(tree, scales[: tree.nodes]), Invariants.subsets(held, 4)


def crossing(name):
    pair = SetTree.from_columns({"all": [0, 0]}, root="top")
    scales = {
        ("cell", "cell"): "3/4",
        ("cell", "all"): "2/3",
        ("all", "cell"): 1,
        ("top", "top"): 1,
    }
    return CrossingGaussian(pair, pair, scales), Invariants.subsets(CROSSING[name], 4)


GAUSSIAN = [(nested, (name, NestedGaussian)) for name in NESTED]
GAUSSIAN += [(crossing, (name,)) for name in CROSSING]
IDS = [f"{make.__name__}, {arguments[0]}" for make, arguments in GAUSSIAN]


def noise_vectors(invariants):
    """All integer vectors up to a size that keep the invariants."""
    axes = np.meshgrid(*[np.arange(-SIZE, SIZE + 1)] * 4, indexing="ij")
    points = np.stack([axis.ravel() for axis in axes], axis=1)
    return points[~invariants.apply(points).any(axis=1)]


def neighbours(invariants):
    """All differences of two tables by one person, or else by one exchange of two persons."""
    unit = np.eye(4, dtype=np.int64)
    moves = [unit[i] - unit[j] for i, j in itertools.permutations(range(4), 2)]
    alone = [d for d in [*unit, *-unit, *moves] if not invariants.apply(d).any()]
    exchanges = {tuple(one + other) for one, other in itertools.combinations(moves, 2)}
    return alone or [
        np.array(d) for d in exchanges if any(d) and not invariants.apply(np.array(d)).any()
    ]


def renyi(mechanism, points, changes, orders):
    """The divergences between the tables x + change and x, of shape (changes, orders)."""
    plain = mechanism.log_weight(points)
    total = np.log(np.exp(plain).sum())
    found = []
    for change in changes:
        shifted = mechanism.log_weight(points - change)
        sums = [np.exp(a * shifted + (1 - a) * plain).sum() for a in orders]
        found.append([(np.log(x) - total) / (a - 1) for x, a in zip(sums, orders, strict=True)])
    return np.array(found)


@pytest.mark.parametrize(("make", "arguments"), GAUSSIAN, ids=IDS)
def test_the_loss_of_gaussian_noise_is_the_largest_divergence(make, arguments):
    mechanism, invariants = make(*arguments)
    points, changes = noise_vectors(invariants), neighbours(invariants)
    assert changes
    loss = float(mechanism.guarantee_of(invariants).loss)
    fraction, second, third = (renyi(mechanism, points, changes, (1.5, 2, 3)) / (1.5, 2, 3)).T
    losses = [mechanism.noise_norm(change) ** 2 for change in changes]
    for attained in (second, third):  # (order - 1) * change is a lattice vector
        assert attained == pytest.approx(losses, rel=1e-6)
        assert attained.max() == pytest.approx(loss, rel=1e-6)
    assert fraction.max() < loss * (1 - 1e-5)


@pytest.mark.parametrize("count", [2, 3])
def test_the_loss_of_several_moves_of_gaussian_noise(count):
    mechanism, invariants = nested("total held", NestedGaussian)
    points, changes = noise_vectors(invariants), neighbours(invariants)
    bound = float(mechanism.guarantee_of(invariants).loss_at(count))
    sums = {tuple(sum(some)) for some in itertools.combinations_with_replacement(changes, count)}
    found = renyi(mechanism, points, np.array(sorted(sums)), [2]) / 2
    assert found.max() == pytest.approx(bound, rel=1e-5)


@pytest.mark.parametrize("name", NESTED)
def test_the_loss_of_laplace_noise_is_the_largest_log_ratio(name):
    mechanism, invariants = nested(name, NestedLaplace)
    points, changes = noise_vectors(invariants), neighbours(invariants)
    largest = [
        (mechanism.log_weight(points - d) - mechanism.log_weight(points)).max() for d in changes
    ]
    assert largest == pytest.approx([float(mechanism.noise_norm(d)) for d in changes])
    assert max(largest) == pytest.approx(float(mechanism.guarantee_of(invariants).loss))


@pytest.mark.parametrize("kind", [NestedGaussian, NestedLaplace])
@pytest.mark.parametrize("name", NESTED)
def test_the_losses_by_level_are_the_largest_divergences_of_the_moves_of_a_level(name, kind):
    mechanism, invariants = nested(name, kind)
    points, tree, found = noise_vectors(invariants), mechanism.tree, {}
    for change in neighbours(invariants):
        if change.sum() == 0:
            common = tree.incidence @ abs(change) == 2
            depths = np.where(common, tree.depths, -1)
            level = tree.levels[tree.level_of[depths.argmax()]] if common.any() else "no common set"
            if kind is NestedGaussian:
                loss = renyi(mechanism, points, [change], [2])[0, 0] / 2
            else:
                shifted = mechanism.log_weight(points - change)
                loss = (shifted - mechanism.log_weight(points)).max()
            found[level] = max(loss, found.get(level, 0))
    losses = mechanism.losses_by_level(invariants)
    assert found == pytest.approx({level: float(loss) for level, loss in losses.items()}, rel=1e-6)


OVERLAPPING = Invariants.subsets([[0, 1], [2, 3], [0, 2], [1, 3]], 4)
REGIONS = SetTree.from_columns({"all": [0, 0]}, root="nation")
GROUPS = SetTree.from_columns({"group": [0, 0, 1, 1]}, root="total")
MARGINS = [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 4, 5], [2, 3, 6, 7]]  # regions, and groups


def overlapping_crossing(group):
    scales = {("cell", "cell"): 10} | ({("cell", "group"): group} if group else {})
    return CrossingGaussian(REGIONS, GROUPS, scales), Invariants.subsets(MARGINS, 8)


def overlapping_nested(kind, by_set):
    """One column of a table of 2 x 2 cells has a term, and its rows and columns are held."""
    tree = SetTree.from_sets([[0, 3]], 4)
    return kind(tree, [1, 1, 1, 1, by_set]), OVERLAPPING


FAMILIES = GAUSSIAN + [(nested, (name, NestedLaplace)) for name in NESTED]
FAMILIES += [(overlapping_crossing, (group,)) for group in (None, "1/9")]
FAMILIES += [
    (overlapping_nested, arguments)
    for arguments in itertools.product((NestedGaussian, NestedLaplace), (None, 1))
]


@pytest.mark.parametrize(("make", "arguments"), FAMILIES)
def test_the_loss_of_two_persons_is_bounded_or_refused(make, arguments):
    """Two persons may change together what neither can change alone."""
    mechanism, invariants = make(*arguments)
    unit = np.eye(invariants.cells, dtype=np.int64)
    single = [*unit, *-unit, *(a - b for a, b in itertools.permutations(unit, 2))]
    pairs = {tuple(a + b) for a, b in itertools.combinations_with_replacement(single, 2)}
    kept = [np.array(d) for d in pairs if not invariants.apply(np.array(d)).any()]
    power = 1 if isinstance(mechanism, NestedLaplace) else 2
    largest = max(float(mechanism.noise_norm(d)) ** power for d in kept)
    guarantee = mechanism.guarantee_of(invariants)
    if "exchange" in guarantee.relation:
        assert largest == pytest.approx(float(guarantee.loss))
    elif guarantee.growth == "none":
        assert largest > 2**power * guarantee.loss  # so that the refusal is necessary
    else:
        assert largest <= float(guarantee.loss_at(2)) * (1 + 1e-9)


def test_growth_and_unit_under_overlapping_invariants():
    for group, growth in ((None, "quadratic"), ("1/9", "none")):
        mechanism, held = overlapping_crossing(group)
        assert mechanism.guarantee_of(held).growth == growth
    for kind in (NestedGaussian, NestedLaplace):
        mechanism, held = overlapping_nested(kind, 1)
        assert mechanism.guarantee_of(held).per_person is None
        assert mechanism.guarantee_of(held).loss == mechanism.guarantee.loss
        assert mechanism.guarantee_of(Invariants.total(4)).per_person == 1
