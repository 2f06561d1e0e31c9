"""Exact draws from random bits: Bernoulli variables (coins), and geometric counts.

No rounded number decides. A probability is irrational as a rule, such as exp(-p/q): uniform random
bits are compared with integer bounds of it, found by ball arithmetic (Arb), and where the bits
drawn so far do not decide, more bits are drawn and the bounds are made tighter. Everything else is
arithmetic on integers.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from isdp.compiled import njit
from isdp.errors import InputError

LARGEST_RATE = 1000  # of noise; with any larger one it is all but always zero
COARSE_RATE = Fraction(1, 16)  # least rate that one table serves, in 710 entries
DIGIT_BITS = 8
CHUNK = 1 << 16  # counts drawn at once: they and their random bits stay in the cache
LEAST_TAKEN = 256  # words asked of the source at least: what they take is more than the asking
SHORT_BITS = 16
OPEN = -1
MARGIN = 2.0**-24  # between doubles and the chances they stand for; rounding does far less

Source = Callable[[int], bytes]


class BitSource:
    """Random 64-bit words from a source of bytes.

    Parameters
    ----------
    source : callable
        ``source(k)`` returns k random bytes.
    """

    def __init__(self, source: Source):
        self.source = source
        self.kept = np.empty(0, dtype=np.uint64)

    def take(self, count: int) -> np.ndarray:
        """Return `count` fresh words, uint64."""
        if count > len(self.kept):
            wanted = max(count - len(self.kept), LEAST_TAKEN)
            raw = self.source(8 * wanted)
            if len(raw) != 8 * wanted:
                raise InputError(
                    f"release: the source of randomness gave {len(raw)} bytes in place of "
                    f"{8 * wanted}"
                )
            fresh = np.frombuffer(raw, dtype="<u8").astype(np.uint64)
            self.kept = np.concatenate([self.kept, fresh]) if len(self.kept) else fresh
        words, self.kept = self.kept[:count], self.kept[count:]
        return words

    def shorts(self, count: int) -> np.ndarray:
        """Return `count` fresh numbers of 16 bits, uint16."""
        return self.take(-(-count // 4)).view(np.uint16)[:count]

    def one(self) -> int:
        """Return a fresh word."""
        return int(self.take(1)[0])


def _ball(number: Fraction) -> arb:
    return arb(number.numerator) / arb(number.denominator)


def _floor(compute: Callable[..., arb], *arguments) -> int:
    """Return the floor of an irrational number, given as a ball at the precision in force."""
    precision = 128
    while True:
        with ctx.workprec(precision):
            whole = compute(*arguments).floor().unique_fmpz()
        if whole is not None:
            return int(whole)
        precision *= 2


def _decide(words: BitSource, uniform: int, log_chance: Callable[..., arb], *arguments) -> bool:
    """Toss a coin whose chance is exp of a ball at the precision in force; 64 bits are drawn."""
    bits = 64
    while True:
        with ctx.workprec(2 * bits + 64):
            chance = log_chance(*arguments).exp() * arb(1 << bits)
            if chance > arb(1 << bits):
                raise ArithmeticError(f"a coin of chance {chance / (1 << bits)} was asked for")
            if chance >= uniform + 1:
                return True
            if chance <= uniform:
                return False
        uniform, bits = uniform << 64 | words.one(), bits + 64


def draw_bernoulli(
    words: BitSource, chances: np.ndarray, log_chance: Callable[[int], arb], margin: float = MARGIN
) -> np.ndarray:
    """Toss a coin for each chance, exactly.

    Parameters
    ----------
    chances : float64 array, shape (coins,)
        Each within half of `margin` of the chance itself; at most 1, but for that.
    log_chance : callable
        ``log_chance(i)`` is the logarithm of the i-th chance, as a ball at the precision in force.
    margin : float
        Wider where the doubles are bounds alone.

    Returns
    -------
    bool array, shape (coins,)

    Raises
    ------
    ArithmeticError
        If a chance is above 1: whoever asks has a bound wrong.
    """
    if len(chances) and not chances.max() <= 1 + margin:
        raise ArithmeticError(f"a coin of chance {chances.max()} was asked for")
    uniform = words.take(len(chances))
    near = uniform.astype(np.float64) * 2.0**-64
    heads = near < chances
    for i in np.flatnonzero(np.abs(near - chances) <= margin).tolist():
        heads[i] = _decide(words, int(uniform[i]), log_chance, i)
    return heads


class _Digit:
    """The law P(k) proportional to exp(-rate k) over k >= 0, or over 0 <= k < size.

    ``bounds[k]`` is the whole part of 2^64 P(X <= k), which is no integer. So 64 random bits
    above it mean X > k whatever bits might follow, below it X <= k; only on it are more needed.

    The first 16 bits are looked up: most are those of no bound, and whatever 48 bits might follow,
    they are above the same bounds. Where they are a bound's own, the 48 are drawn.
    """

    def __init__(self, rate: Fraction, size: int | None = None):
        self.rate, self.size = rate, size
        bounds: list[int] = []
        while len(bounds) != (size or 0) - 1 and (not bounds or bounds[-1] < 2**64 - 1):
            bounds.append(_floor(self._bound, len(bounds)))
        self.bounds = np.array(bounds, dtype=np.uint64)
        self._next = np.append(self.bounds, self.bounds[-1:])  # the bound on which a digit is open
        begins = (self.bounds >> np.uint64(64 - SHORT_BITS)).astype(np.int64)
        self._table = begins.searchsorted(np.arange(1 << SHORT_BITS)).astype(np.int16)
        self._table[begins] = OPEN

    def _bound(self, k: int) -> arb:
        """2^64 P(X <= k)."""
        whole = 1 if self.size is None else self._one_minus(self.size)
        return self._one_minus(k + 1) / whole * 2**64

    def _one_minus(self, k: int) -> arb:
        return -(arb(-self.rate.numerator * k) / self.rate.denominator).expm1()

    def draw(self, words: BitSource, count: int) -> np.ndarray:
        shorts, digits = words.shorts(count), np.empty(count, dtype=np.int64)
        if _look_up(self._table, shorts, digits):
            at = (digits == OPEN).nonzero()[0]
            begun = shorts[at].astype(np.uint64) << np.uint64(64 - SHORT_BITS)
            digits[at] = self._finish(words, begun | words.take(len(at)) >> np.uint64(SHORT_BITS))
        return digits

    def _finish(self, words: BitSource, uniform: np.ndarray) -> np.ndarray:
        """Digits of 64 bits each."""
        digits = self.bounds.searchsorted(uniform)
        for i in (self._next[digits] == uniform).nonzero()[0]:
            digits[i] = self._refine(words, int(uniform[i]))
        return digits

    def _refine(self, words: BitSource, uniform: int) -> int:
        """Go on from 64 bits that did not decide, one more word at a time."""
        bits = 64
        while True:
            uniform, bits = uniform << 64 | words.one(), bits + 64
            with ctx.workprec(2 * bits + 64):
                low = self._quantile(uniform, bits).unique_fmpz()
                high = self._quantile(uniform + 1, bits).unique_fmpz()
            if low is not None and low == high:
                return int(low)

    def _quantile(self, numerator: int, bits: int) -> arb:
        """Floor of the point where the distribution function is numerator / 2^bits."""
        reached = arb(numerator) / arb(1 << bits)
        if self.size is not None:
            reached *= self._one_minus(self.size)
        return (-(1 - reached).log() / _ball(self.rate)).floor()


@lru_cache(maxsize=64)
def _digit(rate: Fraction, size: int | None = None) -> _Digit:
    return _Digit(rate, size)


@njit(cache=True)
def _look_up(table, shorts, digits):
    """Look digits up; return how many are open."""
    left = 0
    for i in range(len(shorts)):
        digits[i] = table[shorts[i]]
        left += digits[i] == OPEN
    return left


class Geometric:
    """P(k) proportional to exp(-epsilon k) over k >= 0.

    In base 2 the digits of a geometric count are independent. The lowest `bits` of them are drawn
    by bytes, and the rest at once, so that no table is long however small epsilon is.
    """

    def __init__(self, epsilon: Fraction):
        self.epsilon, self.bits = epsilon, 0
        while epsilon * 2**self.bits < COARSE_RATE:
            self.bits += 1
        self.digits = []
        for shift in range(0, self.bits, DIGIT_BITS):
            size = 1 << min(DIGIT_BITS, self.bits - shift)
            self.digits.append((shift, _digit(epsilon * 2**shift, size)))
        self.digits.append((self.bits, _digit(epsilon * 2**self.bits)))

    def draw(self, words: BitSource, count: int) -> np.ndarray:
        """Independent counts, int64 (count,)."""
        return self._draw(words, count, self.digits)

    def _draw(self, words: BitSource, count: int, digits: list[tuple[int, _Digit]]) -> np.ndarray:
        if self.bits == 0 and count <= CHUNK:
            return digits[0][1].draw(words, count)
        counts = np.zeros(count, dtype=np.int64)
        for start in range(0, count, CHUNK):
            part = counts[start : start + CHUNK]
            for shift, digit in digits:
                part += digit.draw(words, len(part)) << shift
        return counts

    def draw_remainders(self, words: BitSource, count: int) -> np.ndarray:
        """Independent counts modulo 2^bits, int64 (count,)."""
        return self._draw(words, count, self.digits[:-1])

    def draw_difference(self, words: BitSource, count: int) -> np.ndarray:
        """Independent discrete Laplace variables, int64 (count,)."""
        return self.draw(words, count) - self.draw(words, count)


@lru_cache(maxsize=16)
def _geometric(epsilon: Fraction) -> Geometric:
    return Geometric(epsilon)
