"""Distributions of the totals of nested noise, by convolution along the tree.

A message from below is the weight of all noise in a node as a function of its total. A message from
above is the weight of all other noise. The product of both is proportional to the distribution of
the total. Nodes with equal trees below them share their message from below.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import scipy

from isdp.arrays import FloatArray, distinct_columns
from isdp.errors import InputError
from isdp.exact.nested.reduced_tree import ReducedTree

METHOD = "nested accuracy"
MAX_GRID_POINTS = 1 << 20
MAX_POINTS_OF_KINDS = 1 << 26  # of messages and their transforms, which need 1 GB
TAIL_IN_SCALES = 40  # the probability of larger noise is below 1e-15
TAIL_IN_DEVIATIONS = 12
MAX_RATE = 300.0  # at this rate, all noise is 0 in double precision


def grid_points(tree: ReducedTree, rates: Sequence[float], power: int) -> float:
    """Return the number of points that the distributions of all totals need."""
    single = tree.sizes == 1
    rate_of = np.where(single, tree.rate_of[: tree.blocks], tree.cell_rate_of)
    used = {i: min(rates[i], MAX_RATE) for i in np.unique(rate_of).tolist()}
    if power == 2:
        variance, scale = {i: 0.5 / rate for i, rate in used.items()}, 0.0
    else:
        variance = {i: 0.5 / math.sinh(rate / 2) ** 2 for i, rate in used.items()}
        scale = 1 / min(used.values(), default=1.0)
    totals = np.zeros(len(tree.parents))
    totals[: tree.blocks] = [
        variance[i] * m for i, m in zip(rate_of.tolist(), tree.sizes.tolist(), strict=True)
    ]
    for nodes in tree.by_depth[:0:-1]:
        np.add.at(totals, tree.parents[nodes], totals[nodes])
    sd = math.sqrt(max(totals, default=0.0))
    return 2 * (TAIL_IN_DEVIATIONS * sd + TAIL_IN_SCALES * scale + 8)


def shared_length(one: list[int], other: list[int]) -> int:
    """Return the number of equal nodes at the ends of two paths."""
    shared = 0
    while shared < min(len(one), len(other)) and one[-1 - shared] == other[-1 - shared]:
        shared += 1
    return shared


class Messages:
    """Messages on a circular grid, whose point 0 is the total 0, normalized to the sum 1.

    Parameters
    ----------
    scale : float
        All rates are multiplied by this number.

    Attributes
    ----------
    kind_of : int64 array, shape (nodes,)
        Index of each node's kind. Nodes of one kind have equal trees below them.
    norms : list of float
        For each kind, the mean of exp(-rate |S|^power) for its own rate, if the total S is the sum
        of independent parts.
    parts : list of tuple of (int, int)
        The parts of each kind, as pairs of a kind and the number of its parts. A single cell has no
        parts.
    """

    def __init__(self, tree: ReducedTree, power: int, scale: float = 1.0) -> None:
        self.tree, self.power = tree, power
        self.rates = [min(float(rate) * scale, MAX_RATE) for rate in tree.rates]
        points = grid_points(tree, self.rates, power)
        if not points <= MAX_GRID_POINTS:
            raise InputError(
                f"{METHOD}: the distributions need a grid of {points:.2g} points, and the maximum "
                f"is {MAX_GRID_POINTS:,}. Use variance_bounds, or less noise."
            )
        self.size = int(2 ** math.ceil(math.log2(points)))
        half = self.size // 2
        self.values = np.append(np.arange(half), np.arange(-half, 0)).astype(float)
        self._kinds: dict[object, int] = {}
        self._below: list[FloatArray] = []  # the message from below of each kind of node
        self.norms: list[float] = []
        self._logs: list[FloatArray] = []  # the logarithm of each message's transform
        self._log_parts: list[FloatArray] = []  # of the transform of the parts' convolution
        self._rate_of_kind: list[int] = []
        self.parts: list[tuple[tuple[int, int], ...]] = []
        self.kind_of = np.zeros(len(tree.parents), dtype=np.int64)
        self._find_kinds()
        self._above: dict[tuple[object, ...], FloatArray] = {}

    def _find_kinds(self) -> None:
        tree, n_blocks = self.tree, self.tree.blocks
        distinct, where = distinct_columns(tree.rate_of[:n_blocks], tree.cell_rate_of, tree.sizes)
        kinds = [
            self._kind(rate, ((self._kind(cell_rate, ()), size),) if size > 1 else ())
            for rate, cell_rate, size in distinct.T.tolist()
        ]
        self.kind_of[:n_blocks] = np.array(kinds, dtype=np.int64)[where]
        children: list[Counter[int]] = [Counter() for _ in range(n_blocks, len(tree.parents))]
        inside = np.flatnonzero(tree.parents[:n_blocks] >= 0)
        pairs, index = distinct_columns(tree.parents[inside] - n_blocks, self.kind_of[inside])
        counts = np.bincount(index).tolist()
        for (parent, kind), count in zip(pairs.T.tolist(), counts, strict=True):
            children[parent][kind] = count
        rates, parents = tree.rate_of[n_blocks:].tolist(), tree.parents[n_blocks:].tolist()
        for node, (rate, parent) in enumerate(zip(rates, parents, strict=True)):
            kind = self._kind(rate, tuple(sorted(children[node].items())))
            self.kind_of[n_blocks + node] = kind
            if parent >= 0:
                children[parent - n_blocks][kind] += 1

    def _weight(self, rate: int) -> FloatArray:
        return np.asarray(np.exp(-self.rates[rate] * np.abs(self.values) ** self.power))

    def _kind_of_cell(self, block: int) -> int:
        return self._kind(int(self.tree.cell_rate_of[block]), ())

    def _kind(self, rate: int, parts: tuple[tuple[int, int], ...]) -> int:
        """Return the index of a kind of node, given the numbers of its parts of each kind."""
        if (rate, parts) in self._kinds:
            return self._kinds[rate, parts]
        if len(self._below) * self.size > MAX_POINTS_OF_KINDS:
            raise InputError(
                f"{METHOD}: the scales or sizes of more than {len(self._below):,} sets differ. Use "
                f"variance_bounds, or equal scales and sizes."
            )
        log_parts = np.zeros(self.size // 2 + 1)
        for kind, count in parts:
            log_parts += count * self._logs[kind]
        inside = self._inverse(np.exp(log_parts)) if parts else np.ones(self.size)
        message = self._weight(rate) * inside
        self.norms.append(float(message.sum()))
        self._below.append(message / message.sum())
        transform = scipy.fft.rfft(self._below[-1]).real  # positive for these weights
        self._logs.append(np.log(transform.clip(1e-300)))
        self._log_parts.append(log_parts)
        self.parts.append(parts)
        self._rate_of_kind.append(rate)
        return self._kinds.setdefault((rate, parts), len(self._below) - 1)

    def log_parts_at_zero(self, kind: int) -> float:
        """Return the log probability that independent parts of a node add up to 0."""
        return math.log(max(float(self._inverse(np.exp(self._log_parts[kind]))[0]), 1e-300))

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
            moment *= self._weight(self._rate_of_kind[whole]) / self.norms[whole]
        return np.asarray(scipy.fft.rfft(moment))

    def distribution(self, path: list[int]) -> FloatArray:
        """Return the distribution of the first node of a path to the root, on the grid."""
        kinds = self._kinds_of(path)
        weight = self._weight_above(path, kinds)
        if self._log_parts[kinds[0]].any():
            weight = weight * self._inverse(np.exp(self._log_parts[kinds[0]])).clip(0)
        return np.asarray(weight / weight.sum())

    def covariance(self, one: list[int], other: list[int]) -> float:
        """Return the covariance of the ends of two paths to the root."""
        shared = shared_length(one, other)
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
