"""Variances and covariances of the totals of nested noise.

For Gaussian energies, the recursion of least squares gives bounds in closed form. Let sigma_v^2 be
the variance of a node's own term, and W_v = 1 / (1/sigma_v^2 + 1/T_v) with T_v the sum of W over
the children. Given the total s of the parent, a child has the mean s W / T and the variance
W (1 - W / T). These are the covariances of the best linear unbiased estimate from independent
measurements. The covariance of the discrete noise is at most this, because the Hessian at 0 of the
sum of exp(-q(u - c) / 2) over the lattice, as a function of c, is not positive.

For both energies, the distribution of a total is computed by convolution. A message from below is
the weight of all noise in a node as a function of its total. A message from above is the weight of
all other noise. The product of both is the distribution. Nodes with equal trees below them share
their message from below.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import scipy

from isdp.arrays import FloatArray, IntArray
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError, MisfitError
from isdp.exact.nested.reduced_tree import ReducedTree, node_depths, reduce_tree
from isdp.mechanisms.base import Mechanism, NestedEnergy

METHOD = "nested accuracy"
MAX_GRID_POINTS = 1 << 20
TAIL_IN_SCALES = 40  # the probability of larger noise is below 1e-15
TAIL_IN_DEVIATIONS = 12


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
        energy = mechanism.nested_energy
        if energy is None:
            raise MisfitError(
                f"{METHOD}: the {mechanism.name} noise has no terms for sets of cells"
            )
        self._energy: NestedEnergy = energy
        self._tree = reduce_tree(METHOD, energy, invariants)
        self._bounds: _LeastSquares | None = None
        self._messages: _Messages | None = None

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
            self._messages = _Messages(self._tree, self._energy.power)
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


def _common(one: list[int], other: list[int]) -> int:
    """Return the number of nodes at the end of both paths that are equal."""
    shared = 0
    while shared < min(len(one), len(other)) and one[-1 - shared] == other[-1 - shared]:
        shared += 1
    return shared


def _levels(parents: IntArray) -> list[IntArray]:
    """Return the nodes of each depth, from the roots down."""
    depths = node_depths(parents)
    order = np.argsort(depths, kind="stable")
    return np.split(order, np.cumsum(np.bincount(depths))[:-1])


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
        levels = _levels(parents)
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
        shared = _common(one, other)
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


class _Messages:
    """Messages on a circular grid, whose point 0 is the total 0, normalized to the sum 1."""

    def __init__(self, tree: ReducedTree, power: int) -> None:
        self.tree, self.power = tree, power
        self.rates = [float(rate) for rate in tree.rates]
        self.size = self._grid()
        half = self.size // 2
        self.values = np.append(np.arange(half), np.arange(-half, 0)).astype(float)
        self._kinds: dict[object, int] = {}
        self._below: list[FloatArray] = []  # the message from below of each kind of node
        self._norms: list[float] = []  # the sum of each message before normalization
        self._logs: list[FloatArray] = []  # the logarithm of each message's transform
        self._log_parts: list[FloatArray] = []  # the same of the convolution of the node's parts
        self._rate_of_kind: list[int] = []
        children: list[Counter[int]] = [Counter() for _ in tree.parents]
        self.kind_of = np.zeros(len(tree.parents), dtype=np.int64)
        for node in range(len(tree.parents)):
            if node < tree.blocks and tree.sizes[node] > 1:
                children[node][self._kind_of_cell(node)] = int(tree.sizes[node])
            parts = tuple(sorted(children[node].items()))
            self.kind_of[node] = kind = self._kind(int(tree.rate_of[node]), parts)
            if tree.parents[node] >= 0:
                children[tree.parents[node]][kind] += 1
        self._above: dict[tuple[object, ...], FloatArray] = {}

    def _grid(self) -> int:
        tree = self.tree
        single = tree.sizes == 1
        rate_of = np.where(single, tree.rate_of[: tree.blocks], tree.cell_rate_of)
        used = {i: self.rates[i] for i in np.unique(rate_of).tolist()}
        if self.power == 2:
            variance, scale = {i: 0.5 / rate for i, rate in used.items()}, 0.0
        else:
            variance = {i: 0.5 / math.sinh(rate / 2) ** 2 for i, rate in used.items()}
            scale = 1 / min(used.values(), default=1.0)
        totals = np.zeros(len(tree.parents))
        totals[: tree.blocks] = [
            variance[i] * m for i, m in zip(rate_of.tolist(), tree.sizes.tolist(), strict=True)
        ]
        for nodes in _levels(tree.parents)[:0:-1]:
            np.add.at(totals, tree.parents[nodes], totals[nodes])
        sd = math.sqrt(max(totals, default=0.0))
        points = 2 * (TAIL_IN_DEVIATIONS * sd + TAIL_IN_SCALES * scale + 8)
        if not points <= MAX_GRID_POINTS:
            raise InputError(
                f"{METHOD}: the distributions need a grid of {points:.2g} points, and the maximum "
                f"is {MAX_GRID_POINTS:,}. Use variance_bounds, or less noise"
            )
        return int(2 ** math.ceil(math.log2(points)))

    def _weight(self, rate: int) -> FloatArray:
        return np.asarray(np.exp(-self.rates[rate] * np.abs(self.values) ** self.power))

    def _kind_of_cell(self, block: int) -> int:
        return self._kind(int(self.tree.cell_rate_of[block]), ())

    def _kind(self, rate: int, parts: tuple[tuple[int, int], ...]) -> int:
        """Return the index of a kind of node, given the numbers of its parts of each kind."""
        if (rate, parts) in self._kinds:
            return self._kinds[rate, parts]
        log_parts = np.zeros(self.size // 2 + 1)
        for kind, count in parts:
            log_parts += count * self._logs[kind]
        inside = self._inverse(np.exp(log_parts)) if parts else np.ones(self.size)
        message = self._weight(rate) * inside
        self._norms.append(float(message.sum()))
        self._below.append(message / message.sum())
        transform = scipy.fft.rfft(self._below[-1]).real  # positive, because the energy is
        self._logs.append(np.log(transform.clip(1e-300)))
        self._log_parts.append(log_parts)
        self._rate_of_kind.append(rate)
        return self._kinds.setdefault((rate, parts), len(self._below) - 1)

    def _inverse(self, transform: FloatArray) -> FloatArray:
        return np.asarray(scipy.fft.irfft(transform, self.size))

    def _kinds_of(self, path: list[int]) -> list[int]:
        return [self._kind_of_cell(path[1]) if x < 0 else int(self.kind_of[x]) for x in path]

    def _weight_above(self, path: list[int], kinds: list[int]) -> FloatArray:
        """Return the weight of a node's total without the weight of its parts."""
        key = (*kinds, bool(self.tree.held[path[-1]]))
        if key not in self._above:
            weight = self._weight(self._rate_of_kind[kinds[0]])
            if len(path) > 1:
                above = scipy.fft.rfft(self._weight_above(path[1:], kinds[1:])).real
                others = self._log_parts[kinds[1]] - self._logs[kinds[0]]
                weight = weight * self._inverse(above * np.exp(others)).clip(0)
            elif self.tree.held[path[-1]]:
                weight = (self.values == 0).astype(float)
            self._above[key] = weight
        return self._above[key]

    def _transform_of_moment(self, kinds: list[int]) -> FloatArray:
        """Return the transform of the weight of a node's total times the mean of a part.

        The part is the first of `kinds`, and the node is the last.
        """
        moment = self.values * self._below[kinds[0]]
        for part, whole in pairwise(kinds):
            others = np.exp(self._log_parts[whole] - self._logs[part])
            moment = self._inverse(scipy.fft.rfft(moment) * others)
            moment *= self._weight(self._rate_of_kind[whole]) / self._norms[whole]
        return np.asarray(scipy.fft.rfft(moment))

    def covariance(self, one: list[int], other: list[int]) -> float:
        """Return the covariance of the ends of two paths to the root."""
        shared = _common(one, other)
        if shared == 0:
            return 0.0
        kinds = self._kinds_of(one)
        path, common = one[-shared:], kinds[-shared]
        weight = self._weight_above(path, kinds[-shared:])
        branches = [self._kinds_of(nodes)[:-shared] for nodes in (one, other)]
        if not self._log_parts[common].any():  # a single cell
            return float((self.values**2 * weight).sum() / weight.sum())
        everything = self._inverse(np.exp(self._log_parts[common]))
        power, log_others, moments = 2, self._log_parts[common], np.ones(1)
        for branch in filter(None, branches):
            moments = moments * self._transform_of_moment(branch)
            log_others = log_others - self._logs[branch[-1]]
            power -= 1
        moment = self._inverse(moments * np.exp(log_others))
        return float((self.values**power * weight * moment).sum() / (weight * everything).sum())
