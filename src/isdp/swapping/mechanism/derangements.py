"""Derangements: permutations without a fixed point, their number and uniform draws of them.

d_m is the number of derangements of m points (the subfactorial): d_0 = 1, d_1 = 0 and
d_m = (m - 1)(d_{m-1} + d_{m-2}).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

LAST_IN_TABLE = 30  # beyond, d_m = m!/e and the chance 1/u are right within 1/31!
CHUNK = 1 << 20  # words asked for at once

Source = Callable[[int], np.ndarray]


@lru_cache(maxsize=1)
def _table() -> tuple[int, ...]:
    numbers = [1, 0]
    for m in range(2, LAST_IN_TABLE + 3):
        numbers.append((m - 1) * (numbers[-1] + numbers[-2]))
    return tuple(numbers)


def subfactorial(m: int) -> int:
    """Count the derangements of m points, exactly: m!/e rounded to the nearest whole number.

    Parameters
    ----------
    m : int
        Not negative.
    """
    if m < len(_table()):
        return _table()[m]
    before, number = _table()[-2:]
    for k in range(len(_table()), m + 1):
        before, number = number, (k - 1) * (number + before)
    return number


def log_subfactorial(m) -> np.ndarray:
    """Logarithm of d_m; minus infinity at m = 1.

    Returns
    -------
    float64 array
        Relative error as that of the logarithm of a factorial, about 1e-15.
    """
    m = np.asarray(m, dtype=np.int64)
    small = [math.log(d) if d else -math.inf for d in _table()]
    exact = np.array(small)[np.minimum(m, LAST_IN_TABLE)]
    return np.where(m <= LAST_IN_TABLE, exact, gammaln(m + 1.0) - 1)


def subfactorial_ratio(m, step: int) -> np.ndarray:
    """Quotient d_{m + step} / d_m, for step 1 or 2, without large numbers.

    Parameters
    ----------
    m : int array
        Not 1, where d_m is 0.
    step : int
        1 or 2.

    Notes
    -----
    From d_{m+1} = (m + 1) d_m + (-1)^{m+1}, and d_{m+2} = (m + 1)(d_{m+1} + d_m).
    """
    m = np.asarray(m, dtype=np.int64)
    numbers = _table()
    small = np.minimum(m, LAST_IN_TABLE)
    exact = np.array([math.nan if d == 0 else numbers[k + step] / d for k, d in _small()])[small]
    up = m + 1.0
    return np.where(m <= LAST_IN_TABLE, exact, up if step == 1 else up * (up + 1))


def _small():
    return enumerate(_table()[: LAST_IN_TABLE + 1])


@lru_cache(maxsize=1)
def closing_probabilities() -> np.ndarray:
    """Chance (u - 1) d_{u-2} / d_u that a cycle closes with u points left, for u up to 30.

    Returns
    -------
    float64 array, shape (31,)
    """
    d = _table()
    exact = [Fraction((u - 1) * d[u - 2], d[u]) for u in range(2, LAST_IN_TABLE + 1)]
    return np.array([0.0, 0.0, *map(float, exact)])


class BitStream:
    """A stream of random 64-bit words that can be looked at before they are used.

    Parameters
    ----------
    source : callable
        ``source(k)`` returns k fresh words, uint64 (k,).
    """

    def __init__(self, source: Source):
        self._source = source
        self._kept = np.empty(0, dtype=np.uint64)

    def ahead(self, count: int) -> np.ndarray:
        """Return at least `count` words that have not been used, without using them."""
        if count > len(self._kept):
            fresh = self._source(count - len(self._kept))
            self._kept = np.concatenate([self._kept, fresh])
        return self._kept

    def use(self, count: int) -> None:
        """Count the first `count` words as used."""
        self._kept = self._kept[count:]


def pseudo_random_bits(rng: np.random.Generator) -> BitStream:
    """BitStream of a pseudo-random generator, for experiments."""
    return BitStream(lambda count: rng.integers(0, 1 << 64, count, dtype=np.uint64))


def derange(words: BitStream, sizes: np.ndarray, *, exact: bool) -> np.ndarray:
    """Draw a uniform derangement of each of several groups of points.

    Parameters
    ----------
    sizes : int64 array, shape (groups,)
        None of them 1, which has no derangement.
    exact : bool
        Whether to decide in whole numbers alone (shuffles until one fits, e of them on average),
        or in one pass with a coin in floating point, which is for experiments and takes half the
        time.

    Returns
    -------
    int64 array, shape (sum of the sizes,)
        The points are numbered through, group after group; point i goes to the i-th entry.
    """
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    # compiled code: budgets and losses do without
    from isdp.swapping.mechanism.compiled_permutations import (
        derange_by_closing_cycles,
        derange_by_rejection,
    )

    image = np.empty(starts[-1], dtype=np.int64)
    scratch = () if exact else (np.empty(len(image), dtype=np.bool_), closing_probabilities())
    compiled = derange_by_rejection if exact else derange_by_closing_cycles
    group, wanted = 0, min(CHUNK, 4 * len(image) + 64)
    while wanted < 2 * sizes.max(initial=0):  # a group whose words run out is begun again
        wanted *= 2
    while group < len(sizes):
        before = group
        group, used = compiled(words.ahead(wanted), starts, group, image, *scratch)
        words.use(used)
        if group == before:
            wanted *= 2
    return image
