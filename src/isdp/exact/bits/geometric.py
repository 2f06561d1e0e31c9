"""Exact draws of geometric and discrete Laplace variables, by inversion with guide tables.

Uniform random bits are compared with integer bounds on the distribution function, which ball
arithmetic computes. If 64 bits do not decide the comparison, more bits are drawn.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from isdp.compiled import njit
from isdp.exact.bits.bernoulli import exact_floor, to_ball
from isdp.exact.bits.source import BitSource

MAX_RATE = 1000  # noise with a larger rate is almost always zero
MIN_TABLE_RATE = Fraction(1, 16)  # at this rate, a table of all values has 710 entries
DIGIT_BITS = 8
DRAWS_PER_CHUNK = 1 << 16  # a chunk and its random bits fit in the processor's cache
SHORT_BITS = 16
UNDECIDED = -1


class TruncatedGeometric:
    """The distribution P(k) proportional to exp(-rate k) over k >= 0, or over 0 <= k < size.

    A draw X inverts the distribution function. ``bounds[k]`` is the floor of 2^64 P(X <= k). The
    latter number is not an integer. If the first 64 random bits are above the bound, X > k. If they
    are below the bound, X <= k. If they equal the bound, further bits are needed.

    A guide table of 2^16 entries holds the value X for each prefix of 16 random bits. If the first
    16 bits of a bound are equal to the prefix, the entry is `UNDECIDED`. The other 48 bits are
    drawn only for these prefixes.
    """

    def __init__(self, rate: Fraction, size: int | None = None):
        self.rate, self.size = rate, size
        bounds: list[int] = []
        while len(bounds) != (size or 0) - 1 and (not bounds or bounds[-1] < 2**64 - 1):
            bounds.append(exact_floor(self._bound, len(bounds)))
        self.bounds = np.array(bounds, dtype=np.uint64)
        self._next = np.append(self.bounds, self.bounds[-1:])  # the last bound is repeated
        prefixes = (self.bounds >> np.uint64(64 - SHORT_BITS)).astype(np.int64)
        self._table = prefixes.searchsorted(np.arange(1 << SHORT_BITS)).astype(np.int16)
        self._table[prefixes] = UNDECIDED

    def _bound(self, k: int) -> arb:
        """Compute 2^64 P(X <= k)."""
        whole = 1 if self.size is None else self._one_minus(self.size)
        return self._one_minus(k + 1) / whole * 2**64

    def _one_minus(self, k: int) -> arb:
        return -(arb(-self.rate.numerator * k) / self.rate.denominator).expm1()

    def draw(self, bits: BitSource, count: int) -> NDArray[np.int64]:
        """Draw independent values as an int64 array of shape (count,)."""
        shorts, values = bits.take_16_bit(count), np.empty(count, dtype=np.int64)
        if _look_up(self._table, shorts, values):
            at = (values == UNDECIDED).nonzero()[0]
            prefixes = shorts[at].astype(np.uint64) << np.uint64(64 - SHORT_BITS)
            words = prefixes | bits.take(len(at)) >> np.uint64(SHORT_BITS)
            values[at] = self._invert(bits, words)
        return values

    def _invert(self, bits: BitSource, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Invert the distribution function at words of 64 random bits."""
        values = self.bounds.searchsorted(words)
        for i in (self._next[values] == words).nonzero()[0]:
            values[i] = self._refine(bits, int(words[i]))
        return values

    def _refine(self, bits: BitSource, uniform: int) -> int:
        """Draw more words of 64 random bits until they determine the value."""
        n_bits = 64
        while True:
            uniform, n_bits = uniform << 64 | bits.take_one(), n_bits + 64
            with ctx.workprec(2 * n_bits + 64):
                low = self._quantile(uniform, n_bits).unique_fmpz()
                high = self._quantile(uniform + 1, n_bits).unique_fmpz()
            if low is not None and low == high:
                return int(low)

    def _quantile(self, numerator: int, n_bits: int) -> arb:
        """Compute the integer part of the quantile at numerator / 2^n_bits."""
        reached = arb(numerator) / arb(1 << n_bits)
        if self.size is not None:
            reached *= self._one_minus(self.size)
        return (-(1 - reached).log() / to_ball(self.rate)).floor()


@lru_cache(maxsize=64)
def truncated_geometric(rate: Fraction, size: int | None = None) -> TruncatedGeometric:
    """Return the cached `TruncatedGeometric` of these arguments."""
    return TruncatedGeometric(rate, size)


@njit
def _look_up(
    table: NDArray[np.int16], shorts: NDArray[np.uint16], values: NDArray[np.int64]
) -> int:
    """Look up `values` in the guide table, and return the number of undecided values."""
    undecided = 0
    for i in range(len(shorts)):
        values[i] = table[shorts[i]]
        undecided += values[i] == UNDECIDED
    return undecided


class Geometric:
    """The distribution P(k) proportional to exp(-epsilon k) over k >= 0.

    The binary digits of a geometric variable are independent. The lowest `bits` digits are drawn in
    groups of eight, and the higher digits are drawn together. Every table is therefore short, even
    if epsilon is small.
    """

    def __init__(self, epsilon: Fraction):
        self.epsilon, self.bits = epsilon, 0
        while epsilon * 2**self.bits < MIN_TABLE_RATE:
            self.bits += 1
        # pairs (shift, distribution of the group of digits that begins at this shift)
        self.digits = []
        for shift in range(0, self.bits, DIGIT_BITS):
            size = 1 << min(DIGIT_BITS, self.bits - shift)
            self.digits.append((shift, truncated_geometric(epsilon * 2**shift, size)))
        self.digits.append((self.bits, truncated_geometric(epsilon * 2**self.bits)))

    def draw(self, bits: BitSource, count: int) -> NDArray[np.int64]:
        """Draw independent geometric variables as an int64 array of shape (count,)."""
        return self._draw(bits, count, self.digits)

    def _draw(
        self, bits: BitSource, count: int, digits: list[tuple[int, TruncatedGeometric]]
    ) -> NDArray[np.int64]:
        if self.bits == 0 and count <= DRAWS_PER_CHUNK:
            return digits[0][1].draw(bits, count)
        drawn = np.zeros(count, dtype=np.int64)
        for start in range(0, count, DRAWS_PER_CHUNK):
            part = drawn[start : start + DRAWS_PER_CHUNK]
            for shift, digit in digits:
                part += digit.draw(bits, len(part)) << shift
        return drawn

    def draw_remainders(self, bits: BitSource, count: int) -> NDArray[np.int64]:
        """Draw independent geometric variables modulo 2^bits, as int64 of shape (count,)."""
        return self._draw(bits, count, self.digits[:-1])

    def draw_difference(self, bits: BitSource, count: int) -> NDArray[np.int64]:
        """Draw independent discrete Laplace variables as an int64 array of shape (count,)."""
        return self.draw(bits, count) - self.draw(bits, count)


@lru_cache(maxsize=16)
def cached_geometric(epsilon: Fraction) -> Geometric:
    """Return the cached `Geometric` of this rate."""
    return Geometric(epsilon)
