"""Derangements (permutations without a fixed point): their number, and uniform draws.

The number of derangements of m points is the subfactorial d_m. The recursion is
d_m = (m - 1)(d_{m-1} + d_{m-2}) with d_0 = 1 and d_1 = 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isdp.arrays import FloatArray, IntArray

# above this number, the approximations m!/e and 1/u have relative errors below 1/31!
MAX_TABULATED = 30
MAX_READ = 1 << 20  # maximum number of 64-bit integers in the first read

BitSource = Callable[[int], NDArray[np.uint64]]


@lru_cache(maxsize=1)
def _table() -> tuple[int, ...]:
    numbers = [1, 0]
    for m in range(2, MAX_TABULATED + 3):
        numbers.append((m - 1) * (numbers[-1] + numbers[-2]))
    return tuple(numbers)


def subfactorial(m: int) -> int:
    """Compute the number of derangements of m >= 0 points, which is m!/e rounded to an integer."""
    if m < len(_table()):
        return _table()[m]
    before, number = _table()[-2:]
    for k in range(len(_table()), m + 1):
        before, number = number, (k - 1) * (number + before)
    return number


def subfactorial_ratio(m: ArrayLike, step: int) -> FloatArray:
    """Compute d_{m + step} / d_m without overflow, for steps 1 and 2.

    No entry of `m` may be 1, because d_1 is 0. The recursions are d_{m+1} = (m + 1) d_m +
    (-1)^{m+1} and d_{m+2} = (m + 1)(d_{m+1} + d_m).
    """
    m = np.asarray(m, dtype=np.int64)
    numbers = _table()
    ratios = [numbers[k + step] / d if d else math.nan for k, d in enumerate(numbers[:-2])]
    exact = np.array(ratios)[np.minimum(m, MAX_TABULATED)]
    up = m + 1.0
    return np.where(m <= MAX_TABULATED, exact, up if step == 1 else up * (up + 1))


@lru_cache(maxsize=1)
def closing_probabilities() -> FloatArray:
    """Compute (u - 1) d_{u-2} / d_u, the closing probability of a cycle, for u = 0 to 30."""
    d = _table()
    exact = [Fraction((u - 1) * d[u - 2], d[u]) for u in range(2, MAX_TABULATED + 1)]
    return np.array([0.0, 0.0, *map(float, exact)])


class BitStream:
    """A stream of random 64-bit integers that can be read before they are consumed.

    ``source(k)`` returns k new integers as a uint64 array.
    """

    def __init__(self, source: BitSource):
        self._source = source
        self._buffer = np.empty(0, dtype=np.uint64)

    def peek(self, count: int) -> NDArray[np.uint64]:
        """Return at least `count` of the next integers, which stay in the stream."""
        if count > len(self._buffer):
            fresh = self._source(count - len(self._buffer))
            self._buffer = np.concatenate([self._buffer, fresh])
        return self._buffer

    def consume(self, count: int) -> None:
        """Remove the first `count` integers."""
        self._buffer = self._buffer[count:]


def pseudo_random_bits(rng: np.random.Generator) -> BitStream:
    """Return a stream of integers from a pseudo-random generator, for experiments."""
    return BitStream(lambda count: rng.integers(0, 1 << 64, count, dtype=np.uint64))


def derange(bits: BitStream, sizes: IntArray, *, exact: bool) -> IntArray:
    """Draw a uniform derangement of each of several groups of points.

    The result has the image of each point. The points of all groups are numbered consecutively.

    Parameters
    ----------
    sizes : int64 array, shape (groups,)
        No size may be 1, because one point has no derangement.
    exact : bool
        If true, use integer arithmetic only. Shuffles are repeated until one has no fixed point,
        which takes e (2.718) shuffles on average. If false, use one pass with Bernoulli draws in
        floating point, which takes half the time.
    """
    # the import is here, because budgets and losses do not need compiled code
    from isdp.swapping.mechanism.compiled_permutations import (
        derange_by_closing_cycles,
        derange_by_rejection,
    )

    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    image = np.empty(starts[-1], dtype=np.int64)
    memory = () if exact else (np.empty(len(image), dtype=np.bool_), closing_probabilities())
    compiled = derange_by_rejection if exact else derange_by_closing_cycles
    group, wanted = 0, min(MAX_READ, 4 * len(image) + 64)
    while wanted < 2 * sizes.max(initial=0):  # a group that runs out of integers starts again
        wanted *= 2
    while group < len(sizes):
        before = group
        group, used = compiled(bits.peek(wanted), starts, group, image, *memory)
        bits.consume(used)
        if group == before:
            wanted *= 2
    return image
