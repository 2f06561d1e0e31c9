"""Which of two trees is taken, the order of the second one, and bounds on their coordinates."""

from itertools import permutations, product

import numpy as np
import pytest

from isdp import Invariants
from isdp.exact.elimination.tree import build_forest

SOUGHT, IN_TURN = "sought", "in turn"


@pytest.mark.parametrize(("shape", "most"), [((3, 9), 2), ((9, 3), 2), ((4, 4), 3), ((4, 6), 3)])
def test_a_table_has_one_sum_less_open_than_its_shorter_side(shape, most):
    layout = build_forest(Invariants.margins(shape), 1, by_totals=True)
    (tree,) = layout.trees
    assert max(len(node.scale) for node in tree) == most
    assert sorted(node.cell for node in tree if node.cell >= 0) == list(range(shape[0] * shape[1]))


def cycles():
    """Noise of a 3 x 3 table around a cycle of 4 or 6 cells: the corners of all of length 1."""
    for size in (2, 3):
        for rows, columns in product(permutations(range(3), size), repeat=2):
            table = np.zeros((3, 3))
            table[rows, columns] = 1 / (2 * size)
            table[rows, np.roll(columns, 1)] = -1 / (2 * size)
            yield table.ravel()


def test_scales_are_the_largest_coordinates_of_noise_of_length_one():
    (tree,) = build_forest(Invariants.margins((3, 3)), 1).trees
    largest = [np.zeros(len(node.scale)) for node in tree]
    for noise in cycles():
        found = []
        for node, most in zip(tree, largest, strict=True):
            if node.cell >= 0:
                found.append(np.array([noise[node.cell] / node.gap]))
            else:
                both = np.concatenate([found[node.left], found[node.right]])
                split = np.hstack([node.given, node.free])
                found.append(np.linalg.lstsq(split, both)[0][: len(node.scale)])
            np.maximum(most, np.abs(found[-1]), out=most)
    assert max(len(node.scale) for node in tree) > 1
    for node, most in zip(tree, largest, strict=True):
        assert node.scale == pytest.approx(most)
