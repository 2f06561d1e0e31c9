"""Variances and covariances of the totals of nested noise.

For Gaussian energies, the recursion of least squares gives bounds in closed form. Let sigma_v^2 be
the variance of a node's own term, and W_v = 1 / (1/sigma_v^2 + 1/T_v) with T_v the sum of W over
the children. Given the total s of the parent, a child has the mean s W / T and the variance
W (1 - W / T). These are the covariances of the best linear unbiased estimate from independent
measurements. The covariance of the discrete noise is at most this, because the Hessian at 0 of the
sum of exp(-q(u - c) / 2) over the lattice, as a function of c, is not positive.

For both energies, the distributions of totals are computed by convolution.
"""

from __future__ import annotations

import math

import numpy as np

from isdp.arrays import FloatArray
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError, MisfitError
from isdp.exact.nested.messages import METHOD, Messages, shared_length
from isdp.exact.nested.reduced_tree import ReducedTree, reduce_tree
from isdp.mechanisms.base import Mechanism, NestedEnergy


class NestedAccuracy:
    """Variances and covariances of the totals of cells and sets.

    Nodes are given by their index in the mechanism's tree: the cells come first, and then the sets.
    All means are 0.

    Parameters
    ----------
    mechanism : Mechanism
        Its energy has a term for each set of a nested family, as for `NestedGaussian`.
    invariants : Invariants
        Totals that are nested with the sets.

    Raises
    ------
    InputError
        If the mechanism has another energy, the invariants are not nested with its sets, or the
        energy does not determine a distribution.

    Examples
    --------
    >>> from isdp.mechanisms import NestedGaussian, SetTree
    >>> tree = SetTree.from_columns({"region": ["a", "a", "a", "b", "b", "b"]})
    >>> noise = NestedGaussian(tree, {"region": 1, "cell": 4})
    >>> accuracy = NestedAccuracy(noise, Invariants.total(6))
    >>> round(accuracy.variance(7), 7), round(float(accuracy.variance_bounds()[7]), 7)
    (0.4596802, 0.4615385)
    """

    def __init__(self, mechanism: Mechanism, invariants: Invariants) -> None:
        energy = mechanism.set_energy
        if not isinstance(energy, NestedEnergy):
            raise MisfitError(
                f"{METHOD}: the {mechanism.name} noise has no terms for sets of cells"
            )
        self._energy: NestedEnergy = energy
        self._tree = reduce_tree(METHOD, energy, invariants)
        self._bounds: _LeastSquares | None = None
        self._messages: Messages | None = None

    def variance_bounds(self) -> FloatArray:
        """Bound the variances of all nodes of a Gaussian energy in closed form.

        Returns
        -------
        float64 array, shape (nodes,)
        """
        tree, bounds = self._tree, self._least_squares()
        found = np.append(bounds.variances, 0.0)[tree.node_of]
        cells = self._energy.tree.cells
        found[tree.order] = bounds.cell_variances()[np.repeat(np.arange(tree.blocks), tree.sizes)]
        found[:cells][tree.node_of[:cells] < 0] = 0
        return np.asarray(found)

    def covariance_bound(self, first: int, second: int) -> float:
        """Compute the least-squares covariance of two nodes of a Gaussian energy.

        The covariance matrix of any totals is at most the matrix of these numbers, in the sense of
        positive semidefinite differences.
        """
        one, other = self._path(first), self._path(second)
        if not one or not other:
            return 0.0
        return self._least_squares().covariance(one, other)

    def variance(self, node: int) -> float:
        """Compute the exact variance of a node, with a relative error of about 1e-10."""
        return self.covariance(node, node)

    def covariance(self, first: int, second: int) -> float:
        """Compute the exact covariance of two nodes by convolution.

        Raises
        ------
        InputError
            If the distributions need more than 2^20 points, or a cell has no term.
        """
        one, other = self._path(first), self._path(second)
        if not one or not other:
            return 0.0
        if self._messages is None:
            self._messages = Messages(self._tree, self._energy.power)
        return self._messages.covariance(one, other)

    def _least_squares(self) -> _LeastSquares:
        if self._energy.power != 2:
            raise InputError(f"{METHOD}: bounds in closed form require Gaussian noise")
        if self._bounds is None:
            self._bounds = _LeastSquares(self._tree)
        return self._bounds

    def _path(self, node: int) -> list[int]:
        """List the reduced nodes from a node up to its root; empty if its total is 0.

        A cell of a block of several cells is ``-1 - cell``.
        """
        original, tree = self._energy.tree, self._tree
        if not 0 <= node < original.nodes:
            raise InputError(f"{METHOD}: the node must be from 0 to {original.nodes - 1}")
        path, at = [], int(tree.node_of[node])
        if node < original.cells and at >= 0 and tree.sizes[at] > 1:
            path.append(-1 - node)
        while at >= 0:
            path.append(at)
            at = int(tree.parents[at])
        held = bool(path) and bool(tree.held[path[-1]])
        return [] if held and len(path) == 1 else path


class _LeastSquares:
    """The recursion of least squares. The share of a node is W / T."""

    def __init__(self, tree: ReducedTree) -> None:
        self.tree, n_blocks, parents = tree, tree.blocks, tree.parents
        rates = np.array([float(rate) for rate in tree.rates])
        own, several = 2 * rates[tree.rate_of], tree.sizes > 1
        self.below = np.zeros(len(parents))  # T of each node, and 0 for single cells
        self.below[:n_blocks][several] = tree.sizes[several] / (
            2 * rates[tree.cell_rate_of[several]]
        )
        self.widths = np.zeros(len(parents))
        levels = tree.by_depth
        for nodes in reversed(levels):
            some = self.below[nodes] > 0
            below = np.where(some, self.below[nodes], 1)
            self.widths[nodes] = 1 / (own[nodes] + some / below)
            inside = nodes[parents[nodes] >= 0]
            np.add.at(self.below, parents[inside], self.widths[inside])
        self.shares, has_parent = np.zeros(len(parents)), parents >= 0
        self.shares[has_parent] = self.widths[has_parent] / self.below[parents[has_parent]]
        self.variances = np.where(tree.held, 0.0, self.widths)
        for nodes in levels[1:]:
            share = self.shares[nodes]
            given = self.widths[nodes] * (1 - share)
            self.variances[nodes] = given + share**2 * self.variances[parents[nodes]]

    def cell_variances(self) -> FloatArray:
        """Return the variance of a cell of each block."""
        sizes, blocks = self.tree.sizes, slice(self.tree.blocks)
        inside = self.below[blocks] * (sizes - 1)
        return np.asarray((inside + self.variances[blocks]) / sizes**2)

    def covariance(self, one: list[int], other: list[int]) -> float:
        """Return the covariance of the ends of two paths to the root."""
        shared = shared_length(one, other)
        if shared == 0:
            return 0.0
        common, branches = one[-shared], (one[:-shared], other[:-shared])
        if common < 0:
            return float(self.cell_variances()[one[1]])
        factor = math.prod(
            self._share(node, branch, common) for branch in branches for node in branch
        )
        given = -self.below[common] if all(branches) else 0.0
        return factor * float(given + self.variances[common])

    def _share(self, node: int, branch: list[int], common: int) -> float:
        block = branch[1] if len(branch) > 1 else common
        return 1 / float(self.tree.sizes[block]) if node < 0 else float(self.shares[node])
