"""Exact draws from random bits: coins, and geometric counts with the weights of their sums.

No rounded number decides. A probability is irrational as a rule, such as exp(-p/q): uniform random
bits are compared with integer bounds of it, found by ball arithmetic (Arb), and where the bits
drawn so far do not decide, more bits are drawn and the bounds are made tighter. Everything else is
arithmetic on integers.
"""

from __future__ import annotations

from bisect import bisect_left
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
REMEMBERED = 1 << 12  # chances kept of a coin
LEAST_TAKEN = 256  # words asked of the source at least: what they take is more than the asking
SHORT_BITS = 16
OPEN = -1

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


class _Tosses:
    """Coins whose chance is exp of a ball, at most 1; one for each tuple of arguments.

    The chances of `REMEMBERED` of them are kept: as bounds in 64 bits, which decide all but one in
    2^64 tosses, and by the same bits as `_decide`.
    """

    def __init__(self, log_chance: Callable[..., arb]):
        self.log_chance = log_chance
        self._bounds: dict[tuple, tuple[int, int]] = {}

    def toss(self, words: BitSource, uniform: int, *arguments) -> bool:
        """Toss a coin, of which 64 bits are drawn."""
        bounds = self._bounds.get(arguments)
        if bounds is None:
            bounds = _bounds(self.log_chance, *arguments)
            if len(self._bounds) < REMEMBERED:
                self._bounds[arguments] = bounds
        if uniform < bounds[0]:
            return True
        if uniform >= bounds[1]:
            return False
        return _decide(words, uniform, self.log_chance, *arguments)


def _bounds(log_chance: Callable[..., arb], *arguments) -> tuple[int, int]:
    """Whole numbers below and above 2^64 times a chance, at the precision of `_decide`."""
    with ctx.workprec(_precision(64)):
        chance = log_chance(*arguments).exp() * arb(1 << 64)
        return int(chance.lower().floor().unique_fmpz()), int(chance.upper().ceil().unique_fmpz())


def _precision(bits: int) -> int:
    """Working precision of a decision by so many bits."""
    return 2 * bits + 64


def _decide(words: BitSource, uniform: int, log_chance: Callable[..., arb], *arguments) -> bool:
    """Toss a coin whose chance is exp of a ball at the precision in force; 64 bits are drawn."""
    bits = 64
    while True:
        with ctx.workprec(_precision(bits)):
            chance = log_chance(*arguments).exp() * arb(1 << bits)
            if chance >= uniform + 1:
                return True
            if chance <= uniform:
                return False
        uniform, bits = uniform << 64 | words.one(), bits + 64


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
            with ctx.workprec(_precision(bits)):
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


class _SumWeight:
    """C(s + n - 1, n - 1) exp(-rate s) over its largest value, as a chance.

    It falls on either side of the mode. So bounds of the chances of two sums bound those of all
    sums between them, and few have to be found however many coins are tossed.
    """

    def __init__(self, cells: int, rate: Fraction):
        self.cells, self.rate = cells, rate
        self.mode = _floor(self._peak)
        self._most_ways: dict[int, arb] = {}
        self._above, self._below = _Falling(), _Falling()

    def _peak(self) -> arb:
        return (self.cells - 1) / _ball(self.rate).expm1()

    def log(self, s: int, more: int = 0) -> arb:
        """Logarithm at s, plus a whole number, at the precision in force."""
        rise = self._log_ways(s) - self._log_most_ways(ctx.prec) + more
        return rise - arb(self.rate.numerator * (s - self.mode)) / arb(self.rate.denominator)

    def toss(self, words: BitSource, uniform: int, s: int) -> bool:
        """Toss a coin with the chance at s, of which 64 bits are drawn."""
        away = s - self.mode
        known = self._above if away >= 0 else self._below
        at = bisect_left(known.at, abs(away))
        if uniform < known.low[at]:
            return True
        if uniform >= known.high[at]:
            return False
        if known.at[at : at + 1] != [abs(away)]:
            known.put(at, abs(away), *_bounds(self.log, s))
        low, high = known.low[at], known.high[at + 1]
        return uniform < low or (uniform < high and _decide(words, uniform, self.log, s))

    def _log_ways(self, s: int) -> arb:
        return arb(s + self.cells).lgamma() - arb(s + 1).lgamma()

    def _log_most_ways(self, precision: int) -> arb:
        """Ball at the mode, found once for each precision."""
        if precision not in self._most_ways:
            self._most_ways[precision] = self._log_ways(self.mode)
        return self._most_ways[precision]


class _Falling:
    """Bounds of a chance that falls with a number, known at some numbers, which are in order.

    From above ``at[i - 1]`` up to ``at[i]``, 2^64 times the chance is at least ``low[i]``, a bound
    found for ``at[i]``, and at most ``high[i]``, one found for ``at[i - 1]``.
    """

    def __init__(self):
        self.at: list[int] = []
        self.low, self.high = [0], [1 << 64]

    def put(self, i: int, number: int, low: int, high: int) -> None:
        """Put in what has been found for a number from above ``at[i - 1]`` up to ``at[i]``."""
        self.at.insert(i, number)
        self.low.insert(i, low)
        self.high.insert(i + 1, high)


@lru_cache(maxsize=1024)
def _sum_weight(cells: int, rate: Fraction) -> _SumWeight:
    return _SumWeight(cells, rate)
