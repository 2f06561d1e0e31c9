"""The recursion of least squares for the totals of nested Gaussian noise.

Let sigma_v^2 be the variance of the term of node v. Let W_v = 1 / (1/sigma_v^2 + 1/T_v), where T_v
is the sum of W over the children of v. Given the total s of its parent, a child has the mean s W /
T and the variance W (1 - W / T), with the T of the parent. These are the covariances of the best
linear unbiased estimate from independent measurements.
"""

from __future__ import annotations

import numpy as np

from isdp.arrays import FloatArray
from isdp.exact.nested.reduced_tree import ReducedTree


class LeastSquares:
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
