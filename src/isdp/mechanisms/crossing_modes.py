"""Covariance of crossing noise, in the eigen-modes of the tree of the groups.

Let n_k be the size of the sets of level k of the groups. The sets of a level that has a term have
equal sizes, so that the matrices of their totals commute. Mode k contains the vectors that are
constant on the sets of level k. These vectors add up to zero on the sets of level k - 1. In this
mode, the energy is that of a nested family of the regions. Level i of the regions has the precision
w_ik, which is the sum of n_j / sigma_ij^2 over the levels j >= k. A total that is held has an
infinite precision.

Two passes over the tree compute the variances. The upward pass computes W, the variance of a node
given only the nodes below it. It uses 1 / W = w + 1 / (sum of W over the children). The downward
pass computes the variance V = W (1 - W / T) + (W / T)^2 V(parent). Here T is the sum of W over all
children of the parent.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.mechanisms.base import CrossingEnergy
from isdp.mechanisms.set_tree import SetTree


def held_levels(regions: SetTree, groups: SetTree, invariants: Invariants) -> NDArray[np.bool_]:
    """Find the pairs of levels whose totals the invariants hold.

    Returns
    -------
    bool array, shape (levels of the regions, levels of the groups)
        True if all totals of the pair are held. Held totals of smaller sets imply the totals of the
        sets that contain them.

    Raises
    ------
    InputError
        If the numbers of cells differ, or an invariant is not a total of a pair of levels whose
        totals are all held.
    """
    shape = regions.cells, groups.cells
    if invariants.cells != regions.cells * groups.cells:
        raise InputError(
            f"invariants: they have {invariants.cells} cells, and the family has {shape[0]} "
            f"regions of {shape[1]} cells. Use the same cells in both"
        )
    a = invariants.sparse
    rows = np.flatnonzero(np.diff(a.indptr))  # a row without cells holds no total
    starts, sizes = a.indptr[:-1][rows], np.diff(a.indptr)[rows]
    held = np.zeros((len(regions.levels), len(groups.levels)), dtype=bool)
    if not len(rows):
        return held
    equal = _equal_in_rows(a.data, starts)
    region, group = a.indices // shape[1], a.indices % shape[1]
    found = np.zeros((*held.shape, len(rows)), dtype=bool)
    regions_at, groups_at = _ancestors(regions), _ancestors(groups)
    for i, level in enumerate(regions_at):
        for j, other in enumerate(groups_at):
            region_sets, group_sets = level[region[starts]], other[group[starts]]
            full = equal & (sizes == regions.sizes[region_sets] * groups.sizes[group_sets])
            if full.any():
                full &= _equal_in_rows(level[region], starts)
                full &= _equal_in_rows(other[group], starts)
            found[i, j] = full
            sets = np.unique(region_sets[full] * groups.nodes + group_sets[full])
            held[i, j] = len(sets) == len(regions.by_depth[i]) * len(groups.by_depth[j])
    for axis in (0, 1):  # the totals of smaller sets imply those of larger sets
        held = np.flip(np.logical_or.accumulate(np.flip(held, axis), axis=axis), axis)
    explained = found[held].any(axis=0)
    if not explained.all():
        row = invariants.names[rows[np.argmin(explained)]]
        raise InputError(
            f"invariants: {row!r} is not one of the totals of all sets of a pair of levels. Hold "
            f"all totals of these levels"
        )
    return held


def _equal_in_rows(values: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    equal: NDArray[np.bool_] = np.minimum.reduceat(values, starts) == np.maximum.reduceat(
        values, starts
    )
    return equal


def _ancestors(tree: SetTree) -> list[NDArray[np.int64]]:
    """List the node of each level, from the root on, that contains each cell."""
    node, found = np.arange(tree.cells), []
    for _ in tree.levels:
        found.append(node)
        node = tree.parents[node]
    return found[::-1]


def ordered_levels(tree: SetTree) -> list[NDArray[np.int64]]:
    """List the nodes of each level, sorted by the position of their parents."""
    rank = np.zeros(tree.nodes + 1, dtype=np.int64)
    found = []
    for nodes in tree.by_depth:
        nodes = nodes[np.argsort(rank[tree.parents[nodes]], kind="stable")]
        rank[nodes] = np.arange(len(nodes))
        found.append(nodes)
    return found


class CrossingModes:
    """Conditional variances W of all nodes of the regions, in each mode of the groups.

    Parameters
    ----------
    held : bool array, shape (levels of the regions, levels of the groups)
        The result of `held_levels`.

    Attributes
    ----------
    sizes : list of int
        The number n_k of cells of a set of each level of the groups that has a term.
    shape_of : int64 array, shape (nodes of the regions,)
        Nodes of equal shape have equal trees of descendants.
    variances : float64 array, shape (nodes of the regions, modes)
        W in double precision, and 0 if the total is held.
    """

    def __init__(self, energy: CrossingEnergy, held: NDArray[np.bool_]):
        self.regions, self.groups, self.held = energy.regions, energy.groups, held
        self.sizes: list[int] = [int(self.groups.sizes[nodes[0]]) for nodes in self.groups.by_depth]
        self.precisions = [
            [
                sum((n * p for n, p in zip(self.sizes[k:], row[k:], strict=True)), Fraction(0))
                for k in range(len(row))
            ]
            for row in energy.precisions
        ]
        self.shape_of = np.zeros(self.regions.nodes, dtype=np.int64)
        # the level of each shape, and the pairs (shape, number) of its children
        self._shapes: list[tuple[int, list[tuple[int, int]]]] = []
        self._exact: dict[tuple[int, int], Fraction] = {}
        for level in range(len(self.regions.levels) - 1, -1, -1):
            self._add_level(level)
        self.variances = self._compute_variances()[self.shape_of]

    def _add_level(self, level: int) -> None:
        """Find the shapes of the nodes of a level from those of their children."""
        if level == len(self.regions.levels) - 1:
            self._shapes.append((level, []))
            return
        children, n_shapes = self.regions.by_depth[level + 1], len(self._shapes)
        keys, counts = np.unique(
            self.regions.parents[children] * n_shapes + self.shape_of[children], return_counts=True
        )
        parents, starts = np.unique(
            keys // n_shapes, return_index=True
        )  # the parents are all nodes of the level
        content = np.stack([keys % n_shapes, counts], axis=1)
        known: dict[bytes, int] = {}
        for parent, (start, stop) in zip(
            parents.tolist(), pairwise([*starts.tolist(), len(keys)]), strict=True
        ):
            key = content[start:stop].tobytes()
            if key not in known:
                known[key] = len(self._shapes)
                self._shapes.append((level, [(s, n) for s, n in content[start:stop].tolist()]))
            self.shape_of[parent] = known[key]

    def _compute_variances(self) -> NDArray[np.float64]:
        """Compute W of each shape and mode, shape (shapes, modes)."""
        precisions = np.array([[float(p) for p in row] for row in self.precisions])
        found = np.zeros((len(self._shapes), len(self.sizes)))
        for shape, (level, children) in enumerate(self._shapes):
            free, own = ~self.held[level], precisions[level].copy()
            if children:
                shapes, counts = np.array(children).T
                own[free] += 1 / (counts @ found[shapes])[free]
            found[shape, free] = 1 / own[free]
        return found

    def exact_variance(self, node: int, k: int) -> Fraction:
        """Compute W of a node of the regions in mode k exactly."""
        wanted = [int(self.shape_of[node])]
        while wanted:
            level, children = self._shapes[wanted[-1]]
            missing = [shape for shape, _ in children if (shape, k) not in self._exact]
            if missing and not self.held[level, k]:
                wanted += missing
                continue
            variance = Fraction(0)
            if not self.held[level, k]:
                sums = sum((n * self._exact[shape, k] for shape, n in children), Fraction(0))
                variance = 1 / (self.precisions[level][k] + (1 / sums if children else 0))
            self._exact[wanted.pop(), k] = variance
        return self._exact[int(self.shape_of[node]), k]

    def query_variances(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Compute the variance of a weighted sum of cells for each node of the regions.

        See `isdp.mechanisms.crossing.CrossingGaussian.query_variances`.
        """
        if weights.shape != (self.groups.cells,) or not np.isfinite(weights).all():
            raise InputError(f"weights: give {self.groups.cells} finite numbers, one per column")
        # the squared norms of the projections of the weights on the modes
        norms = [
            float(np.square(np.bincount(nodes, weights)).sum() / n)
            for nodes, n in zip(_ancestors(self.groups), self.sizes, strict=True)
        ]
        return self._marginal_variances() @ np.diff(norms, prepend=0.0)

    def _marginal_variances(self) -> NDArray[np.float64]:
        """Compute the variance V of each node and mode, as an array of shape (nodes, modes)."""
        tree, marginal = self.regions, self.variances.copy()
        for nodes in tree.by_depth[1:]:
            parents, own = tree.parents[nodes], self.variances[nodes]
            sums = np.zeros_like(marginal)
            np.add.at(sums, parents, own)
            share = np.divide(own, sums[parents], out=np.zeros_like(own), where=own > 0)
            marginal[nodes] = own * (1 - share) + share**2 * marginal[parents]
        return marginal
