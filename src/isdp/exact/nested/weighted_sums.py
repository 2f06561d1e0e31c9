"""Variances of weighted sums of cells of Gaussian noise with terms for sets of cells.

Given its total s, the weighted sum of the cells of a node has the mean a s and a variance r. A cell
has a = its weight and r = 0. Let W be the conditional variances of the children's totals, which are
independent before their sum T = sum of W is given. Given s, the total of a child has the mean s W /
T and the variance W - W^2 / T. The covariance of two children is minus the product of their W,
divided by T. Therefore

    a = sum of (W / T) a_child,    r = sum of r_child + sum of W (a_child - a)^2,

and the variance of the whole sum adds W a^2 for each root whose total is not held. These are the
variances of real-valued noise with the same energy. The variances of the integer noise are not
larger.

For crossing noise, the totals are vectors with one entry per column, and a is a vector. In the
modes of `isdp.mechanisms.crossing_modes`, the columns are independent, and the recursion holds for
each of them with the W of its mode. Mode k has one coordinate for each set of level k of the
groups. The coordinate is the mean of a over the set, minus the mean of a over the set that contains
it. The squared norm weights each set by its number of columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from isdp.arrays import BoolArray, FloatArray, IntArray
from isdp.compiled import njit
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError, MisfitError
from isdp.exact.nested.least_squares import LeastSquares
from isdp.exact.nested.reduced_tree import reduce_tree
from isdp.mechanisms.base import CrossingEnergy, Mechanism, NestedEnergy
from isdp.mechanisms.crossing_modes import CrossingModes, held_levels
from isdp.mechanisms.set_tree import SetTree

METHOD = "variances of sums"
EQUAL = 1e-11  # smaller relative differences of means are rounding errors


def sum_variances(
    mechanism: Mechanism, invariants: Invariants, weights: ArrayLike | sparse.sparray
) -> FloatArray:
    """Bound the variances of weighted sums of the noise in the cells.

    The bounds are the variances of the best linear unbiased estimate from independent measurements
    of the totals with the same scales. The variance of a sum of the integer noise is at most its
    bound. The two are almost equal if every sum with integer weights that the invariants do not
    hold has a variance above 1. A sum that the invariants hold has the variance 0.

    Parameters
    ----------
    mechanism : Mechanism
        `NestedGaussian` or `CrossingGaussian`.
    invariants : Invariants
        Totals that suit the mechanism, as for its sampler.
    weights : array_like or scipy.sparse array, shape (cells,) or (sums, cells)
        The real weights of the cells in each sum. The covariance of two sums is a quarter of the
        difference between the variances of their sum and of their difference.

    Returns
    -------
    float64 array, shape (sums,)
        The relative rounding error is below 1e-9. The time is proportional to the number of cells
        in the sets that contain a cell with a weight.

    Raises
    ------
    InputError
        If the weights have another shape or are not finite, or the mechanism or the invariants are
        unsuitable.

    Examples
    --------
    >>> from isdp.mechanisms import NestedGaussian, SetTree
    >>> tree = SetTree.from_columns({"region": ["a", "a", "b", "b"]})
    >>> noise = NestedGaussian(tree, {"region": 1, "cell": 4})
    >>> sums = [[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1]]
    >>> sum_variances(noise, Invariants.total(4), sums).round(3).tolist()
    [0.444, 4.0, 0.0]
    """
    energy = mechanism.set_energy
    if isinstance(energy, NestedEnergy) and energy.power == 2:
        family = _nested_family(energy, invariants)
    elif isinstance(energy, CrossingEnergy):
        family = _crossing_family(energy, invariants)
    else:
        raise MisfitError(
            f"{METHOD}: the {mechanism.name} noise is not Gaussian noise with terms for sets of "
            f"cells"
        )
    rows = _read_weights(weights, invariants.cells)
    return np.array([family.variance(rows[[row]]) for row in range(rows.shape[0])])


def _read_weights(weights: ArrayLike | sparse.sparray, cells: int) -> sparse.csr_array:
    given: Any = weights
    if not sparse.issparse(weights):
        try:
            given = np.atleast_2d(np.asarray(weights))
        except ValueError as error:
            raise InputError(f"weights: the rows must have equal length ({error})") from None
    if given.ndim != 2 or given.shape[1] != cells or given.dtype.kind not in "biuf":
        raise InputError(f"weights: give one number for each of the {cells} cells, in each sum")
    found = sparse.csr_array(given, dtype=float)
    found.sum_duplicates()
    if not np.isfinite(found.data).all():
        raise InputError("weights: give finite numbers")
    return found


class _Family:
    """A tree of sets of regions, and the groups of the columns of each region.

    A nested family has one column, and its cells are the regions. Children precede their parents.

    Parameters
    ----------
    parents : int64 array, shape (nodes,)
    widths : float64 array, shape (nodes, modes)
        The variance W of each node's total in each mode; 0 for a held root.
    shares : float64 array, shape (nodes, modes)
        W / T, where T is the sum of W over all children of the parent.
    node_of : int64 array, shape (regions,)
        The node of each region; -1 if its noise is always 0.
    """

    def __init__(
        self,
        parents: IntArray,
        widths: FloatArray,
        shares: FloatArray,
        node_of: IntArray,
        groups: SetTree,
    ) -> None:
        self.node_of, self.groups = node_of, groups
        self.averages = sparse.csr_array(groups.incidence.T / groups.sizes)
        order = np.argsort(parents, kind="stable")
        starts = np.searchsorted(parents[order], np.arange(len(parents) + 1))
        self.tree = parents, widths, shares, order, starts, groups.depths, groups.sizes
        self.means = np.zeros((len(parents), groups.nodes))
        self.marked = np.zeros(len(parents), dtype=np.bool_)

    def variance(self, weights: sparse.csr_array) -> float:
        """Compute the variance of one sum, from a row of weights."""
        columns = self.groups.cells
        regions, which = np.unique(weights.indices // columns, return_inverse=True)
        rows = np.zeros((len(regions), columns))
        rows[which, weights.indices % columns] = weights.data
        kept = self.node_of[regions] >= 0
        averages = rows[kept] @ self.averages
        above = np.append(averages, np.zeros((len(averages), 1)), axis=1)[:, self.groups.parents]
        values, sizes = averages - above, np.abs(rows[kept]).max(axis=1, keepdims=True, initial=0)
        values[np.abs(values) <= EQUAL * sizes] = 0
        nodes = self.node_of[regions[kept]]
        return float(_variance(nodes, values, *self.tree, self.means, self.marked))


def _nested_family(energy: NestedEnergy, invariants: Invariants) -> _Family:
    tree = reduce_tree(METHOD, energy, invariants)
    squares = LeastSquares(tree)
    # the cells of blocks of several cells precede the nodes of the reduced tree
    several = np.repeat(tree.sizes > 1, tree.sizes)
    block_of = np.repeat(np.arange(tree.blocks), tree.sizes)
    inside = block_of[several]
    node_of = np.full(invariants.cells, -1, dtype=np.int64)
    node_of[tree.order[several]] = np.arange(len(inside))
    node_of[tree.order[~several]] = block_of[~several] + len(inside)
    above = np.append(inside, tree.parents)
    share = 1 / tree.sizes[inside]
    widths = np.append(share * squares.below[inside], np.where(tree.held, 0, squares.widths))
    return _Family(
        np.where(above >= 0, above + len(inside), -1),
        widths[:, None],
        np.append(share, squares.shares)[:, None],
        node_of,
        SetTree(1, np.array([-1]), ("cell",), np.array([0])),
    )


def _crossing_family(energy: CrossingEnergy, invariants: Invariants) -> _Family:
    regions, groups = energy.regions, energy.groups
    modes = CrossingModes(energy, held_levels(regions, groups, invariants))
    deepest_first = np.argsort(-regions.depths, kind="stable")  # the last node is the only root
    number = np.append(np.argsort(deepest_first), -1)
    parents, widths = number[regions.parents[deepest_first]], modes.variances[deepest_first]
    below = np.zeros_like(widths)
    np.add.at(below, parents[:-1], widths[:-1])
    below = np.append(below[parents[:-1]], widths[-1:], axis=0)
    shares = np.divide(widths, below, out=np.zeros_like(widths), where=widths > 0)
    return _Family(parents, widths, shares, number[: regions.cells], groups)


@njit
def _variance(
    leaves: IntArray,
    values: FloatArray,
    parents: IntArray,
    widths: FloatArray,
    shares: FloatArray,
    children: IntArray,
    starts: IntArray,
    mode_of: IntArray,
    scales: IntArray,
    means: FloatArray,
    marked: BoolArray,
) -> float:
    """Return the variance of a sum from the coordinates of its leaves.

    `means` and `marked` are zero before and after. The mean a of a node is a row of `means`.
    """
    touched = [np.int64(0) for _ in leaves[:0]]
    for i, leaf in enumerate(leaves):
        means[leaf] = values[i]
        node = parents[leaf]
        while node >= 0 and not marked[node]:
            marked[node] = True
            touched.append(node)
            node = parents[node]
    nodes = np.sort(np.array(touched, dtype=np.int64))  # children precede their parents
    for some in (leaves, nodes):
        for node in some:
            if parents[node] >= 0:
                for j, mode in enumerate(mode_of):
                    means[parents[node], j] += shares[node, mode] * means[node, j]
    variance = 0.0
    for some in (leaves, nodes):
        for node in some:
            if parents[node] < 0:
                for j, mode in enumerate(mode_of):
                    variance += scales[j] * widths[node, mode] * means[node, j] ** 2
            for child in children[starts[node] : starts[node + 1]]:
                for j, mode in enumerate(mode_of):
                    difference = means[child, j] - means[node, j]
                    if abs(difference) > EQUAL * max(abs(means[child, j]), abs(means[node, j])):
                        variance += scales[j] * widths[child, mode] * difference**2
    for some in (leaves, nodes):
        for node in some:
            means[node], marked[node] = 0, False
    return variance
