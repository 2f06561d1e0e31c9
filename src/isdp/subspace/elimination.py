"""Exact linear algebra on integer matrices: ranks, independent rows, kernels, components."""

from __future__ import annotations

import numpy as np
from flint import fmpz_mat
from scipy.sparse import block_array, csr_array
from scipy.sparse.csgraph import connected_components

from isdp.constraints.invariants import Invariants, cell_types
from isdp.errors import InputError
from isdp.lattice.elimination import pivot_columns

LARGEST_DENSE = 10_000_000  # entries of a matrix that is eliminated exactly


def distinct_columns(matrix: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Group the equal columns of a sparse integer matrix.

    Returns
    -------
    kind : int64 array, shape (columns,)
        Number of each column's group, from 0, in the order of their first columns.
    first : int64 array, shape (groups,)
        First column of each group.
    """
    return cell_types(Invariants(matrix))


def row_components(matrix: csr_array) -> np.ndarray:
    """Group the rows that share a column, directly or through others.

    Returns
    -------
    int array, shape (rows,)
    """
    graph = block_array([[None, matrix], [matrix.T, None]], format="csr")
    return connected_components(graph, directed=False)[1][: matrix.shape[0]]


def independent_rows(matrix: csr_array) -> np.ndarray:
    """Choose rows that form a basis of the row space, exactly; the first ones that will do.

    Rows of different components are independent, so each component is eliminated by itself, and
    equal columns count once.

    Parameters
    ----------
    matrix : csr_array of int64, shape (rows, columns)

    Returns
    -------
    int64 array, ascending; its length is the rank

    Raises
    ------
    InputError
        If a component is too large to eliminate exactly.
    """
    matrix = matrix[:, distinct_columns(matrix)[1]]
    component = row_components(matrix)
    alone = np.bincount(component)[component] == 1
    lonely = np.flatnonzero(alone & (np.diff(matrix.indptr) > 0))
    others = np.flatnonzero(~alone)
    order = others[np.argsort(component[others], kind="stable")]
    groups = np.split(order, np.flatnonzero(np.diff(component[order])) + 1)
    chosen = [rows[_pivots(matrix[rows])] for rows in groups if len(rows)]
    return np.sort(np.concatenate([lonely, *chosen]).astype(np.int64))


def rank(matrix: csr_array) -> int:
    """Rank of a sparse integer matrix, found exactly."""
    return len(independent_rows(matrix))


def integer_kernel(matrix: csr_array) -> np.ndarray:
    """Integer vectors that span {c : matrix c = 0}, one a row.

    Returns
    -------
    int64 array, shape (columns - rank, columns)

    Raises
    ------
    InputError
        If the matrix is too large, or an entry leaves int64.
    """
    vectors, nullity = _flint(matrix).nullspace()
    rows = [[int(vectors[i, j]) for i in range(matrix.shape[1])] for j in range(nullity)]
    reduced = [np.array(row, dtype=object) // (np.gcd.reduce(row) or 1) for row in rows]
    return np.array(reduced, dtype=np.int64).reshape(nullity, matrix.shape[1])


def _pivots(rows: csr_array) -> np.ndarray:
    """Positions of the first rows that span all of them.

    Over the reals the rows of C C' depend on each other just as the rows of C do.
    """
    _refuse_large(rows.shape[0], rows.shape[0])
    largest = int(abs(rows.data).max(initial=0))
    if largest**2 * rows.shape[1] < 2**62:
        return pivot_columns((rows @ rows.T).toarray())
    exact = rows.toarray().astype(object)
    return pivot_columns(exact @ exact.T)


def _flint(matrix: csr_array) -> fmpz_mat:
    _refuse_large(*matrix.shape)
    return fmpz_mat(*matrix.shape, [int(x) for x in matrix.toarray().ravel()])


def _refuse_large(rows: int, columns: int) -> None:
    if rows * columns > LARGEST_DENSE:
        raise InputError(
            f"subspace: {rows} x {columns} entries that hang together are too many to eliminate "
            f"exactly (up to {LARGEST_DENSE}); split or thin the invariants"
        )
