"""The losses of moves of one person, from all differences of two small tables."""

from itertools import product

import numpy as np
import pytest


def check_moves(found, changes, losses):
    """Compare the losses of the nearest move and of a person alone, and return all nearest losses.

    `changes` are the differences of two tables, of shape (differences, cells), with their losses.
    """
    alone = np.abs(changes).sum(axis=1) == 2
    pairs = [
        min(losses[(changes[:, i] < 0) & (changes[:, j] > 0)])
        for i, j in product(range(changes.shape[1]), repeat=2)
        if i != j
    ]
    assert float(found.nearest) == pytest.approx(min(pairs))
    assert float(found.alone) == pytest.approx(losses[alone].max())
    return pairs
