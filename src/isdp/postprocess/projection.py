"""Post-processing by optimisation: the nearest vector that meets the invariants.

Linear and integer programmes are solved by HiGHS, non-negative least squares by Lawson and
Hanson's algorithm, both in scipy.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import null_space
from scipy.sparse import block_diag, hstack

from isdp.constraints.invariants import Invariants
from isdp.constraints.polytope import Polytope
from isdp.errors import InputError

TIME_LIMIT = 60  # seconds a programme
DRAWS_PER_PROGRAM = 100  # draws in one programme
NEGLIGIBLE = 1e-9  # relative residual below which least squares has met the constraints
MAX_COSINE = 1e-7  # cosine below which a residual is at right angles to a condition


def nearest_l1(
    noise: ArrayLike, invariants: Invariants, *, integer: bool = False
) -> NDArray[np.int64] | NDArray[np.float64]:
    """Find feasible noise vectors that are nearest to the given ones in the l1 norm (ISDP, E.4).

    The correction is split in what is added and what is taken away, both from zero up, and their
    sum is minimised under A (noise + added - taken) = 0. The solution is rarely unique: HiGHS
    returns a vertex of the set of solutions, and which one depends on this formulation.

    Parameters
    ----------
    noise : int array, shape (cells,) or (draws, cells)
        Draws are solved many at a time, as the blocks of one programme.
    integer : bool
        Ask for whole numbers (an integer programme instead of a linear one).

    Returns
    -------
    float64 array, or int64 with `integer`, in the shape of `noise`

    Raises
    ------
    InputError
        If the solver finds no solution.
    """
    noise = np.asarray(noise)
    draws = np.atleast_2d(noise)
    nearest: NDArray[np.int64] | NDArray[np.float64]
    nearest = np.empty(draws.shape) if not integer else np.empty(draws.shape, dtype=np.int64)
    for start in range(0, len(draws), DRAWS_PER_PROGRAM):
        part = slice(start, start + DRAWS_PER_PROGRAM)
        nearest[part] = _nearest_together(draws[part], invariants, integer)
    if integer:
        invariants.check(nearest)
    return nearest.reshape(noise.shape)


def _nearest_together(
    draws: NDArray[np.int64], invariants: Invariants, integer: bool
) -> NDArray[np.float64]:
    """Solve one programme with a block a draw: to set one up takes longer than to solve it."""
    a = invariants.sparse.astype(float)
    blocks = block_diag([hstack([a, -a], format="csr")] * len(draws), format="csr")
    target = -invariants.apply(draws).ravel()
    cost = np.ones(2 * draws.size)
    if integer:
        found = scipy.optimize.milp(
            cost,
            constraints=scipy.optimize.LinearConstraint(blocks, target, target),
            integrality=np.ones_like(cost),
            bounds=scipy.optimize.Bounds(0, np.inf),
            # a share of the sum over all draws may be more than one person
            options={"time_limit": TIME_LIMIT, "mip_rel_gap": 0},
        )
    else:
        found = scipy.optimize.linprog(
            cost,
            A_eq=blocks,
            b_eq=target,
            bounds=(0, None),
            method="highs",
            options={"time_limit": TIME_LIMIT},
        )
    if found.status != 0:
        raise InputError(
            f"projection: HiGHS found no nearest vector ({found.message.strip()}); check the "
            f"invariants"
        )
    added, taken = found.x.reshape(len(draws), 2, -1).transpose(1, 0, 2)
    if integer:
        added, taken = np.round(added).astype(np.int64), np.round(taken).astype(np.int64)
    nearest: NDArray[np.float64] = draws + added - taken
    return nearest


def corrected_cell(noise: ArrayLike, nearest: ArrayLike) -> int:
    """Cell that alone differs between noise and its projection; -1 if none does, -2 if several."""
    cells = np.flatnonzero(np.asarray(noise) != nearest)
    return -2 if len(cells) > 1 else int(cells[0]) if len(cells) else -1


def correct_one_cell(noise: ArrayLike, cell: ArrayLike) -> NDArray[np.int64]:
    """Project onto a total of zero by putting the whole correction into one cell.

    Under a single total this is a vertex of the l1-nearest vectors, over the reals and over the
    integers alike: the nearest vectors are those whose corrections all have one sign and add up
    to the excess, and the noise is whole.

    Parameters
    ----------
    noise : int64 array, shape (draws, cells)
    cell : int, or int array of shape (draws,)

    Returns
    -------
    int64 array, shape (draws, cells)
    """
    corrected = np.array(noise)
    corrected[np.arange(len(corrected)), np.asarray(cell)] -= corrected.sum(axis=1)
    return corrected


def correct_evenly(rng: np.random.Generator, noise: ArrayLike) -> NDArray[np.int64]:
    """Project onto a total of zero by sharing the correction out as evenly as whole numbers can.

    Every cell takes the same part, and what remains goes to cells at random, one person each;
    this too is nearest in the l1 norm.

    Parameters
    ----------
    noise : int64 array, shape (draws, cells)

    Returns
    -------
    int64 array, shape (draws, cells)
    """
    noise = np.asarray(noise)
    cells = noise.shape[1]
    excess = noise.sum(axis=1)
    share, rest = np.divmod(np.abs(excess), cells)
    order = rng.permuted(np.broadcast_to(np.arange(cells), noise.shape), axis=1)
    part = share[:, None] + (order < rest[:, None])
    corrected: NDArray[np.int64] = noise - np.sign(excess)[:, None] * part
    return corrected


def nearest_l2(table: ArrayLike, polytope: Polytope) -> NDArray[np.float64]:
    """Project tables onto a polytope, in the l2 norm and over the reals (CDP, Section 3).

    Within the affine space of the equalities this is a least distance problem, which Lawson and
    Hanson reduce to one of non-negative least squares.

    Parameters
    ----------
    table : array, shape (cells,) or (tables, cells)

    Returns
    -------
    float64 array, in the shape of `table`

    Raises
    ------
    InputError
        If no table lies within the polytope, or the solver ends before the nearest one.
    """
    table = np.asarray(table)
    a = polytope.equalities.matrix.astype(float)
    missed = polytope.totals - np.atleast_2d(table) @ a.T
    feet = np.atleast_2d(table) + np.linalg.lstsq(a, missed.T, rcond=None)[0].T
    if not np.allclose(feet @ a.T, polytope.totals):
        raise InputError("projection: the equalities contradict each other; check the totals")
    free = null_space(a) if len(a) else np.eye(polytope.cells)
    b = polytope.inequalities.matrix.astype(float)
    walls, least = b @ free, polytope.least - feet @ b.T
    for row in np.flatnonzero((least > 0).any(axis=1)):
        feet[row] += free @ _least_shift(walls, least[row], polytope)
    nearest: NDArray[np.float64] = feet.reshape(table.shape)
    return nearest


def _least_shift(
    walls: NDArray[np.float64], least: NDArray[np.float64], polytope: Polytope
) -> NDArray[np.float64]:
    """Find the shortest z with walls @ z >= least; if none is, `polytope` says why."""
    unit = np.abs(least).max()  # in persons SciPy's solver has stopped at a point that was not best
    system = np.vstack([walls.T, least / unit])
    goal = np.zeros(len(system))
    goal[-1] = 1
    weights, _ = scipy.optimize.nnls(system, goal)
    residual = system @ weights - goal
    if np.linalg.norm(residual) < NEGLIGIBLE:
        conflict = "; ".join(polytope.contradiction())
        raise InputError(f"projection: no table meets all conditions: {conflict}")
    sizes = np.maximum(np.linalg.norm(system, axis=0), NEGLIGIBLE) * np.linalg.norm(residual)
    slopes = system.T @ residual / sizes
    if slopes.min() < -MAX_COSINE or np.abs(slopes[weights > 0]).max(initial=0) > MAX_COSINE:
        raise InputError(
            "projection: least squares ended before the nearest table; give the conditions in "
            "numbers of one size, or fewer of them"
        )
    shift: NDArray[np.float64] = -unit * residual[:-1] / residual[-1]
    return shift
