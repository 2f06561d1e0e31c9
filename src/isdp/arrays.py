"""Array types for annotations, and distinct columns of integers."""

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
    columns = np.zeros((0, 1), dtype=np.int64)
    for row in rows:
        codes, values = pd.factorize(row)
        index, keys = pd.factorize(index * len(values) + codes)
        before, code = np.divmod(keys, len(values))
        columns = np.vstack([columns[:, before], values[code]])
    return columns, index
