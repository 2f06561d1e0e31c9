"""Shortest vectors of a kernel lattice with given signs of two entries, by integer programming."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.sparse import csc_array, hstack

Metric = Literal["l1", "squared l2"]

MAX_PROGRAM_ENTRY = 2**20  # larger entries of A exceed the tolerances of HiGHS
TOLERANCE = 1e-6
MAX_NODES = 500  # of branch and bound; a time limit would make results irreproducible
INFEASIBLE = 2  # the status of an infeasible program in scipy.optimize.milp


class ShortestVector(NamedTuple):
    """The result of a search for the shortest vector.

    Attributes
    ----------
    lower : int or None
        A proved lower bound of the norm, or None if there is no vector within the cutoff.
    vector : int64 array, shape (columns,), or None
        The shortest vector that was found.
    branched : bool
        True if branch and bound followed a linear relaxation with a fractional solution.
    """

    lower: int | None
    vector: NDArray[np.int64] | None
    branched: bool


def shortest_vector(
    a: csc_array,
    sizes: NDArray[np.int64],
    up: int,
    down: int | None = None,
    *,
    metric: Metric = "l1",
    cutoff: int | None = None,
    arrival: bool = False,
    branch: bool = True,
) -> ShortestVector:
    """Find the shortest integer vector u with A u = 0, u[up] >= 1 and u[down] <= -1.

    HiGHS minimises the norm by linear programming, and by branch and bound if the solution has
    fractions. An entry of u is the sum over the cells of a class. These cells share the sum as
    equally as possible.

    Parameters
    ----------
    a : csc_array of int64, shape (constraints, columns)
    sizes : int array, shape (columns,)
        Number of cells in the class of each column. It is 1 for the columns `up` and `down`.
    metric : {"l1", "squared l2"}
        "squared l2" needs a cutoff.
    cutoff : int, optional
        The maximum norm of a vector.
    arrival : bool
        True if the sum of the entries must be 1 or more.
    branch : bool
        True if branch and bound may be used.
    """
    columns = a.shape[1]
    # the squared norm of k persons in c cells grows by 1 for each of the first c, then by 3, 5, ...
    steps = 1 if metric == "l1" else max(1, math.isqrt(cutoff or 0))
    cost = np.repeat(2.0 * np.arange(steps) + 1, 2 * columns)
    low = np.zeros(2 * columns * steps)
    limits = np.full(columns, np.inf) if metric == "l1" else sizes.astype(float)
    high = np.tile(limits, 2 * steps)
    low[up] = 1  # the increases of all columns come first, then the decreases, for each step
    high[columns + up :: 2 * columns] = 0
    if down is not None:
        low[columns + down] = 1
        high[down :: 2 * columns] = 0
    both = hstack([a, -a]).astype(float)
    constraints = [scipy.optimize.LinearConstraint(hstack([both] * steps), 0, 0)]
    if cutoff is not None:
        constraints.append(scipy.optimize.LinearConstraint(cost[None, :], -np.inf, cutoff))
    if arrival:
        people = np.tile(np.repeat([1.0, -1.0], columns), steps)
        constraints.append(scipy.optimize.LinearConstraint(people[None, :], 1, np.inf))
    lower = 1 if down is None else 2
    for integer in (False, True)[: 1 + branch]:
        found = scipy.optimize.milp(
            cost,
            constraints=constraints,
            integrality=np.full(len(cost), integer),
            bounds=scipy.optimize.Bounds(low, high),
            options={"node_limit": MAX_NODES},
        )
        if found.status == INFEASIBLE:
            return ShortestVector(None, None, integer)
        bound = found.mip_dual_bound if integer else found.fun
        if bound is not None and math.isfinite(bound):
            lower = max(lower, math.ceil(bound - TOLERANCE))
        if found.x is not None and abs(found.x - np.round(found.x)).max() < TOLERANCE:
            parts = np.round(found.x).astype(np.int64).reshape(steps, 2, columns).sum(axis=0)
            vector = parts[0] - parts[1]
            if not (a @ vector).any() and vector[up] >= 1 and (down is None or vector[down] <= -1):
                return ShortestVector(lower, vector, integer)
    return ShortestVector(lower, None, branch)


def norm_of(vector: NDArray[np.int64], sizes: NDArray[np.int64], metric: Metric) -> int:
    """Return the norm of a vector whose entries are shared equally by the cells of classes."""
    if metric == "l1":
        return int(abs(vector).sum())
    each, rest = np.divmod(abs(vector), sizes)
    return int((sizes * each**2 + rest * (2 * each + 1)).sum())
