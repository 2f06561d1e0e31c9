"""Projection of noisy tables onto invariants and inequalities.

SciPy solves linear and integer programs by HiGHS, and nonnegative least squares by the algorithm of
Lawson and Hanson.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import null_space
from scipy.sparse import block_diag, hstack

from isdp.constraints.contradictions import irreducible_conflict
from isdp.constraints.invariants import Invariants
from isdp.constraints.polytope import TIME_LIMIT, Polytope
from isdp.errors import InputError

DRAWS_PER_PROGRAM = 100
NEGLIGIBLE = 1e-9  # maximum relative residual that counts as zero
MAX_COSINE = 1e-7  # maximum cosine between a residual and a constraint that counts as orthogonal


def nearest_l1(
    noise: ArrayLike, invariants: Invariants, *, integer: bool = False
) -> NDArray[np.int64] | NDArray[np.float64]:
    """Project `noise` onto the vectors u with A u = 0 in the l1 norm.

    The noise has shape (cells,) or (draws, cells). The result has the same shape. It is int64 if
    `integer`, and float64 otherwise.

    The source is *Integer Subspace Differential Privacy*, Appendix E.4. The linear program
    minimizes sum(added + taken) subject to A (noise + added - taken) = 0, where `added` and `taken`
    are nonnegative. The solution is rarely unique. HiGHS returns a vertex of the set of solutions,
    and the vertex depends on this formulation.

    Parameters
    ----------
    integer : bool
        Solve an integer program instead of a linear program.

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
    """Solve one program with one block per draw, because the setup takes longer than solving."""
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
            # a positive relative gap of the sum over all draws may exceed one person
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
            f"projection: HiGHS found no nearest vector ({found.message.strip()}). Check the "
            f"invariants"
        )
    added, taken = found.x.reshape(len(draws), 2, -1).transpose(1, 0, 2)
    if integer:
        added, taken = np.round(added).astype(np.int64), np.round(taken).astype(np.int64)
    nearest: NDArray[np.float64] = draws + added - taken
    return nearest


def corrected_cell(noise: ArrayLike, nearest: ArrayLike) -> int:
    """Return the only cell that a projection changed, -1 for no cell, or -2 for several cells."""
    cells = np.flatnonzero(np.asarray(noise) != nearest)
    return -2 if len(cells) > 1 else int(cells[0]) if len(cells) else -1


def correct_one_cell(noise: ArrayLike, cell: ArrayLike) -> NDArray[np.int64]:
    """Project noise onto a total of zero by a change of one cell of each draw.

    The noise has shape (draws, cells), and `cell` is an integer or has shape (draws,). A vector is
    nearest in the l1 norm if all its corrections have the same sign and sum to the excess of the
    total. A correction of one cell is a vertex of this set.
    """
    corrected = np.array(noise)
    corrected[np.arange(len(corrected)), np.asarray(cell)] -= corrected.sum(axis=1)
    return corrected


def correct_evenly(rng: np.random.Generator, noise: ArrayLike) -> NDArray[np.int64]:
    """Project noise onto a total of zero by corrections that differ by at most 1.

    The noise has shape (draws, cells). The correction of each cell is the excess divided by the
    number of cells and rounded down. Random cells receive the remaining units. The result is
    nearest in the l1 norm.
    """
    noise = np.asarray(noise)
    cells = noise.shape[1]
    excess = noise.sum(axis=1)
    quotient, rest = np.divmod(np.abs(excess), cells)
    order = rng.permuted(np.broadcast_to(np.arange(cells), noise.shape), axis=1)
    correction = quotient[:, None] + (order < rest[:, None])
    corrected: NDArray[np.int64] = noise - np.sign(excess)[:, None] * correction
    return corrected


def nearest_l2(table: ArrayLike, polytope: Polytope) -> NDArray[np.float64]:
    """Project tables of shape (cells,) or (tables, cells) onto a polytope in the l2 norm.

    The source is Gong and Meng (2020), Section 3. Within the affine space of the equalities, this
    is a least distance problem. Lawson and Hanson reduce it to nonnegative least squares.

    Raises
    ------
    InputError
        If the polytope is empty, or the solver does not find the nearest table.
    """
    table = np.asarray(table)
    a = polytope.equalities.matrix.astype(float)
    residual = polytope.totals - np.atleast_2d(table) @ a.T
    found = np.atleast_2d(table) + np.linalg.lstsq(a, residual.T, rcond=None)[0].T
    if not np.allclose(found @ a.T, polytope.totals):
        raise InputError("projection: the equalities contradict each other. Check the totals")
    free = null_space(a) if len(a) else np.eye(polytope.cells)
    b = polytope.inequalities.matrix.astype(float)
    lower_bounds = polytope.lower_bounds - found @ b.T
    for row in np.flatnonzero((lower_bounds > 0).any(axis=1)):
        found[row] += free @ _shortest_vector(b @ free, lower_bounds[row], polytope)
    nearest: NDArray[np.float64] = found.reshape(table.shape)
    return nearest


def _shortest_vector(
    matrix: NDArray[np.float64], lower_bounds: NDArray[np.float64], polytope: Polytope
) -> NDArray[np.float64]:
    """Find the shortest z with ``matrix @ z >= lower_bounds``.

    Error messages name rows of `polytope`.
    """
    unit = np.abs(lower_bounds).max()  # SciPy's solver can stop too early for unscaled counts
    system = np.vstack([matrix.T, lower_bounds / unit])
    goal = np.zeros(len(system))
    goal[-1] = 1
    weights, _ = scipy.optimize.nnls(system, goal)
    residual = system @ weights - goal
    if np.linalg.norm(residual) < NEGLIGIBLE:
        raise InputError(
            f"projection: these constraints contradict each other. Correct one of them: "
            f"{'; '.join(irreducible_conflict(polytope))}"
        )
    sizes = np.maximum(np.linalg.norm(system, axis=0), NEGLIGIBLE) * np.linalg.norm(residual)
    slopes = system.T @ residual / sizes
    if slopes.min() < -MAX_COSINE or np.abs(slopes[weights > 0]).max(initial=0) > MAX_COSINE:
        raise InputError(
            "projection: least squares did not find the nearest table. Scale the constraints to "
            "similar magnitudes, or give fewer of them"
        )
    shift: NDArray[np.float64] = -unit * residual[:-1] / residual[-1]
    return shift
