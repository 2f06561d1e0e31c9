"""Independent integer noise for a real release: double geometric and discrete Gaussian.

No floating point decides a draw and the randomness is the operating system's, as in
`isdp.exact.secure`, on whose parts this is built.
"""

from __future__ import annotations

import math
import os
from fractions import Fraction
from functools import lru_cache
from numbers import Rational

import numpy as np
from flint import arb, ctx

from isdp.errors import InputError
from isdp.exact.secure import Source, _ball, _floor, _geometric, _Words, exact_epsilon

LEAST_VARIANCE, MOST_VARIANCE = Fraction(1, 10**6), 10**20


def double_geometric(epsilon, count: int, source: Source | None = None) -> np.ndarray:
    """Draw from P(k) proportional to exp(-epsilon |k|) on the integers, exactly.

    Parameters
    ----------
    epsilon : Fraction, int, str or float
        Between 1e-14 and 1000; a float stands for its shortest decimal form.
    count : int
    source : callable, optional
        ``source(k)`` returns k random bytes; `os.urandom` by default. Another one is for tests.

    Returns
    -------
    int64 array, shape (count,)
    """
    words = _Words(os.urandom if source is None else source)
    return _geometric(exact_epsilon(epsilon)).draw_difference(words, count)


def discrete_gaussian(variance, count: int, source: Source | None = None) -> np.ndarray:
    """Draw from P(k) proportional to exp(-k^2 / (2 variance)) on the integers, exactly.

    Canonne, Kamath and Steinke (2020), Algorithm 3: double geometric proposals of scale t =
    floor(sigma) + 1, kept with probability exp(-(|k| - variance/t)^2 / (2 variance)).

    Parameters
    ----------
    variance : Fraction or int
        Sigma squared, between 1e-6 and 1e20. Close to the variance of a draw where it is not
        small.
    count : int
    source : callable, optional
        As for `double_geometric`.

    Returns
    -------
    int64 array, shape (count,)

    Raises
    ------
    InputError
        If the variance is not rational or out of range.
    """
    if isinstance(variance, bool) or not isinstance(variance, Rational):
        raise InputError(f"release: the variance must be a Fraction or an int, got {variance!r}")
    if not LEAST_VARIANCE <= variance <= MOST_VARIANCE:
        raise InputError(f"release: a variance of {float(variance):g} is not in 1e-6 to 1e20")
    words = _Words(os.urandom if source is None else source)
    law = _gaussian(Fraction(variance))
    drawn = np.zeros(count, dtype=np.int64)
    left = np.arange(count)
    while len(left):
        proposed = law.proposals.draw_difference(words, len(left))
        kept = law.keep(words, np.abs(proposed))
        drawn[left[kept]] = proposed[kept]
        left = left[~kept]
    return drawn


class _Gaussian:
    """Proposals, and the chances of keeping them as whole parts of 2^64 times the chance.

    A word of 64 random bits below the bound keeps the proposal and one above it does not, whatever
    bits might follow. On the bound more bits decide.
    """

    def __init__(self, variance: Fraction):
        self.variance = variance
        self.scale = math.isqrt(math.floor(variance)) + 1
        self.proposals = _geometric(Fraction(1, self.scale))
        self.known: dict[int, int] = {}

    def log_chance(self, size: int) -> Fraction:
        return -((size - self.variance / self.scale) ** 2) / (2 * self.variance)

    def keep(self, words: _Words, sizes: np.ndarray) -> np.ndarray:
        """Decide on each proposal by its absolute value."""
        values, where = np.unique(sizes, return_inverse=True)
        bounds = np.array([self._bound(int(size)) for size in values], dtype=np.uint64)[where]
        uniform = words.take(len(sizes))
        kept = uniform < bounds
        for i in np.flatnonzero(uniform == bounds):
            kept[i] = self._refine(words, int(uniform[i]), int(sizes[i]))
        return kept

    def _bound(self, size: int) -> int:
        if size not in self.known:
            whole = _floor(lambda: _ball(self.log_chance(size)).exp() * arb(1 << 64))
            self.known[size] = min(whole, 2**64 - 1)  # a chance of 1 is left to `_refine`
        return self.known[size]

    def _refine(self, words: _Words, uniform: int, size: int) -> bool:
        bits = 64
        while True:
            with ctx.workprec(2 * bits + 64):
                chance = _ball(self.log_chance(size)).exp() * arb(1 << bits)
                if chance >= uniform + 1:
                    return True
                if chance <= uniform:
                    return False
            uniform, bits = uniform << 64 | words.one(), bits + 64


@lru_cache(maxsize=64)
def _gaussian(variance: Fraction) -> _Gaussian:
    return _Gaussian(variance)
