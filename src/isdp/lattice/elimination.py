"""Exact elimination: which cells follow from the others under equalities, and how.

All of it is in whole numbers over one denominator, by python-flint; nothing is rounded.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from flint import fmpz, fmpz_mat
from scipy.sparse import block_array, csr_array
from scipy.sparse.csgraph import connected_components

from isdp.constraints.invariants import INT64_MAX, Invariants, find_cell_classes
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
        The least positive number that makes the form whole.
    """

    rows: np.ndarray
    pivots: np.ndarray
    denominator: int


class DeterminedCells(NamedTuple):
    """How some cells of every vector u with A u = 0 follow from the others.

    ``u[cells] = weights @ u[free] / denominator``, where ``u[free]`` may be any numbers.

    Attributes
    ----------
    cells : int64 array, shape (rank,)
    free : int64 array, shape (all cells - rank,)
    weights : object array of int, shape (rank, all cells - rank)
    denominator : int
        Positive.
    """

    cells: np.ndarray
    free: np.ndarray
    weights: np.ndarray
    denominator: int


def row_reduce(matrix) -> Echelon:
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
    rows, denominator = np.array(entries, dtype=object), int(denominator)
    common = math.gcd(denominator, *rows.flat) * (1 if denominator > 0 else -1)
    return Echelon(rows // common, (rows != 0).argmax(axis=1), denominator // common)


def pivot_columns(matrix) -> np.ndarray:
    """Find the first columns that do not depend on those before them, as `row_reduce` does.

    The form itself is not turned into Python's numbers, which takes longer than to find it.

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


def _rref(matrix: np.ndarray) -> tuple[fmpz_mat, fmpz, int]:
    """Reduced form, denominator of either sign, and rank."""
    return fmpz_mat(matrix.tolist()).rref()


def solve_determined(matrix, order=None) -> DeterminedCells:
    """Solve A u = 0 for the first independent cells, exactly.

    Parameters
    ----------
    matrix : int or object array_like, shape (equalities, cells)
    order : int array, shape (cells,), optional
        The order in which the cells are looked at, and in which the free ones are returned; by
        default as they stand.

    Examples
    --------
    >>> cells, free, weights, denominator = solve_determined([[1, 1, 1]])
    >>> cells.tolist(), free.tolist(), weights.tolist(), denominator
    ([0], [1, 2], [[-1, -1]], 1)
    """
    matrix = np.asarray(matrix)
    order = np.arange(matrix.shape[1]) if order is None else np.asarray(order)
    rows, pivots, denominator = row_reduce(matrix[:, order])
    free = np.delete(np.arange(len(order)), pivots)
    return DeterminedCells(order[pivots], order[free], -rows[:, free], denominator)


def unit_cells(equalities: Invariants) -> np.ndarray:
    """Find cells that can be solved from the others in whole numbers.

    Rows are eliminated one by one by an entry of 1 or -1; its cell is solved.

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
                f"solve: {name!r} has no cell that the others give in whole numbers; name "
                f"the solved cells yourself, or use the lattice walk"
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


def solve_for(equalities: Invariants, totals, solved) -> tuple[np.ndarray, np.ndarray]:
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
        If the cells are not as many as the rank of A, do not stand for themselves, their columns
        are dependent, the totals contradict each other, or the solution is not whole or leaves
        64 bits.
    """
    cells = equalities.cells
    solved = [int(cell) for cell in solved]
    if len(set(solved)) != len(solved) or not all(0 <= cell < cells for cell in solved):
        raise InputError(
            f"solve: the solved cells {solved} must be different cells from 0 to {cells - 1}"
        )
    # A u - a v = 0, where v is 1: a further cell, the last to be solved for
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


def _whole_solution(found: DeterminedCells) -> tuple[np.ndarray, np.ndarray]:
    """Offset, which stands last among the free cells, and weights of the others, as int64."""
    table = np.roll(found.weights, 1, axis=1)
    broken = np.argwhere(table % found.denominator != 0)
    if len(broken):
        row, column = broken[0]
        value = Fraction(table[row, column], found.denominator)
        raise InputError(
            f"solve: cell {found.cells[row]} would be solved in fractions, with denominator "
            f"{value.denominator}; choose other solved cells, or let them be found"
        )
    table = table // found.denominator
    if abs(table).max(initial=0) > INT64_MAX:
        raise InputError("solve: the solution leaves 64-bit integers; simplify the equalities")
    return table[:, 0].astype(np.int64), table[:, 1:].astype(np.int64)


def independent_rows(matrix: csr_array) -> np.ndarray:
    """Choose rows that form a basis of the row space, exactly: the first independent ones.

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


def _first_spanning(rows: csr_array) -> np.ndarray:
    """Find the positions of the first rows that span all of them.

    Over the reals the rows of C C' depend on each other just as the rows of C do.
    """
    _refuse_large(rows.shape[0], rows.shape[0])
    largest = int(abs(rows.data).max(initial=0))
    if largest**2 * rows.shape[1] < 2**62:
        return pivot_columns((rows @ rows.T).toarray())
    exact = rows.toarray().astype(object)
    return pivot_columns(exact @ exact.T)


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
    _refuse_large(*matrix.shape)
    entries = [int(x) for x in matrix.toarray().ravel()]
    vectors, nullity = fmpz_mat(*matrix.shape, entries).nullspace()
    rows = [[int(vectors[i, j]) for i in range(matrix.shape[1])] for j in range(nullity)]
    reduced = [np.array(row, dtype=object) // (np.gcd.reduce(row) or 1) for row in rows]
    return np.array(reduced, dtype=np.int64).reshape(nullity, matrix.shape[1])


def _refuse_large(rows: int, columns: int) -> None:
    if rows * columns > MAX_DENSE_ENTRIES:
        raise InputError(
            f"subspace: {rows} x {columns} entries that share columns are too many to eliminate "
            f"exactly (up to {MAX_DENSE_ENTRIES}); split or thin the invariants"
        )
