"""Cells with equal columns are found whatever the entries, against a plain dictionary."""

import numpy as np

from isdp import Invariants
from isdp.constraints.invariants import find_cell_classes


def test_cells_are_grouped_by_their_columns():
    rng = np.random.default_rng(11)
    for _ in range(300):
        shape = rng.integers(0, 5), rng.integers(1, 40)
        matrix = rng.integers(-2, 3, shape) * (rng.random(shape) < 0.6)
        kind, first = find_cell_classes(Invariants(matrix))
        groups = {}
        wanted = [groups.setdefault(column.tobytes(), len(groups)) for column in matrix.T.copy()]
        assert kind.tolist() == wanted
        assert first.tolist() == [wanted.index(group) for group in range(len(groups))]


def test_columns_that_share_their_first_entries_are_told_apart():
    kind, first = find_cell_classes(Invariants([[1, 1, 1, 1], [0, 1, 1, 1], [0, 0, 2, 2**40]]))
    assert kind.tolist() == first.tolist() == [0, 1, 2, 3]
