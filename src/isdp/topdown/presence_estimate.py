"""Joint estimate of the group totals of all levels, with known presence in the smallest regions.

The method is the "Minimal Schema" of the slides *The TopDown algorithm and invariants* (TDA). If
invariants concern few attributes, the table of these attributes is estimated for all levels in one
least squares problem. One linear program rounds the estimate. Tables of the regions below with
these totals always exist, so implied constraints are not needed. The other attributes are estimated
afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array

from isdp.arrays import BoolArray, FloatArray, IntArray
from isdp.constraints.presence import Presence
from isdp.errors import InputError
from isdp.topdown.controlled_rounding import VERTEX_TOLERANCE, split_off_remainders
from isdp.topdown.least_squares import minimize_by_admm
from isdp.topdown.projections import project_onto_simplices


class RegionTree:
    """Sums over nested regions, and weighted least squares for the sums of all levels.

    Parameters
    ----------
    parents : sequence of int array
        The number of the parent of each region, for each level except the first.
    weights : sequence of float
        Inverse variance of the measurements of each level, from the top level down. The last
        weight is positive.
    """

    def __init__(self, parents: Sequence[ArrayLike], weights: Sequence[float]):
        self.parents = [np.asarray(each, dtype=np.int64) for each in parents]
        self.weights = [float(weight) for weight in weights]
        if len(self.weights) != len(self.parents) + 1 or self.weights[-1] <= 0:
            raise InputError(
                "minimal schema: weights: each level needs a weight, and the last weight must be "
                "positive"
            )
        self.summing = [_summing(each) for each in self.parents]

    def sums(self, table: NDArray[Any]) -> list[NDArray[Any]]:
        """Sum a table of the smallest regions to every level, and list them from the top down."""
        levels = [table]
        for up in reversed(self.summing):
            levels.insert(0, up @ levels[0])
        return levels

    def weighted_measurements(self, measured: Sequence[ArrayLike]) -> FloatArray:
        """Compute the sum of w G'y over the levels, with weights w and measurements y.

        The matrix G of a level sums the smallest regions to that level.
        """
        total: FloatArray = self.weights[0] * np.asarray(measured[0], dtype=float)
        for parent, weight, each in zip(self.parents, self.weights[1:], measured[1:], strict=True):
            total = total[parent] + weight * np.asarray(each, dtype=float)
        return total

    def solve(self, right: FloatArray, ridge: float) -> FloatArray:
        """Solve the equations (sum of w G'G over the levels + ridge I) h = right for h.

        Each level adds a multiple of a matrix of ones for each of its regions. The Sherman-Morrison
        formula gives the inverse, level by level. The upward pass sums the solutions for `right`
        and for a vector of ones. The downward pass distributes the sums.
        """
        last = self.weights[-1] + ridge
        sums, ones = [right / last], [np.full(len(right), 1 / last)]
        for up, weight in zip(reversed(self.summing), reversed(self.weights[:-1]), strict=True):
            total_ones = up @ ones[0]
            ones.insert(0, total_ones / (1 + weight * total_ones))
            sums.insert(0, (up @ sums[0]) / (1 + weight * total_ones)[:, None])
        correction = np.zeros_like(sums[0])
        for depth, parent in enumerate(self.parents):
            total = sums[depth] - correction * ones[depth][:, None]
            correction = (correction + self.weights[depth] * total)[parent]
        return np.asarray((right - correction) / last)


def _summing(parent: IntArray) -> csr_array:
    number = int(parent.max()) + 1
    ones = np.ones(len(parent))
    return coo_array((ones, (parent, np.arange(len(parent)))), shape=(number, len(parent))).tocsr()


def estimate_all_levels(
    rng: np.random.Generator, measured: Sequence[FloatArray], tree: RegionTree, presence: Presence
) -> IntArray:
    """Estimate integer group totals of all levels in one problem.

    The noisy group totals `measured` have shape (regions, groups) for each level, from the top
    level down. `presence` has the totals, the present groups and the minimum counts of the smallest
    regions. The generator breaks ties of the rounding.

    The result has shape (smallest regions, groups). Each entry differs by at most 1 from the
    optimum over the reals. The same holds for the sums of the regions above. Raise `InputError` if
    the shapes do not fit each other, or the estimation does not converge.
    """
    shapes = [np.shape(each) for each in measured]
    if shapes[-1] != presence.present.shape or len(shapes) != len(tree.weights):
        raise InputError(
            f"minimal schema: measured: the shapes {shapes} do not fit the regions. Give one table "
            f"per level."
        )
    minimum = np.asarray(presence.minimums)
    sums = tree.sums(minimum.astype(float))
    beyond = [each - below for each, below in zip(measured, sums, strict=True)]
    real = _least_squares(tree, tree.weighted_measurements(beyond), presence)
    return minimum + _round(rng, real, tree, presence)


def _least_squares(tree: RegionTree, linear_term: FloatArray, presence: Presence) -> FloatArray:
    """Solve by the alternating direction method of multipliers, with projections onto simplices."""

    def project(table: FloatArray) -> FloatArray:
        points = np.where(presence.present, table, -np.inf)
        return project_onto_simplices(points.T, presence.surpluses).T

    # maximum number of smallest regions in a region of the top level
    widest = tree.sums(np.ones((len(linear_term), 1)))[0].max()
    return minimize_by_admm(
        lambda step, push: tree.solve(linear_term + push, step),
        project,
        tree.solve(linear_term, 0.0),
        tree.weights[-1] * float(np.sqrt(widest)),
        balance=False,
    )


def _round(
    rng: np.random.Generator, table: FloatArray, tree: RegionTree, presence: Presence
) -> IntArray:
    """Round with the minimum sum of absolute changes over all levels, given the regions' totals.

    No change exceeds 1. The equations are those of a network flow from the smallest regions to the
    levels above, so the vertices of the program are integers.
    """
    floor, part = split_off_remainders(table)
    if not part.any():
        return floor
    for candidates in (part > 0, presence.present):
        found, (j, k) = _programme(rng, floor, part, candidates, tree, presence.surpluses)
        if found.status == 0:
            break
    else:
        raise InputError(
            f"minimal schema: no rounding was found ({found.message.strip()}). Use another seed."
        )
    up = found.x[: len(j)]
    if len(j) and np.abs(up - np.rint(up)).max() > VERTEX_TOLERANCE:
        raise InputError("minimal schema: the rounded counts are not integers. Use another seed.")
    rounded = floor.copy()
    rounded[j, k] += np.rint(up).astype(np.int64)
    if (rounded.sum(axis=1) != presence.surpluses).any() or rounded.min(initial=0) < 0:
        raise InputError(
            "minimal schema: the rounded table does not have the regions' totals. Use another seed."
        )
    return rounded


def _programme(
    rng: np.random.Generator,
    floor: IntArray,
    part: FloatArray,
    candidates: BoolArray,
    tree: RegionTree,
    surpluses: IntArray,
) -> tuple[scipy.optimize.OptimizeResult, tuple[IntArray, IntArray]]:
    """Build and solve the linear program, and return the solution and the candidates (j, k).

    The first variables are the changes of the candidates, which are entries of region j and group
    k. The other variables are the changes of the sums of each level, from the lowest level up.
    """
    j, k = np.nonzero(candidates)
    order = rng.permutation(len(j))  # a random order breaks ties at random
    j, k = j[order], k[order]
    groups, regions = floor.shape[1], len(floor)
    rows, columns, entries = [j], [np.arange(len(j))], [np.ones(len(j))]
    cost, sides = [1 - 2 * part[j, k]], [surpluses - floor.sum(axis=1)]
    used, width = regions, len(j)
    real, rounded = tree.sums(floor + part), tree.sums(floor)
    # flow i of a level is variable number[i]. It goes to group[i] of region member[i] above
    member, group, number = tree.parents[-1][j] if tree.parents else j, k, np.arange(len(j))
    for depth in reversed(range(len(tree.parents))):
        low = np.floor(real[depth])
        share = (real[depth] - low).ravel()
        nodes = used + member * groups + group
        arcs = width + np.arange(low.size)
        rows += [nodes, used + np.arange(low.size)]
        columns += [number, arcs]
        entries += [np.ones(len(nodes)), -np.ones(low.size)]
        cost.append(1 - 2 * share)
        sides.append((low - rounded[depth]).ravel())
        used, width, number = used + low.size, width + low.size, arcs
        if depth:
            member = np.repeat(tree.parents[depth - 1], groups)
            group = np.tile(np.arange(groups), len(low))
            rounded[depth - 1] = tree.summing[depth - 1] @ low
    places = np.concatenate(rows), np.concatenate(columns)
    matrix = coo_array((np.concatenate(entries), places), shape=(used, width)).tocsr()
    found = scipy.optimize.linprog(
        np.concatenate(cost),
        A_eq=matrix,
        b_eq=np.concatenate(sides).astype(float),
        bounds=(0, 1),
        method="highs-ds",
    )
    return found, (j, k)
