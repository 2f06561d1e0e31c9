"""Array types for annotations, and distinct columns of integers."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def distinct_columns(*rows: IntArray) -> tuple[IntArray, IntArray]:
    """Find the distinct columns of a matrix that is given by its rows.

    The hash tables of pandas are many times as fast as the sort of `numpy.unique` along an axis.

    Returns
    -------
    columns : int64 array, shape (rows, distinct columns)
        The columns in the order of their first occurrence.
    index : int64 array, shape (columns,)
        The index of each column in `columns`.
    """
    index = np.zeros(len(rows[0]), dtype=np.int64)
    for row in rows:
        codes, values = pd.factorize(row)
        index = pd.factorize(index * len(values) + codes)[0]
    first = first_occurrences(index)
    return np.array([row[first] for row in rows], dtype=np.int64), index


def first_occurrences(index: IntArray) -> IntArray:
    """Find the first occurrence of 0, 1, 2 and so on, which must be in this order."""
    return np.flatnonzero(np.diff(np.maximum.accumulate(index), prepend=-1))
