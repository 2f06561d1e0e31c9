"""Exact elimination: the cells that equalities determine from the others.

All computations use integers over one denominator (python-flint); nothing is rounded.
"""

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

MAX_DENSE_ENTRIES = 10_000_000  # entries of a matrix that is eliminated exactly


class Echelon(NamedTuple):
    """Reduced row echelon form of a matrix over the rationals.

    Attributes
    ----------
    rows : object array of int, shape (rank, columns)
        The form times `denominator`: row i has `denominator` in column ``pivots[i]``, where all
        others have 0, and nothing to the left of it.
    pivots : int64 array, shape (rank,), increasing
        The first columns that do not depend on those before them.
    denominator : int
        The smallest positive number that makes the form integer.
    """

    rows: NDArray[np.object_]
    pivots: NDArray[np.int64]
    denominator: int


class DeterminedCells(NamedTuple):
    """The solution of A u = 0 for some cells.

    ``u[cells] = weights @ u[free] / denominator`` for any numbers ``u[free]``.

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
    """Bring a matrix of integers to reduced row echelon form, exactly.

    Parameters
    ----------
    matrix : int or object array_like, shape (rows, columns)

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
    """Find the first columns that do not depend on those before them, as `row_reduce` does.

    The function does not convert the form to Python integers, which would take most of the time.

    Parameters
    ----------
    matrix : int or object array_like, shape (rows, columns)

    Returns
    -------
    int64 array, shape (rank,), increasing
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
    """Return the reduced form, its denominator of either sign, and the rank."""
    return fmpz_mat(matrix.tolist()).rref()


def solve_determined(matrix: ArrayLike, order: ArrayLike | None = None) -> DeterminedCells:
    """Solve A u = 0 for the first independent cells, exactly.

    Parameters
    ----------
    matrix : int or object array_like, shape (equalities, cells)
    order : int array, shape (cells,), optional
        The order in which cells are solved for, and in which the free cells are returned. The
        default is increasing order.

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
    """Find cells that can be solved from the others in integers.

    Each row is eliminated by an entry of 1 or -1, and the cell of the entry is solved.

    Returns
    -------
    int64 array, shape (rank,), increasing

    Raises
    ------
    InputError
        If some row has no such entry left.
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
            continue  # it follows from the rows before
        units = [cell for cell, value in row.items() if abs(value) == 1]
        if not units:
            raise InputError(
                f"solve: {name!r} determines no cell from the others in integers; give the "
                f"solved cells, or use the lattice walk"
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
    """Solve A u = a for some cells, exactly: u_solved = offset + matrix @ u_free.

    Parameters
    ----------
    totals : int array, shape (equalities,)
    solved : int array, shape (rank,)

    Returns
    -------
    offset : int64 array, shape (rank,)
    matrix : int64 array, shape (rank, cells - rank)

    Raises
    ------
    InputError
        If the number of cells is not the rank of A, a cell is unknown or repeated, their columns
        are dependent, the totals contradict each other, or the solution is not integer or exceeds
        64 bits.
    """
    cells = equalities.cells
    solved = [int(cell) for cell in solved]
    if len(set(solved)) != len(solved) or not all(0 <= cell < cells for cell in solved):
        raise InputError(
            f"solve: the solved cells {solved} must be different cells from 0 to {cells - 1}"
        )
    # A u - a v = 0 for a further cell v = 1, the last to be solved for
    last = np.array([-int(total) for total in totals], dtype=object).reshape(-1, 1)
    free = np.setdiff1d(np.arange(cells), solved)
    found = solve_determined(
        np.hstack([equalities.matrix.astype(object), last]),
        np.array([*solved, *free, cells], dtype=np.int64),
    )
    first, rank = np.isin(found.cells, solved).sum(), (found.cells < cells).sum()
    if not first == rank == len(solved):
        raise InputError(
            f"solve: {len(solved)} solved cells {solved} whose columns have rank {first}, "
            f"but the equalities have rank {rank}; choose {rank} cells with independent columns"
        )
    if len(found.cells) > rank:
        raise InputError(
            "solve: the equalities depend on each other, and their totals disagree; "
            "check the totals"
        )
    return _whole_solution(found)


def _whole_solution(found: DeterminedCells) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the weight of the last free cell, as offset, and those of the others, as int64."""
    table = np.roll(found.weights, 1, axis=1)
    broken = np.argwhere(table % found.denominator != 0)
    if len(broken):
        row, column = broken[0]
        value = Fraction(table[row, column], found.denominator)
        raise InputError(
            f"solve: cell {found.cells[row]} would be solved in fractions, with denominator "
            f"{value.denominator}; choose other solved cells, or leave them out"
        )
    table = table // found.denominator
    if abs(table).max(initial=0) > INT64_MAX:
        raise InputError("solve: the solution leaves 64-bit integers; simplify the equalities")
    return table[:, 0].astype(np.int64), table[:, 1:].astype(np.int64)


def independent_rows(matrix: csr_array) -> NDArray[np.int64]:
    """Choose the first independent rows, which form a basis of the row space, exactly.

    Rows of different components are independent, so that each component is eliminated separately.
    Equal columns are used once.

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
    matrix = matrix[:, find_cell_classes(Invariants(matrix))[1]]
    graph = block_array([[None, matrix], [matrix.T, None]], format="csr")
    component = connected_components(graph, directed=False)[1][: matrix.shape[0]]
    alone = np.bincount(component)[component] == 1
    lonely = np.flatnonzero(alone & (np.diff(matrix.indptr) > 0))
    others = np.flatnonzero(~alone)
    order = others[np.argsort(component[others], kind="stable")]
    groups = np.split(order, np.flatnonzero(np.diff(component[order])) + 1)
    chosen = [rows[_first_spanning(matrix[rows])] for rows in groups if len(rows)]
    return np.sort(np.concatenate([lonely, *chosen]).astype(np.int64))


def _first_spanning(rows: csr_array) -> NDArray[np.int64]:
    """Find the positions of the first rows that span all of them.

    The rows of C C' have the same linear dependences as the rows of C.
    """
    _refuse_large(rows.shape[0], rows.shape[0])
    largest = int(abs(rows.data).max(initial=0))
    if largest**2 * rows.shape[1] < 2**62:
        return pivot_columns((rows @ rows.T).toarray())
    exact = rows.toarray().astype(object)
    return pivot_columns(exact @ exact.T)


def integer_kernel(matrix: csr_array) -> NDArray[np.int64]:
    """Return integer vectors that span {c : matrix c = 0}, one per row.

    Returns
    -------
    int64 array, shape (columns - rank, columns)

    Raises
    ------
    InputError
        If the matrix is too large, or an entry leaves int64.
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
            f"subspace: {rows} x {columns} entries that share columns exceed the limit of "
            f"{MAX_DENSE_ENTRIES} for exact elimination; use fewer invariants"
        )
