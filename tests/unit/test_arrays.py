"""Distinct columns of integers, against NumPy."""

import numpy as np
import pytest

from isdp.arrays import distinct_columns


@pytest.mark.parametrize("shape", [(1, 0), (3, 0), (1, 9), (2, 200), (3, 1000)])
@pytest.mark.parametrize("largest", [1, 3, 2**62])
def test_distinct_columns_are_those_of_numpy(shape, largest):
    rows = np.random.default_rng(1).integers(-largest, largest, shape)
    columns, index = distinct_columns(*rows)
    assert np.array_equal(columns[:, index], rows)
    assert np.array_equal(np.unique(columns, axis=1), np.unique(rows, axis=1))
    assert len(np.unique(columns, axis=1).T) == len(columns.T)
