"""Which cells follow from the others under equalities, and how: in whole numbers, exactly."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from flint import fmpq_mat, fmpz_mat

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError


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
    equalities : Invariants
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
        are dependent, the totals contradict each other, or the solution is not whole.
    """
    cells = equalities.cells
    solved = [int(cell) for cell in solved]
    if len(set(solved)) != len(solved) or not all(0 <= cell < cells for cell in solved):
        raise InputError(
            f"solve: the solved cells {solved} must be different cells from 0 to {cells - 1}"
        )
    dense = [[int(x) for x in row] for row in equalities.matrix]
    rank = fmpz_mat(dense).rank() if dense else 0
    free = [cell for cell in range(cells) if cell not in set(solved)]
    ours = [[row[cell] for cell in solved] for row in dense]
    if len(solved) != rank or (rank and fmpz_mat(ours).rank() != rank):
        found = fmpz_mat(ours).rank() if ours and solved else 0
        raise InputError(
            f"solve: {len(solved)} solved cells {solved} whose columns have rank {found}, "
            f"but the equalities have rank {rank}; choose {rank} cells with independent columns"
        )
    if not rank:
        if any(int(total) for total in totals):
            raise InputError("solve: a total over no cell is not zero")
        return np.zeros(0, np.int64), np.zeros((0, len(free)), np.int64)
    # exact, and dependent rows do no harm in the normal equations
    left = fmpq_mat(fmpz_mat(ours))
    normal = left.transpose() * left
    right = fmpq_mat(
        fmpz_mat(
            [
                [int(total), *(-row[cell] for cell in free)]
                for row, total in zip(dense, totals, strict=True)
            ]
        )
    )
    solution = normal.solve(left.transpose() * right)
    if left * solution != right:
        raise InputError(
            "solve: the equalities depend on each other, and their totals disagree; "
            "check the totals"
        )
    offset = np.empty(rank, dtype=np.int64)
    matrix = np.empty((rank, len(free)), dtype=np.int64)
    for i, cell in enumerate(solved):
        for j in range(1 + len(free)):
            value = solution[i, j]
            if value.denominator != 1:
                raise InputError(
                    f"solve: cell {cell} would be solved in fractions, with denominator "
                    f"{value.denominator}; choose other solved cells, or let them be found"
                )
            if j:
                matrix[i, j - 1] = int(value)
            else:
                offset[i] = int(value)
    return offset, matrix
