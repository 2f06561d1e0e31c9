"""Distributions, variances and covariances of the totals of nested noise.

For Gaussian energies, the recursion of least squares gives the covariance of real-valued noise in
closed form. It bounds the covariance of the discrete noise from above. The reason is that the sum
of exp(-q(u - c) / 2) over the lattice, as a function of c, has its maximum at c = 0. Its Hessian at
this point is therefore not positive.

For both energies, the distributions of totals are computed by convolution.
"""

from __future__ import annotations

import numpy as np

from isdp.arrays import FloatArray
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError, MisfitError
from isdp.exact.distributions import SumDistribution
from isdp.exact.nested.least_squares import LeastSquares
from isdp.exact.nested.messages import METHOD, Messages
from isdp.exact.nested.reduced_tree import reduce_tree
from isdp.mechanisms.base import Mechanism, NestedEnergy

TAIL = 1e-14  # maximum probability beyond the ends of a distribution


class NestedAccuracy:
    """Distributions, variances and covariances of the totals of cells and sets.

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
        self._bounds: LeastSquares | None = None
        self._messages: Messages | None = None

    def variance_bounds(self) -> FloatArray:
        """Bound the variances of all nodes of a Gaussian energy in closed form.

        `isdp.exact.sum_variances` bounds the variances of other sums.

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
        return self._convolved().covariance(one, other)

    def distribution(self, node: int) -> SumDistribution:
        """Compute the distribution of the total of a node by convolution.

        Returns
        -------
        SumDistribution
            The total variation distance to the exact distribution is below 1e-9.

        Raises
        ------
        InputError
            If the distributions need more than 2^20 points.

        Examples
        --------
        >>> from isdp.mechanisms import NestedLaplace, SetTree
        >>> tree = SetTree.from_columns({"region": ["a", "a", "b", "b"]})
        >>> noise = NestedLaplace(tree, {"region": "1/2", "cell": "1/4"})
        >>> region = NestedAccuracy(noise, Invariants.total(4)).distribution(5)
        >>> round(region.sd, 4), round(region.beyond(2), 4)
        (1.1621, 0.0468)
        """
        path = self._path(node)
        if not path:
            return SumDistribution(np.ones(1), 0.0)
        pmf = self._convolved().distribution(path)
        half = np.append(pmf[0], 2 * pmf[1 : len(pmf) // 2])  # of the absolute value
        beyond = half[::-1].cumsum()[::-1]
        width = int(np.count_nonzero(beyond > TAIL)) - 1
        pmf = pmf[np.arange(-width, width + 1)]
        values = np.arange(-width, width + 1.0)
        return SumDistribution(pmf / pmf.sum(), float(np.sqrt(pmf @ values**2)))

    def _convolved(self) -> Messages:
        if self._messages is None:
            self._messages = Messages(self._tree, self._energy.power)
        return self._messages

    def _least_squares(self) -> LeastSquares:
        if self._energy.power != 2:
            raise InputError(
                f"{METHOD}: bounds in closed form require Gaussian noise. Use the method variance"
            )
        if self._bounds is None:
            self._bounds = LeastSquares(self._tree)
        return self._bounds

    def _path(self, node: int) -> list[int]:
        """List the nodes of the reduced tree from a node up to its root.

        The list is empty if the total of the node is 0. A cell of a block of several cells is
        listed as ``-1 - cell``.
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
