"""The distances between tables of equal totals that differ in the cell of one person."""

from itertools import pairwise, product

import numpy as np
import pytest

from isdp.constraints.invariants import Invariants
from isdp.lattice import MoveDistance, farthest_move, move_distance, nearest_move

TWO_WAY = [(0, 1), (0, 2), (1, 2)]
RADIUS = 3


def brute_force(matrix, metric):
    """Distances of all moves, among the differences with entries of at most `RADIUS`."""
    steps = range(-RADIUS, RADIUS + 1)
    vectors = np.array(list(product(steps, repeat=matrix.shape[1])))
    vectors = vectors[~(vectors @ matrix.T).any(axis=1)]
    norms = abs(vectors).sum(axis=1) if metric == "l1" else (vectors**2).sum(axis=1)
    found = {}
    for move in product(range(matrix.shape[1]), repeat=2):
        shown = (vectors[:, move[0]] < 0) & (vectors[:, move[1]] > 0)
        if shown.any():
            found[move] = norms[shown].min()
    return found


def norm_of_changes(found, matrix, metric):
    vector = np.zeros(matrix.shape[1], dtype=int)
    vector[list(found.changes)] = list(found.changes.values())
    assert not (matrix @ vector).any()
    return abs(vector).sum() if metric == "l1" else (vector**2).sum()


@pytest.mark.parametrize("metric", ["l1", "squared l2"])
@pytest.mark.parametrize("seed", range(25))
def test_all_distances_agree_with_an_enumeration(seed, metric):
    """Random totals of up to 6 cells; a distance of 2 RADIUS has entries of at most RADIUS."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 2, (rng.integers(1, 5), rng.integers(3, 7)))
    invariants, wanted = Invariants(matrix), brute_force(matrix, metric)
    nearest, farthest = nearest_move(invariants, metric), farthest_move(invariants, metric)
    if not wanted:
        assert nearest is farthest is None
        return
    assert nearest.value == min(wanted.values())
    assert farthest.value == max(wanted.values())
    for found in (nearest, farthest):
        assert norm_of_changes(found, matrix, metric) == found.value
    for move in wanted:
        assert move_distance(invariants, *move, metric).value == wanted[move]


@pytest.mark.parametrize(
    ("shape", "held", "nearest", "farthest", "squared"),
    [
        ((2, 2), [(0,), (1,)], 4, 4, 4),
        ((2, 3), [(0,), (1,)], 4, 8, 12),
        ((2, 9), [(0,), (1,)], 4, 8, 8),
        ((30, 40), [(0,), (1,)], 4, 6, 6),
        ((2, 2, 2), TWO_WAY, 8, 8, 8),
        ((9, 9, 9), TWO_WAY, 8, 12, 12),
        ((3, 4, 2, 5), [(0, 1), (1, 2), (2, 3), (3, 0)], 4, 8, 8),
        ((2, 3, 2, 3), [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)], 16, 32, 40),
        ((6,), [()], 2, 2, 2),
    ],
)
def test_tables_with_all_combinations(shape, held, nearest, farthest, squared):
    """The nearest tables differ along the axes of the smallest margin that is not held."""
    order = np.random.default_rng(1).permutation(np.prod(shape))
    invariants = Invariants(Invariants.margins(shape, held).sparse[:, order])
    for metric in ("l1", "squared l2"):
        assert nearest_move(invariants, metric).value == nearest
    assert farthest_move(invariants).value == farthest
    assert farthest_move(invariants, "squared l2").value == squared


@pytest.mark.parametrize("missing", range(4))
def test_shortest_vectors_of_a_table_with_missing_cells_are_found_by_programs(missing):
    """Without a cell, no axes are found; the distances of the other cells stay the same."""
    matrix = np.delete(Invariants.margins((3, 3, 3), TWO_WAY).matrix, missing, axis=1)
    found = nearest_move(Invariants(matrix))
    assert (found.value, found.method) == (8, "integer programming")


@pytest.mark.parametrize("length", [2, 3, 7])
def test_the_distance_of_sparse_margins_is_the_length_of_the_shortest_cycle(length):
    cells = [*pairwise([k // 2 + length * (k % 2) for k in range(2 * length)])]
    cells += [(2 * length - 1, 0)]
    matrix = np.zeros((2 * length, 2 * length), dtype=int)
    for cell, (first, second) in enumerate(cells):
        matrix[[first, second], cell] = 1
    found = nearest_move(Invariants(matrix))
    assert (found.value, found.method) == (2 * length, "shortest cycle")


@pytest.mark.parametrize(
    ("labels", "nearest", "farthest"),
    [("aabb", 2, 4), ("aab", 2, 2), ("abc", None, None), ([None, "a", "a"], 2, 3)],
)
def test_disjoint_totals(labels, nearest, farthest):
    """Within a total one person moves alone; across two totals another person moves back."""
    invariants = Invariants.partition(labels)
    assert [getattr(f(invariants), "value", None) for f in (nearest_move, farthest_move)] == [
        nearest,
        farthest,
    ]


def test_a_person_can_arrive_only_if_the_number_of_people_is_not_held():
    assert move_distance(Invariants.total(3), None, 0) is None
    two_totals = Invariants([[1, 1, 0], [0, 1, 1]])
    assert move_distance(two_totals, None, 0).changes == {0: 1, 1: -1, 2: 1}


def test_a_search_that_is_too_large_gives_bounds():
    rng = np.random.default_rng(1)
    found = nearest_move(Invariants(rng.integers(0, 2, (16, 210))))
    assert 3 <= found.lower < found.upper
    assert norm_of_changes(found, np.zeros((0, 210), dtype=int), "l1") == found.upper
    again = nearest_move(Invariants(np.random.default_rng(1).integers(0, 2, (16, 210))))
    assert found == again
    assert MoveDistance(3, 8, {}, "").value is None
