"""Totals by kind at all levels at once, with what is known of the smallest regions (TDA).

The slides' "Minimal Schema": where invariants concern few attributes, the table of these alone is
estimated for all levels in one least squares problem, and rounded in one linear programme. Any
table that comes out has regions below it, so that nothing needs to be implied and nothing can fail;
the other attributes are added afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy
from scipy.sparse import coo_array, csr_array

from isdp.constraints.presence import Presence
from isdp.errors import InputError
from isdp.topdown.controlled_rounding import WHOLE, whole_and_remainder
from isdp.topdown.least_squares import minimize_by_admm
from isdp.topdown.projections import project_onto_simplices


class RegionTree:
    """Sums of nested regions, and least squares under a weight for each level's sums.

    Parameters
    ----------
    parents : sequence of int array
        For each level but the first, the number of each region's parent in the level above.
    weights : sequence of float
        One over the variance of each level's measurements, from the top level down; positive in
        the last.
    """

    def __init__(self, parents: Sequence, weights: Sequence[float]):
        self.parents = [np.asarray(each, dtype=np.int64) for each in parents]
        self.weights = [float(weight) for weight in weights]
        if len(self.weights) != len(self.parents) + 1 or self.weights[-1] <= 0:
            raise InputError("minimal schema: give each level a weight, the last a positive one")
        self.up = [_summing(each) for each in self.parents]

    def sums(self, table) -> list[np.ndarray]:
        """Sum a table of the smallest regions to all levels, from the top down."""
        levels = [table]
        for up in reversed(self.up):
            levels.insert(0, up @ levels[0])
        return levels

    def pulled(self, measured: Sequence) -> np.ndarray:
        """Put the measurements of all levels back on the smallest regions, weighted."""
        pull = self.weights[0] * np.asarray(measured[0], dtype=float)
        for parent, weight, each in zip(self.parents, self.weights[1:], measured[1:], strict=True):
            pull = pull[parent] + weight * np.asarray(each, dtype=float)
        return pull

    def solve(self, right, ridge: float) -> np.ndarray:
        """Solve (sum of weight times G'G over the levels, plus the ridge) h = right.

        G sums the smallest regions to a level. Each level adds a multiple of a matrix of ones to
        each of its regions, so that the inverse follows level by level (Sherman and Morrison): on
        the way up each region hands on the sums of its solution and of the answer to ones, on the
        way down the sum that it then has.
        """
        last = self.weights[-1] + ridge
        sums, ones = [right / last], [np.full(len(right), 1 / last)]
        for up, weight in zip(reversed(self.up), reversed(self.weights[:-1]), strict=True):
            reach = up @ ones[0]
            ones.insert(0, reach / (1 + weight * reach))
            sums.insert(0, (up @ sums[0]) / (1 + weight * reach)[:, None])
        pressure = np.zeros_like(sums[0])
        for depth, parent in enumerate(self.parents):
            total = sums[depth] - pressure * ones[depth][:, None]
            pressure = (pressure + self.weights[depth] * total)[parent]
        return (right - pressure) / last


def _summing(parent) -> csr_array:
    number = int(parent.max()) + 1
    ones = np.ones(len(parent))
    return coo_array((ones, (parent, np.arange(len(parent)))), shape=(number, len(parent))).tocsr()


def estimate_all_levels(
    rng: np.random.Generator, measured: Sequence, tree: RegionTree, presence: Presence
) -> np.ndarray:
    """Estimate totals by kind of all levels together, in whole numbers.

    Parameters
    ----------
    rng : numpy.random.Generator
        For ties of the rounding.
    measured : sequence of array, each of shape (regions, kinds)
        Noisy totals by kind, from the top level down.
    presence : Presence
        Totals, kinds present and least numbers of the smallest regions.

    Returns
    -------
    int64 array, shape (smallest regions, kinds)
        Each entry, and each sum of a region above, within 1 of the best point over the reals.

    Raises
    ------
    InputError
        If shapes do not fit together, or the estimation does not come to rest.
    """
    shapes = [np.shape(each) for each in measured]
    if shapes[-1] != presence.present.shape or len(shapes) != len(tree.weights):
        raise InputError(f"minimal schema: measurements of shapes {shapes} do not fit the regions")
    below = tree.sums(presence.least.astype(float))
    beyond = [each - least for each, least in zip(measured, below, strict=True)]
    return presence.least + _round(rng, _best(tree, tree.pulled(beyond), presence), tree, presence)


def _best(tree: RegionTree, pull, presence: Presence) -> np.ndarray:
    """Alternate least squares and projections onto each region's simplex (ADMM)."""

    def project(table):
        points = np.where(presence.present, table, -np.inf)
        return project_onto_simplices(points.T, presence.caps).T

    widest = tree.sums(np.ones((len(pull), 1)))[0].max()  # smallest regions in one at the top
    return minimize_by_admm(
        lambda step, push: tree.solve(pull + push, step),
        project,
        tree.solve(pull, 0.0),
        tree.weights[-1] * float(np.sqrt(widest)),
        balance=False,
    )


def _round(rng: np.random.Generator, table, tree: RegionTree, presence: Presence) -> np.ndarray:
    """Round at the least sum of changes over all levels, each at most 1, regions' totals kept.

    People flow from the smallest regions through their kinds up the levels, so that the equations
    are those of a network, and a vertex of the programme is whole.
    """
    floor, part = whole_and_remainder(table)
    if not part.any():
        return floor
    for candidates in (part > 0, presence.present):
        found, (j, k) = _programme(rng, floor, part, candidates, tree, presence.caps)
        if found.status == 0:
            break
    else:
        raise InputError(f"minimal schema: no rounding was found ({found.message.strip()})")
    up = found.x[: len(j)]
    if len(j) and np.abs(up - np.rint(up)).max() > WHOLE:
        raise InputError("minimal schema: the rounding's vertex is not whole")
    whole = floor.copy()
    whole[j, k] += np.rint(up).astype(np.int64)
    if (whole.sum(axis=1) != presence.caps).any() or whole.min(initial=0) < 0:
        raise InputError("minimal schema: the rounded table does not keep the regions' totals")
    return whole


def _programme(rng, floor, part, candidates, tree: RegionTree, caps):
    """Build and solve the programme; its variables are the smallest regions' entries first."""
    j, k = np.nonzero(candidates)
    order = rng.permutation(len(j))  # ties fall at random
    j, k = j[order], k[order]
    kinds, regions = floor.shape[1], len(floor)
    rows, columns, entries = [j], [np.arange(len(j))], [np.ones(len(j))]
    cost, sides, used, width = [1 - 2 * part[j, k]], [caps - floor.sum(axis=1)], regions, len(j)
    real, whole = tree.sums(floor + part), tree.sums(floor)
    # `member` and `number`: in which region of the level above, and which variable, each flow is
    member, kind, number = tree.parents[-1][j] if tree.parents else None, k, np.arange(len(j))
    for depth in reversed(range(len(tree.parents))):
        low = np.floor(real[depth])
        share = (real[depth] - low).ravel()
        nodes = used + member * kinds + kind
        arcs = width + np.arange(low.size)
        rows += [nodes, used + np.arange(low.size)]
        columns += [number, arcs]
        entries += [np.ones(len(nodes)), -np.ones(low.size)]
        cost.append(1 - 2 * share)
        sides.append((low - whole[depth]).ravel())
        used, width, number = used + low.size, width + low.size, arcs
        if depth:
            member = np.repeat(tree.parents[depth - 1], kinds)
            kind = np.tile(np.arange(kinds), len(low))
            whole[depth - 1] = tree.up[depth - 1] @ low
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
