"""Exact draws from random bits: coins, geometric counts, compositions.

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
from numba import njit

from isdp.errors import InputError

COARSE_RATE = Fraction(1, 16)  # least rate that one table serves, in 710 entries
DIGIT_BITS = 8
CHUNK = 1 << 16  # random words taken at once: they and the counts stay in the cache
REMEMBERED = 1 << 12  # chances kept of a coin

Source = Callable[[int], bytes]


class _Words:
    """Random 64-bit words from a source of bytes."""

    def __init__(self, source: Source):
        self.source = source
        self.kept = np.empty(0, dtype=np.uint64)

    def take(self, count: int) -> np.ndarray:
        """Return `count` fresh words, uint64."""
        if count > len(self.kept):
            wanted = max(count, 1024)
            raw = self.source(8 * wanted)
            if len(raw) != 8 * wanted:
                raise InputError(
                    f"release: the source of randomness gave {len(raw)} bytes in place of "
                    f"{8 * wanted}"
                )
            self.kept = np.frombuffer(raw, dtype="<u8").astype(np.uint64)
        words, self.kept = self.kept[:count], self.kept[count:]
        return words

    def one(self) -> int:
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

    def toss(self, words: _Words, *arguments) -> bool:
        uniform = words.one()
        bounds = self._bounds.get(arguments)
        if bounds is None:
            bounds = self._find(arguments)
        if uniform < bounds[0]:
            return True
        if uniform >= bounds[1]:
            return False
        return _decide(words, uniform, self.log_chance, *arguments)

    def _find(self, arguments: tuple) -> tuple[int, int]:
        """Whole numbers below and above 2^64 times the chance, at the precision of `_decide`."""
        with ctx.workprec(_precision(64)):
            chance = self.log_chance(*arguments).exp() * arb(1 << 64)
            bounds = (
                int(chance.lower().floor().unique_fmpz()),
                int(chance.upper().ceil().unique_fmpz()),
            )
        if len(self._bounds) < REMEMBERED:
            self._bounds[arguments] = bounds
        return bounds


def _precision(bits: int) -> int:
    """Working precision of a decision by so many bits."""
    return 2 * bits + 64


def _decide(words: _Words, uniform: int, log_chance: Callable[..., arb], *arguments) -> bool:
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
    """

    def __init__(self, rate: Fraction, size: int | None = None):
        self.rate, self.size = rate, size
        bounds: list[int] = []
        while len(bounds) != (size or 0) - 1 and (not bounds or bounds[-1] < 2**64 - 1):
            bounds.append(_floor(self._bound, len(bounds)))
        self.bounds = np.array(bounds, dtype=np.uint64)
        self._next = np.append(self.bounds, self.bounds[-1:])  # the bound on which a digit is open

    def _bound(self, k: int) -> arb:
        """2^64 P(X <= k)."""
        whole = 1 if self.size is None else self._one_minus(self.size)
        return self._one_minus(k + 1) / whole * 2**64

    def _one_minus(self, k: int) -> arb:
        return -(-_ball(self.rate * k)).expm1()

    def draw(self, words: _Words, count: int) -> np.ndarray:
        uniform = words.take(count)
        digit = self.bounds.searchsorted(uniform)
        for i in (self._next[digit] == uniform).nonzero()[0]:
            digit[i] = self._refine(words, int(uniform[i]))
        return digit

    def _refine(self, words: _Words, uniform: int) -> int:
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


class _Geometric:
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
            self.digits.append((shift, _Digit(epsilon * 2**shift, size)))
        self.digits.append((self.bits, _Digit(epsilon * 2**self.bits)))

    def draw(self, words: _Words, count: int) -> np.ndarray:
        """Independent counts, int64 (count,)."""
        counts = np.zeros(count, dtype=np.int64)
        for start in range(0, count, CHUNK):
            part = counts[start : start + CHUNK]
            for shift, digit in self.digits:
                part += digit.draw(words, len(part)) << shift
        return counts

    def draw_difference(self, words: _Words, count: int) -> np.ndarray:
        """Independent discrete Laplace variables, int64 (count,)."""
        return self.draw(words, count) - self.draw(words, count)


@lru_cache(maxsize=16)
def _geometric(epsilon: Fraction) -> _Geometric:
    return _Geometric(epsilon)


class _SumWeight:
    """C(s + n - 1, n - 1) exp(-rate s) over its largest value, as a chance."""

    def __init__(self, cells: int, rate: Fraction):
        self.cells, self.rate = cells, rate
        self.mode = _floor(self._peak)
        self._known: dict[int, arb] = {}
        self._tosses = _Tosses(self.log)

    def _peak(self) -> arb:
        return (self.cells - 1) / _ball(self.rate).expm1()

    def log(self, s: int, less: Fraction = Fraction(0)) -> arb:
        """Logarithm at s, minus `less`, at the precision in force."""
        rise = self._log_ways(s) - self._log_most_ways(ctx.prec)
        # rate (s - mode) + less; sums of fractions would be reduced first, which takes longer
        fall = self.rate.numerator * (s - self.mode) * less.denominator
        fall += less.numerator * self.rate.denominator
        return rise - arb(fall) / arb(self.rate.denominator * less.denominator)

    def toss(self, words: _Words, s: int, less: Fraction = Fraction(0)) -> bool:
        """Toss a coin with this chance."""
        return self._tosses.toss(words, s, less)

    def _log_ways(self, s: int) -> arb:
        return arb(s + self.cells).lgamma() - arb(s + 1).lgamma()

    def _log_most_ways(self, precision: int) -> arb:
        """Ball at the mode, found once for each precision."""
        if precision not in self._known:
            self._known[precision] = self._log_ways(self.mode)
        return self._known[precision]


@lru_cache(maxsize=1024)
def _sum_weight(cells: int, rate: Fraction) -> _SumWeight:
    return _SumWeight(cells, rate)


def _draw_block(words: _Words, geometric: _Geometric, weight: _SumWeight) -> np.ndarray:
    """Noise under one total: the difference of two compositions of one sum.

    Geometric counts have the sum s with a chance in proportion to C(s + n - 1, n - 1) a^s, and
    the law of the sum that is wanted is the square of this. Keeping them with a chance in
    proportion to the same `weight` gives that law and the first composition in one.
    """
    while True:
        x = geometric.draw(words, weight.cells)
        total = int(x.sum())
        if weight.toss(words, total):
            break
    x -= _compose(words, total, weight.cells, geometric)
    return x


def _compose(words: _Words, total: int, cells: int, geometric: _Geometric) -> np.ndarray:
    """Uniform weak composition of `total` into `cells` >= 2 parts.

    Remainders and quotients are drawn apart as in `isdp.exact.compositions`, with
    exp(-epsilon) as the parameter of the counts whatever the total is. The quotients of
    independent counts are then moved from the sum they have to the sum they should have.
    """
    bits = geometric.bits
    if bits == 0:
        x = geometric.draw(words, cells)
        _settle(words, x, total)
        return x
    unit = 1 << bits
    weight = _sum_weight(cells, geometric.epsilon * unit)
    while True:
        x = geometric.draw(words, cells)
        remainders = x & (unit - 1)
        remainders[-1] = (total - int(remainders[:-1].sum())) % unit
        want = (total - int(remainders.sum())) >> bits
        less = geometric.epsilon * int(remainders[-1])
        if want >= 0 and weight.toss(words, want, less):
            break
    x >>= bits
    _settle(words, x, want)
    return (x << bits) + remainders


def _settle(words: _Words, x: np.ndarray, want: int) -> None:
    """Move `x`, a uniform composition of its sum, to a uniform one of `want`."""
    have, most = int(x.sum()), int(x.max())
    while have != want:
        count = min(max(16 * abs(want - have), 64), CHUNK)
        have, most = _move(words.take(count).view(np.int64), x, have, want, most)


@njit(cache=True)
def _move(words, x, have, want, most):
    """Add or take single balls until the sum is `want` or the words are used up.

    A word is a cell (its low half) and a level (its high half), both uniform over a power of two.
    A ball goes into cell i if the level is at most x_i, out of it if the level is less than x_i.
    Returns the sum reached and a bound of every count.
    """
    cells = 1
    while cells < len(x):
        cells *= 2
    levels = 1
    while levels <= most:
        levels *= 2
    for word in words:
        if have == want:
            break
        i = word & (cells - 1)
        level = (word >> 32) & (levels - 1)
        if i >= len(x):
            continue
        if have < want and level <= x[i]:
            x[i] += 1
            have += 1
            most = max(most, x[i])
            if most >= levels:
                levels *= 2
        elif have > want and level < x[i]:
            x[i] -= 1
            have -= 1
    return have, most
