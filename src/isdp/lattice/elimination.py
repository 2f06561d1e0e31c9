"""Exact Gaussian elimination by python-flint, in integers over a common denominator."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from flint import fmpz, fmpz_mat
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import block_array, csr_array
from scipy.sparse.csgraph import connected_components

from isdp.checks import INT64_MAX
from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError

MAX_DENSE_ENTRIES = 10_000_000  # maximum number of entries of a dense matrix


class Echelon(NamedTuple):
    """Reduced row echelon form of a matrix over the rationals.

    Attributes
    ----------
    rows : object array of int, shape (rank, columns)
        The form multiplied by `denominator`. The first nonzero entry of row i is `denominator` in
        column ``pivots[i]``. The other rows have 0 in this column.
    pivots : int64 array, shape (rank,)
        The columns that do not depend linearly on the columns before them, in ascending order.
    denominator : int
        The smallest positive number for which `rows` are integers.
    """

    rows: NDArray[np.object_]
    pivots: NDArray[np.int64]
    denominator: int


class DeterminedCells(NamedTuple):
    """Solution of A u = 0 in which the free cells determine the others.

    The solution is ``u[cells] = weights @ u[free] / denominator`` for all values of ``u[free]``.

    Attributes
    ----------
    cells : int64 array, shape (rank,)
    free : int64 array, shape (all cells - rank,)
    weights : object array of int, shape (rank, all cells - rank)
    denominator : int
        Positive.
    """

    cells: NDArray[np.int64]
    free: NDArray[np.int64]
    weights: NDArray[np.object_]
    denominator: int


def row_reduce(matrix: ArrayLike) -> Echelon:
    """Compute the reduced row echelon form of an integer matrix exactly.

    Examples
    --------
    >>> row_reduce([[2, 4, 6], [1, 2, 5]]).rows.tolist()
    [[1, 2, 0], [0, 0, 1]]
    """
    matrix = np.asarray(matrix)
    if not matrix.any():
        return Echelon(np.zeros((0, matrix.shape[1]), object), np.zeros(0, np.int64), 1)
    reduced, denominator, rank = _rref(matrix)
    entries = [[int(entry) for entry in row] for row in reduced.tolist()[:rank]]
    rows, scale = np.array(entries, dtype=object), int(denominator)
    common = math.gcd(scale, *rows.flat) * (1 if scale > 0 else -1)
    return Echelon(rows // common, (rows != 0).argmax(axis=1), scale // common)


def pivot_columns(matrix: ArrayLike) -> NDArray[np.int64]:
    """Find the columns that do not depend linearly on the columns before them.

    The result has shape (rank,) in ascending order. The function is faster than `row_reduce`,
    because it does not convert the form to Python integers.
    """
    matrix = np.asarray(matrix)
    pivots, column = [], -1
    if matrix.any():
        reduced, _, rank = _rref(matrix)
        for row in range(rank):
            column += 1
            while reduced[row, column] == 0:
                column += 1
            pivots.append(column)
    return np.array(pivots, dtype=np.int64)


def _rref(matrix: NDArray[np.int64] | NDArray[np.object_]) -> tuple[fmpz_mat, fmpz, int]:
    """Return the reduced form, its denominator and the rank. The denominator may be negative."""
    return fmpz_mat(matrix.tolist()).rref()


def solve_determined(matrix: ArrayLike, order: ArrayLike | None = None) -> DeterminedCells:
    """Solve A u = 0 exactly for the first cells with linearly independent columns.

    The cells of the result are in the given order, which is ascending by default.

    Examples
    --------
    >>> cells, free, weights, denominator = solve_determined([[1, 1, 1]])
    >>> cells.tolist(), free.tolist(), weights.tolist(), denominator
    ([0], [1, 2], [[-1, -1]], 1)
    """
    matrix = np.asarray(matrix)
    cells = np.arange(matrix.shape[1]) if order is None else np.asarray(order)
    rows, pivots, denominator = row_reduce(matrix[:, cells])
    free = np.delete(np.arange(len(cells)), pivots)
    return DeterminedCells(cells[pivots], cells[free], -rows[:, free], denominator)


def unit_cells(equalities: Invariants) -> NDArray[np.int64]:
    """Find cells whose noise is an integer combination of the noise of the other cells.

    Elimination uses an entry of 1 or -1 as the pivot of each row. The cells of the pivots are the
    result, in ascending order. Raise `InputError` if no entry of a row is 1 or -1 after elimination
    by the rows before it.
    """
    matrix = equalities.sparse
    rows = [
        dict(zip(matrix.indices[i:j].tolist(), matrix.data[i:j].tolist(), strict=True))
        for i, j in pairwise(matrix.indptr)
    ]
    found = []
    for position, name in enumerate(equalities.names):
        row = rows[position]
        if not row:
            continue  # the row is a combination of the rows before it
        units = [cell for cell, value in row.items() if abs(value) == 1]
        if not units:
            raise InputError(
                f"solve: the equality {name!r} determines no cell in integers. Give the solved "
                f"cells, or use isdp.mcmc.LatticeWalk"
            )
        pivot = min(units)
        found.append(pivot)
        for other in rows[position + 1 :]:
            factor = other.get(pivot, 0) * row[pivot]
            if factor:
                for cell, value in row.items():
                    other[cell] = other.get(cell, 0) - factor * value
                    if other[cell] == 0:
                        del other[cell]
    return np.array(sorted(found), dtype=np.int64)


def solve_for(
    equalities: Invariants, totals: Iterable[int], solved: Iterable[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Solve A u = a exactly for given cells, where a is the vector of the totals.

    The solution is ``u[solved] = offset + matrix @ u[free]``. Its parts, `offset` of shape (rank,)
    and `matrix` of shape (rank, cells - rank), are int64.

    Raise `InputError` if the totals contradict each other, or the solution does not consist of
    64-bit integers. The error is also raised if the columns of the solved cells are not a basis of
    the column space of A.
    """
    cells = equalities.cells
    solved = [int(cell) for cell in solved]
    if len(set(solved)) != len(solved) or not all(0 <= cell < cells for cell in solved):
        raise InputError(
            f"solve: the solved cells {solved} must be distinct cells from 0 to {cells - 1}"
        )
    # solve A u - a v = 0 with an additional cell v = 1, which is last in the order
    last = np.array([-int(total) for total in totals], dtype=object).reshape(-1, 1)
    free = np.setdiff1d(np.arange(cells), solved)
    found = solve_determined(
        np.hstack([equalities.matrix.astype(object), last]),
        np.array([*solved, *free, cells], dtype=np.int64),
    )
    first, rank = np.isin(found.cells, solved).sum(), (found.cells < cells).sum()
    if not first == rank == len(solved):
        raise InputError(
            f"solve: the {len(solved)} solved cells {solved} have columns of rank {first}, and the "
            f"equalities have rank {rank}. Choose {rank} cells with independent columns"
        )
    if len(found.cells) > rank:
        raise InputError("solve: the totals contradict each other. Check the totals")
    # the weight of the additional cell is the offset
    table = np.roll(found.weights, 1, axis=1)
    fractions = np.argwhere(table % found.denominator != 0)
    if len(fractions):
        row, column = fractions[0]
        value = Fraction(table[row, column], found.denominator)
        raise InputError(
            f"solve: the solution of cell {found.cells[row]} has the denominator "
            f"{value.denominator}. Choose other solved cells, or omit them"
        )
    table = table // found.denominator
    if abs(table).max(initial=0) > INT64_MAX:
        raise InputError("solve: the solution exceeds 64-bit integers. Simplify the equalities")
    return table[:, 0].astype(np.int64), table[:, 1:].astype(np.int64)


def independent_rows(matrix: csr_array) -> NDArray[np.int64]:
    """Find the rows that do not depend linearly on the rows before them.

    The result has shape (rank,) in ascending order. Rows of different connected components are
    independent. Each component is therefore eliminated separately, and equal columns are used once.
    Raise `InputError` if a component is too large for exact elimination.
    """
    matrix = matrix[:, find_cell_classes(Invariants(matrix))[1]]
    graph = block_array([[None, matrix], [matrix.T, None]], format="csr")
    component = connected_components(graph, directed=False)[1][: matrix.shape[0]]
    is_single = np.bincount(component)[component] == 1
    single = np.flatnonzero(is_single & (np.diff(matrix.indptr) > 0))
    others = np.flatnonzero(~is_single)
    order = others[np.argsort(component[others], kind="stable")]
    groups = np.split(order, np.flatnonzero(np.diff(component[order])) + 1)
    chosen = [rows[_independent_rows_of(matrix[rows])] for rows in groups if len(rows)]
    return np.sort(np.concatenate([single, *chosen]).astype(np.int64))


def _independent_rows_of(rows: csr_array) -> NDArray[np.int64]:
    """Find the independent rows of C as the pivot columns of C C^T."""
    _refuse_large(rows.shape[0], rows.shape[0])
    largest = int(abs(rows.data).max(initial=0))
    if largest**2 * rows.shape[1] < 2**62:
        return pivot_columns((rows @ rows.T).toarray())
    exact = rows.toarray().astype(object)
    return pivot_columns(exact @ exact.T)


def integer_kernel(matrix: csr_array) -> NDArray[np.int64]:
    """Return integer vectors that span the null space {c : matrix c = 0} over the rationals.

    The vectors are the rows of an array of shape (columns - rank, columns).
    Raise `InputError` if the matrix is too large for exact elimination, and `OverflowError` if an
    entry of a vector exceeds 64-bit integers.
    """
    _refuse_large(*matrix.shape)
    rows, columns = matrix.shape
    entries = [int(x) for x in matrix.toarray().ravel()]
    vectors, nullity = fmpz_mat(rows, columns, entries).nullspace()
    kernel = [[int(vectors[i, j]) for i in range(columns)] for j in range(nullity)]
    reduced = [np.array(row, dtype=object) // (np.gcd.reduce(row) or 1) for row in kernel]
    return np.array(reduced, dtype=np.int64).reshape(nullity, columns)


def _refuse_large(rows: int, columns: int) -> None:
    if rows * columns > MAX_DENSE_ENTRIES:
        raise InputError(
            f"invariants: exact elimination of {rows} x {columns} entries exceeds the limit of "
            f"{MAX_DENSE_ENTRIES} entries. Use fewer invariants"
        )
