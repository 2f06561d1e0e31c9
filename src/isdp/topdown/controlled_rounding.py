"""From real tables to whole ones that keep the sums and move no cell by more than one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from scipy.sparse import coo_array

from isdp.errors import InputError

SNAP = 1e-6  # persons: nearer than this to a whole number is that number
FINEST = 64 * np.finfo(float).eps  # relative, for counts so large that their digits end earlier
WHOLE = 1e-6  # how near to 0 or 1 the programme's solution must lie


@dataclass(frozen=True)
class Rounded:
    """A rounding and how it came about.

    Attributes
    ----------
    cost : float
        Sum of the absolute changes, in persons.
    variables : int
        Cells that could go either way.
    off_whole : float
        Largest distance of the linear programme's solution from a whole number; 0 where the
        rounding was in closed form.
    """

    table: np.ndarray
    cost: float
    variables: int
    off_whole: float


def round_tables(
    rng: np.random.Generator, table, cell_sums=None, child_sums=None, ties=None
) -> Rounded:
    """Round to whole numbers at the least sum of absolute changes, sums kept, no change above 1.

    With one kind of sums the largest remainders are rounded up. With both it is a linear programme
    over the incidence matrix of a bipartite graph, which is totally unimodular, so that each vertex
    is whole; the dual simplex method ends at one. Ties fall at random.

    Parameters
    ----------
    rng : numpy.random.Generator
        For ties.
    table : float array, shape (children, cells)
        Has the sums, up to rounding errors.
    cell_sums : int array, shape (cells,), optional
    child_sums : int array, shape (children,), optional
        One of the two at least.
    ties : float array, shape (children, cells), optional
        Of equal remainders with one kind of sums those with larger numbers go up; drawn by default.

    Raises
    ------
    InputError
        If the table is further from the sums than rounding errors explain.
    """
    table = np.asarray(table, dtype=float)
    floor, part = whole_and_remainder(table)
    lowered = (part == 0) & (FINEST * floor > SNAP)  # where a remainder may have been lost
    ties = rng.random(table.shape) if ties is None else np.asarray(ties)
    if child_sums is None:
        up = _largest_remainders(part, lowered, cell_sums - floor.sum(axis=0), ties)
        off = 0.0
    elif cell_sums is None:
        up = _largest_remainders(part.T, lowered.T, child_sums - floor.sum(axis=1), ties.T).T
        off = 0.0
    else:
        lacking = child_sums - floor.sum(axis=1), cell_sums - floor.sum(axis=0)
        up, off = _programme(rng, part, lowered, *lacking)
    whole = floor + up
    return Rounded(whole, float(np.abs(whole - table).sum()), int((part > 0).sum()), off)


def whole_and_remainder(table) -> tuple[np.ndarray, np.ndarray]:
    """Whole part and remainder; a remainder within the snap of 0 or 1 counts as none."""
    nearest = np.rint(table)
    near = np.abs(table - nearest) <= SNAP + FINEST * np.abs(table)
    floor = np.where(near, nearest, np.floor(table))
    return floor.astype(np.int64), np.where(near, 0.0, table - floor)


def _largest_remainders(part, lowered, lacking, ties) -> np.ndarray:
    """Round up, in each column, as many of the largest remainders as its sum lacks.

    Where it has too much, as many of the cells of `lowered` go down by one.
    """
    beyond = np.maximum(-lacking, 0)
    if (beyond > lowered.sum(axis=0)).any() or (lacking > len(part)).any():
        raise InputError("topdown: a table to round does not have the sums that it should keep")
    # remainders that differ by less than the snap are tied, and a number below 1 decides
    key = np.rint(part / SNAP) + ties
    order = np.argsort(-key, axis=0)
    up = np.zeros(part.shape, dtype=np.int64)
    places = np.arange(len(part))[:, None]
    np.put_along_axis(up, order, (places < lacking).astype(np.int64), axis=0)
    if beyond.any():
        order = np.argsort(-np.where(lowered, ties, -1), axis=0)
        down = np.zeros_like(up)
        np.put_along_axis(down, order, (places < beyond).astype(np.int64), axis=0)
        up -= down
    return up


def _programme(rng: np.random.Generator, part, lowered, rows, columns):
    """Round up so that rows and columns get what they lack; give that and its distance to whole.

    Variables and equations are shuffled, so that which of several best vertices the solver ends at
    does not depend on the order of the cells. Where counts have so many digits that remainders were
    lost, the cells of `lowered` may go down by one in the end.
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
        cost = 1 - 2 * part[j, x]  # of a cell that goes down 1, as its remainder is 0
        found = _solve_programme(rng, cost, j, x, sign, rows, columns)
        if found.status == 0:
            break
    else:
        raise InputError(f"topdown: the rounding has no solution ({found.message.strip()})")
    whole = np.rint(found.x)
    off = float(np.abs(found.x - whole).max())
    if off > WHOLE:
        raise InputError(f"topdown: the rounding's vertex is not whole, but off by {off:.2g}")
    up = np.zeros(part.shape, dtype=np.int64)
    np.add.at(up, (j, x), sign * whole.astype(np.int64))
    return up, off


def _solve_programme(rng, cost, j, x, sign, rows, columns):
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
