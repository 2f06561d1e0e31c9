"""Draws for a real release: exact l1 noise from the operating system's random bits.

Sampling in floating point leaves traces in the low bits of the noise from which the confidential
numbers can be told (I. Mironov, On significance of the least significant bits for differential
privacy, CCS 2012). Here no rounded number decides a draw. Probabilities such as exp(-p/q) are
irrational; uniform random bits are compared with integer bounds of them, found by ball arithmetic
(Arb), and where the bits drawn so far do not decide, more bits are drawn and the bounds are made
tighter. Everything else is arithmetic on integers.

Geometric counts come from inversion in digits, totals from compositions of one random sum as in
`isdp.exact.blocks`, all other lattices from rejection. The idea of building the discrete
Laplace law from exact coins is that of C. Canonne, G. Kamath and T. Steinke, The discrete Gaussian
for differential privacy, NeurIPS 2020.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from numbers import Rational, Real
from typing import NamedTuple

import numpy as np
from flint import arb, ctx
from numba import njit

from isdp.checks import whole
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.blocks import block_order, refuse_large_sums
from isdp.lattice.elimination import settle

SMALLEST_EPSILON, LARGEST_EPSILON = Fraction(1, 10**14), 1000
LARGEST_EXPONENT = 10_000
COARSE_RATE = Fraction(1, 16)  # least rate that one table serves, in 710 entries
DIGIT_BITS = 8
CHUNK = 1 << 16  # random words taken at once: they and the counts stay in the cache
MOST_TRIES = 1_000_000
MOST_CELLS_BY_REJECTION = 1000
LARGEST_WEIGHT = 2**31

Source = Callable[[int], bytes]


def release(
    invariants: Invariants, epsilon, draws: int = 1, source: Source | None = None
) -> np.ndarray:
    """Draw l1 noise for a real release: exact, from the operating system's randomness.

    P(u) is proportional to exp(-epsilon ||u||_1) over the integer vectors u with A u = 0, and this
    is the law itself, not one near it: no floating point and no pseudo-random generator touches
    the draw. It is slower than `isdp.exact.blocks.sample_blocks`.

    Totals of disjoint blocks of any size are drawn directly, margins and other small lattices by
    rejection, which is refused where it would take too many tries.

    The draw closes the attack on the low bits of floating-point noise. It does not hide how long
    the drawing took, which depends on the noise, nor guard the memory that the noise and the
    table are in. The invariants and epsilon count as public. The privacy loss is epsilon per unit
    of the l1 distance between two tables with equal invariants, not per person: one person who
    changes cell moves that distance by 2. Every further draw for the same table costs epsilon
    again.

    Parameters
    ----------
    invariants : Invariants
    epsilon : Fraction, int, str or float
        Privacy loss per unit of the l1 norm, between 1e-14 and 1000. A float stands for its
        shortest decimal form, 0.1 for 1/10; a string may be "1/4" or "0.25".
    draws : int
    source : callable, optional
        ``source(k)`` returns k random bytes; `os.urandom` by default. Another one is for tests.

    Returns
    -------
    int64 array, shape (draws, cells)
        Checked: every draw meets the invariants.

    Raises
    ------
    InputError
        If a setting is out of range, sums could pass 2^53, or rejection would take more than
        about 1e6 tries for a draw.

    Examples
    --------
    >>> noise = release(Invariants.total(5), "1/4")
    >>> noise.shape, int(noise.sum())
    ((1, 5), 0)
    """
    epsilon = exact_epsilon(epsilon)
    draws = whole("release", "draws", draws)
    refuse_large_sums(invariants.cells, float(epsilon))
    words = _Words(os.urandom if source is None else source)
    blocks = block_order(invariants)
    if blocks is None:
        noise = _Rejection(invariants, epsilon).draw(words, draws)
    else:
        noise = np.zeros((draws, invariants.cells), dtype=np.int64)
        for row in noise:
            _fill(words, *blocks, epsilon, row)
    invariants.check(noise)
    return noise


def exact_epsilon(epsilon) -> Fraction:
    """Read epsilon as the rational number that it is written as.

    Parameters
    ----------
    epsilon : Fraction, int, str or float
        A float stands for its shortest decimal form.

    Returns
    -------
    Fraction

    Raises
    ------
    InputError
        If it is no number between 1e-14 and 1000.
    """
    try:
        if isinstance(epsilon, bool) or not isinstance(epsilon, Real | str):
            raise ValueError
        exact = Fraction(epsilon) if isinstance(epsilon, Rational) else _read(str(epsilon))
    except (ValueError, ZeroDivisionError):
        raise InputError(
            f"epsilon must be a number such as 0.25, '1/4' or Fraction(1, 4), got {epsilon!r}"
        ) from None
    if not SMALLEST_EPSILON <= exact <= LARGEST_EPSILON:
        raise InputError(f"release: epsilon must lie between 1e-14 and 1000, got {epsilon!r}")
    return exact


def _read(text: str) -> Fraction:
    """Read a number; 0 for one whose exponent alone puts it out of every range.

    Its power of ten may have millions of digits, where Python reads a few thousand at most in all
    the rest of a number.
    """
    _, marked, exponent = text.lower().partition("e")
    if marked and abs(int(exponent)) > LARGEST_EXPONENT:
        return Fraction(0)
    return Fraction(text)


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


def _coin(words: _Words, log_chance: Callable[..., arb], *arguments) -> bool:
    """Toss a coin whose chance is exp of a ball at the precision in force, at most 1."""
    uniform, bits = 0, 0
    while True:
        uniform, bits = uniform << 64 | words.one(), bits + 64
        with ctx.workprec(2 * bits + 64):
            chance = log_chance(*arguments).exp() * arb(1 << bits)
            if chance >= uniform + 1:
                return True
            if chance <= uniform:
                return False


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

    def _bound(self, k: int) -> arb:
        """2^64 P(X <= k)."""
        whole = 1 if self.size is None else self._one_minus(self.size)
        return self._one_minus(k + 1) / whole * 2**64

    def _one_minus(self, k: int) -> arb:
        return -(-_ball(self.rate * k)).expm1()

    def draw(self, words: _Words, count: int) -> np.ndarray:
        uniform = words.take(count)
        digit = np.searchsorted(self.bounds, uniform)
        open_cases = self.bounds[np.minimum(digit, len(self.bounds) - 1)] == uniform
        for i in np.flatnonzero(open_cases):
            digit[i] = self._refine(words, int(uniform[i]))
        return digit

    def _refine(self, words: _Words, uniform: int) -> int:
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


class _Geometric:
    """P(k) proportional to exp(-epsilon k) over k >= 0.

    In base 2 the digits of a geometric count are independent. The lowest `bits` of them are drawn
    by bytes, and the rest at once, so that no table is long however small epsilon is.
    """

    def __init__(self, epsilon: Fraction):
        self.bits = 0
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

    def _peak(self) -> arb:
        return (self.cells - 1) / _ball(self.rate).expm1()

    def log(self, s: int, less: Fraction = Fraction(0)) -> arb:
        """Logarithm at s, minus `less`, at the precision in force."""
        n, mode = self.cells, self.mode
        rise = arb(s + n).lgamma() - arb(s + 1).lgamma()
        rise -= arb(mode + n).lgamma() - arb(mode + 1).lgamma()
        return rise - _ball(self.rate * (s - mode) + less)


@lru_cache(maxsize=1024)
def _sum_weight(cells: int, rate: Fraction) -> _SumWeight:
    return _SumWeight(cells, rate)


def _fill(words, order, starts, epsilon, noise) -> None:
    """Write one draw under totals of blocks into `noise`."""
    free = order[: starts[0]]
    noise[free] = _geometric(epsilon).draw_difference(words, len(free))
    for start, stop in pairwise(starts.tolist()):
        if stop - start > 1:
            noise[order[start:stop]] = _draw_block(words, stop - start, epsilon)


def _draw_block(words: _Words, cells: int, epsilon: Fraction) -> np.ndarray:
    """Noise under one total: the difference of two compositions of one sum.

    Geometric counts have the sum s with a chance in proportion to C(s + n - 1, n - 1) a^s, and
    the law of the sum that is wanted is the square of this. Keeping them with a chance in
    proportion to the same weight gives that law and the first composition in one.
    """
    geometric, weight = _geometric(epsilon), _sum_weight(cells, epsilon)
    while True:
        x = geometric.draw(words, cells)
        total = int(x.sum())
        if _coin(words, weight.log, total):
            break
    x -= _compose(words, total, cells, epsilon)
    return x


def _compose(words: _Words, total: int, cells: int, epsilon: Fraction) -> np.ndarray:
    """Uniform weak composition of `total` into `cells` >= 2 parts.

    Remainders and quotients are drawn apart as in `isdp.exact.compositions`, with
    exp(-epsilon) as the parameter of the counts whatever the total is. The quotients of
    independent counts are then moved from the sum they have to the sum they should have.
    """
    geometric = _geometric(epsilon)
    bits = geometric.bits
    if bits == 0:
        x = geometric.draw(words, cells)
        _settle(words, x, total)
        return x
    unit = 1 << bits
    weight = _sum_weight(cells, epsilon * unit)
    while True:
        x = geometric.draw(words, cells)
        remainders = x & (unit - 1)
        remainders[-1] = (total - int(remainders[:-1].sum())) % unit
        want = (total - int(remainders.sum())) >> bits
        if want >= 0 and _coin(words, weight.log, want, epsilon * int(remainders[-1])):
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


class _Solution(NamedTuple):
    """How some cells of a lattice's vectors settle the others.

    ``u[settled] = weights @ u[free] / denominator``, with `weights` int64 (settled, free). Only
    the first ``needed[j]`` free cells have a part in the first j + 1 settled ones.
    """

    free: np.ndarray
    settled: np.ndarray
    weights: np.ndarray
    denominator: int
    needed: np.ndarray


class _Rejection:
    """Draws on any small lattice, from independent discrete Laplace cells and rejection.

    The noise in d cells settles that in all others. Drawing the d cells independently and keeping
    them with the chance exp(-epsilon ||u_settled||_1) gives the law. The coin for this is a
    geometric count that must reach the norm, and it is tossed first, so that a try ends as soon
    as the settled cells exceed it. Where not every choice of the d cells makes the others whole
    numbers, those that do not are rejected too.
    """

    def __init__(self, invariants: Invariants, epsilon: Fraction):
        if invariants.cells > MOST_CELLS_BY_REJECTION:
            raise InputError(
                f"release: {invariants.cells} cells whose totals overlap are too many for "
                f"rejection; it takes at most {MOST_CELLS_BY_REJECTION}"
            )
        self.cells = invariants.cells
        self.geometric = _geometric(epsilon)
        self.solution = _settle_cells(invariants)
        weights = self.solution.weights
        if len(weights) * int(abs(weights).sum(axis=1).max(initial=0)) * 64 > epsilon * 2**62:
            raise InputError(
                f"release: epsilon {float(epsilon):g} is so small that noise under these "
                f"invariants could leave 64-bit integers; use a larger epsilon"
            )
        self.rate = _estimate_rate(self.solution, float(epsilon))
        if self.rate * MOST_TRIES < 1:
            raise InputError(
                f"release: rejection would take about {1 / max(self.rate, 1e-300):.1g} tries for "
                f"a draw, more than {MOST_TRIES:.0e}; use a larger epsilon or a smaller table"
            )

    def draw(self, words: _Words, draws: int) -> np.ndarray:
        """Independent draws, int64 (draws, cells)."""
        free, settled, weights, denominator, _ = self.solution
        noise = np.zeros((draws, self.cells), dtype=np.int64)
        done = 0
        while done < draws:
            tries = min(int(1.2 * (draws - done) / self.rate) + 16, CHUNK)
            kept = self._try(words, tries)[: draws - done]
            noise[done : done + len(kept), free] = kept
            noise[done : done + len(kept), settled] = kept @ weights.T // denominator
            done += len(kept)
        return noise

    def _try(self, words: _Words, tries: int) -> np.ndarray:
        """Free cells of the tries that are kept, int64 (kept, free)."""
        free, _, weights, denominator, needed = self.solution
        left = self.geometric.draw(words, tries)
        drawn = np.empty((tries, 0), dtype=np.int64)
        for row, count in zip(weights, needed, strict=True):
            drawn = self._draw_up_to(words, drawn, count)
            value = drawn @ row[:count]
            left -= abs(value) // denominator
            kept = (left >= 0) & (value % denominator == 0)
            left, drawn = left[kept], drawn[kept]
        return self._draw_up_to(words, drawn, len(free))

    def _draw_up_to(self, words: _Words, drawn: np.ndarray, count: int) -> np.ndarray:
        missing = (len(drawn), count - drawn.shape[1])
        fresh = self.geometric.draw_difference(words, missing[0] * missing[1])
        return np.hstack([drawn, fresh.reshape(missing)])


def _settle_cells(invariants: Invariants) -> _Solution:
    """Solve A u = 0 for some cells, and order all so that settled ones come as early as they can.

    The noise is feasible just if the free cells are integers and make the settled ones integers.
    """
    settled, free, weights, denominator = settle(invariants.matrix)
    if max(denominator, abs(weights).max(initial=0)) > LARGEST_WEIGHT:
        raise InputError(
            f"release: under these invariants cells settle one another with weights beyond "
            f"{LARGEST_WEIGHT}; simplify the invariants"
        )
    weights = weights.astype(np.int64)
    by_row, by_column, needed = _plan(weights != 0)
    weights = np.ascontiguousarray(weights[np.ix_(by_row, by_column)])
    return _Solution(free[by_column], settled[by_row], weights, denominator, needed)


def _plan(support: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Order rows so that each next one takes the fewest new columns, and columns as taken."""
    rows, columns, needed = [], [], []
    left = list(range(len(support)))
    new = np.ones(support.shape[1], dtype=bool)
    while left:
        row = left.pop(int((support[left] & new).sum(axis=1).argmin()))
        rows.append(row)
        columns.extend(np.flatnonzero(support[row] & new))
        new &= ~support[row]
        needed.append(len(columns))
    columns.extend(np.flatnonzero(new))
    return tuple(np.array(values, dtype=np.int64) for values in (rows, columns, needed))


def _estimate_rate(solution: _Solution, epsilon: float) -> float:
    """Estimate the share of tries kept; it decides only if, and in what batches, to try."""
    rng = np.random.default_rng(0)
    weights = solution.weights
    tries = min(1 << 18, 10**7 // sum(weights.shape))
    shape = (tries, weights.shape[1])
    drawn = np.floor(rng.exponential(1 / epsilon, shape))
    drawn -= np.floor(rng.exponential(1 / epsilon, shape))
    values = drawn @ weights.T.astype(float) / solution.denominator
    chances = np.exp(-epsilon * abs(values).sum(axis=1))
    return float(chances[(values == np.floor(values)).all(axis=1)].sum()) / tries
