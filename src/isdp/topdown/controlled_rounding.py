"""Controlled rounding: integer tables with given sums, in which no cell changes by more than 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.sparse import coo_array

from isdp.arrays import BoolArray, FloatArray, IntArray
from isdp.errors import InputError

INTEGER_TOLERANCE = 1e-6  # maximum rounding error of a count, in persons
RELATIVE_TOLERANCE = 64 * np.finfo(float).eps  # additional tolerance, relative to the count
VERTEX_TOLERANCE = 1e-6  # maximum distance of a solution of the linear program from 0 or 1


@dataclass(frozen=True)
class Rounded:
    """A rounded table and statistics of the rounding."""

    table: IntArray
    cost: float  # sum of the absolute changes, in persons
    variables: int  # number of cells that were not integers
    off_whole: float  # maximum distance of a solution of the linear program from integers


def round_tables(
    rng: np.random.Generator,
    table: ArrayLike,
    cell_sums: IntArray | None = None,
    child_sums: IntArray | None = None,
    ties: ArrayLike | None = None,
) -> Rounded:
    """Round a table to integers with given sums and the minimum sum of absolute changes.

    No cell changes by more than 1. With cell sums or child sums alone, the largest remainders are
    rounded up. With both sums, the rounding is a linear program over the incidence matrix of a
    bipartite graph. This matrix is totally unimodular, so the vertices are integers. The dual
    simplex method returns a vertex. Ties are broken at random.

    Raise `InputError` if the sums of the table differ from the given sums by more than rounding
    errors.

    Parameters
    ----------
    table : float array, shape (children, cells)
    cell_sums : int array, shape (cells,), optional
    child_sums : int array, shape (children,), optional
        At least one of the two sums is required.
    ties : float array, shape (children, cells), optional
        Priority among equal remainders. By default it is drawn at random. It has no effect if both
        sums are given.
    """
    table = np.asarray(table, dtype=float)
    floor, part = split_off_remainders(table)
    # large counts may have lost their remainder to rounding, and may therefore decrease by one
    lowered = (part == 0) & (RELATIVE_TOLERANCE * floor > INTEGER_TOLERANCE)
    order = rng.random(table.shape) if ties is None else np.asarray(ties)
    missing_in_child = None if child_sums is None else child_sums - floor.sum(axis=1)
    missing_in_cell = None if cell_sums is None else cell_sums - floor.sum(axis=0)
    off = 0.0
    if missing_in_child is not None and missing_in_cell is not None:
        up, off = _programme(rng, part, lowered, missing_in_child, missing_in_cell)
    elif missing_in_cell is not None:
        up = _largest_remainders(part, lowered, missing_in_cell, order)
    elif missing_in_child is not None:
        up = _largest_remainders(part.T, lowered.T, missing_in_child, order.T).T
    else:
        raise InputError(
            "topdown: cell_sums: rounding needs cell_sums or child_sums. Give one or both."
        )
    rounded = floor + up
    return Rounded(rounded, float(np.abs(rounded - table).sum()), int((part > 0).sum()), off)


def split_off_remainders(table: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return integer parts and remainders, and round remainders that are close to 0 or 1."""
    nearest = np.rint(table)
    near = np.abs(table - nearest) <= INTEGER_TOLERANCE + RELATIVE_TOLERANCE * np.abs(table)
    floor = np.where(near, nearest, np.floor(table))
    return floor.astype(np.int64), np.where(near, 0.0, table - floor)


def _largest_remainders(
    part: FloatArray, lowered: BoolArray, missing: IntArray, ties: FloatArray
) -> IntArray:
    """Round up the largest remainders of each column until the column has the given sum.

    If a column exceeds its sum, cells of `lowered` decrease by one.
    """
    excess = np.maximum(-missing, 0)
    if (excess > lowered.sum(axis=0)).any() or (missing > len(part)).any():
        raise InputError(
            "topdown: table: the sums of the table differ from the given sums. Correct the sums."
        )
    # `ties` are numbers below 1 and sort equal remainders
    key = np.rint(part / INTEGER_TOLERANCE) + ties
    order = np.argsort(-key, axis=0)
    up = np.zeros(part.shape, dtype=np.int64)
    places = np.arange(len(part))[:, None]
    np.put_along_axis(up, order, (places < missing).astype(np.int64), axis=0)
    if excess.any():
        order = np.argsort(-np.where(lowered, ties, -1), axis=0)
        down = np.zeros_like(up)
        np.put_along_axis(down, order, (places < excess).astype(np.int64), axis=0)
        up -= down
    return up


def _programme(
    rng: np.random.Generator,
    part: FloatArray,
    lowered: BoolArray,
    rows: IntArray,
    columns: IntArray,
) -> tuple[IntArray, float]:
    """Compute changes with given row and column sums, and their distance from integers.

    Variables and equations are shuffled, so the choice among optimal vertices does not depend on
    the order of the cells. Cells of `lowered` decrease by one only if no other solution exists.
    """
    everywhere = np.ones(part.shape, dtype=bool)
    nowhere = np.zeros(part.shape, dtype=bool)
    for candidates, down in ((part > 0, nowhere), (everywhere, nowhere), (everywhere, lowered)):
        j, x = (
            np.concatenate(ends)
            for ends in zip(np.nonzero(candidates), np.nonzero(down), strict=True)
        )
        sign = np.repeat([1, -1], [candidates.sum(), down.sum()])
        if not len(j):
            if rows.any() or columns.any():
                continue
            return np.zeros(part.shape, dtype=np.int64), 0.0
        order = rng.permutation(len(j))
        j, x, sign = j[order], x[order], sign[order]
        cost = 1 - 2 * part[j, x]  # 1 for a cell that decreases, because its remainder is 0
        found = _solve_programme(rng, cost, j, x, sign, rows, columns)
        if found.status == 0:
            break
    else:
        raise InputError(
            f"topdown: table: no rounding has the given sums ({found.message.strip()}). Correct "
            f"the sums."
        )
    rounded = np.rint(found.x)
    off = float(np.abs(found.x - rounded).max())
    if off > VERTEX_TOLERANCE:
        raise InputError(
            f"topdown: table: rounded counts differ by {off:.2g} from integers. Use smaller counts."
        )
    up = np.zeros(part.shape, dtype=np.int64)
    np.add.at(up, (j, x), sign * rounded.astype(np.int64))
    return up, off


def _solve_programme(
    rng: np.random.Generator,
    cost: FloatArray,
    j: IntArray,
    x: IntArray,
    sign: IntArray,
    rows: IntArray,
    columns: IntArray,
) -> scipy.optimize.OptimizeResult:
    """Solve the program, in which variable i is the change sign[i] of cell (j[i], x[i])."""
    equations = np.concatenate([j, len(rows) + x])
    matrix = coo_array(
        (np.tile(sign.astype(float), 2), (equations, np.tile(np.arange(len(j)), 2))),
        shape=(len(rows) + len(columns), len(j)),
    ).tocsr()
    order = rng.permutation(matrix.shape[0])
    right = np.concatenate([rows, columns]).astype(float)
    return scipy.optimize.linprog(
        cost, A_eq=matrix[order], b_eq=right[order], bounds=(0, 1), method="highs-ds"
    )
