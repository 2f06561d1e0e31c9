"""Exact discrete Gaussian noise under disjoint totals of any size, by recursive splitting.

Under one total over n cells, the noise has the distribution of independent discrete Gaussian
variables given that they add up to 0. Sums are split from the top down to single cells. Given the
sum s of m1 + m2 cells, the sampler draws the sum k of the first m1 cells. Let F_m(s) be the total
weight of all vectors of m cells that add up to s. The probability of k is proportional to
F_m1(k) F_m2(s - k), and

    F_m(s) = exp(-s^2 / (2 m sigma^2)) theta_m(s).

The factor theta_m has the period m. By Poisson summation on the lattice of vectors that add up to
0, its maximum is at 0. The factor is nearly constant unless sigma is small. The sampler proposes k
from a discrete Gaussian around s m1 / (m1 + m2) with the variance sigma^2 m1 m2 / (m1 + m2). The
acceptance probability of k is theta_m1(k) theta_m2(s - k) / (theta_m1(0) theta_m2(0)). A rejection
repeats one split only, for any size of the table. If theta varies little, its bounds decide nearly
all splits (a squeeze), and theta is computed for the other splits.

The factor theta_m is computed from a finite sum. Let phi(t) be the sum over the integers k of
exp(-k^2 / (2 sigma^2)) cos(k t). The sum of F_m over all integers that are equal to s modulo m has
two forms. The first form is (1/m) sum_r cos(2 pi r s / m) phi(2 pi r / m)^m for r = 0, ..., m - 1.
Because theta_m is periodic, the second form is theta_m(s) times the sum over the integers l of
exp(-(s + l m)^2 / (2 m sigma^2)).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import acb, arb, ctx

from isdp.arrays import BoolArray, FloatArray, IntArray
from isdp.checks import refuse_overflow
from isdp.constraints.blocks import block_order
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.bits.bernoulli import PROBABILITY_MARGIN, draw_bernoulli, to_ball
from isdp.exact.bits.discrete_gaussian import draw_gaussian_around, gaussian_variance, theta
from isdp.exact.bits.source import BitSource
from isdp.exact.sampler import RandomBitSampler, refuse_proposals
from isdp.io.progress import progress
from isdp.mechanisms.base import Mechanism, Target, check_energy

MAX_PROPOSALS = 100  # maximum expected number of proposals per split
MAX_TERMS = 20_000  # maximum number of terms of the finite sum; this number takes a second
PRECISION = 192  # initial precision of ball arithmetic, in bits
MAX_PRODUCT = 2.0**61  # of a sum of noise and a number of cells
MAX_DEVIATIONS = 64  # maximum size of a sum of noise, in standard deviations
MAX_AT_ONCE = 1 << 20  # maximum number of cells times draws that are split together


class SplittingSampler(RandomBitSampler):
    """Independent exact draws from P(u) proportional to exp(-||u||_2^2 / (2 sigma^2)).

    The invariants are totals of disjoint blocks. The weight of the target must be exp(-rate
    ||u||_2^2), as for `GeneralizedGaussian`, with sigma^2 = 1 / (2 rate).

    Attributes
    ----------
    expected_proposals : float
        A bound on the expected number of proposals for a split of the largest block.

    Raises
    ------
    InputError
        If the totals overlap, the weight has another form, sums of noise could overflow 64-bit
        integers, or sigma is too small for fast splits.
    """

    method = "halving"
    reason = "the noise is Gaussian, and the invariants are totals of disjoint blocks"

    def __init__(self, invariants: Invariants, target: Target | Mechanism):
        energy = check_energy(self.method, target, [(2, False)])
        self.order, self.starts = block_order(self.method, invariants)
        self.invariants = invariants
        self.variance = variance = gaussian_variance(energy)
        sizes = np.diff(self.starts)
        largest = int(sizes.max(initial=1))
        max_sum = MAX_DEVIATIONS * math.sqrt(largest * (float(variance) + 1))
        noun = f"sums of noise over {largest} cells"
        refuse_overflow("sigma", noun, max_sum * largest, 61, "Use a smaller sigma.")
        self.expected_proposals = bound_split_proposals(variance, largest)

    def draw(self, bits: BitSource, n_draws: int) -> IntArray:
        """See `RandomBitSampler.draw`."""
        noise = np.zeros((n_draws, len(self.order)), dtype=np.int64)
        for free in _pieces(self.order[: self.starts[0]], n_draws):
            zeros = np.zeros(n_draws * len(free), dtype=np.int64)
            drawn = draw_gaussian_around(bits, self.variance, zeros, 1)
            noise[:, free] = drawn.reshape(n_draws, len(free))
        sizes = np.diff(self.starts)
        with progress("drawing noise", n_draws * int((sizes - 1).sum())) as report:
            counter = _SplitCounter(report)
            for size in np.unique(sizes[sizes > 1]).tolist():
                for starts in _pieces(self.starts[:-1][sizes == size], n_draws * size):
                    cells = self.order[starts[:, None] + np.arange(size)]
                    drawn = np.zeros((n_draws * len(starts), size), dtype=np.int64)
                    sums = np.zeros(len(drawn), dtype=np.int64)
                    _split_into(drawn, bits, self.variance, sums, counter)
                    noise[:, cells.ravel()] = drawn.reshape(n_draws, cells.size)
        return noise


def _pieces(values: IntArray, numbers: int) -> Iterator[IntArray]:
    """Yield pieces of an array, each with at most `MAX_AT_ONCE` numbers in all.

    Each value of the array counts as `numbers` numbers. A piece has at least one value.
    """
    length = max(MAX_AT_ONCE // numbers, 1)
    for start in range(0, len(values), length):
        yield values[start : start + length]


def bound_split_proposals(variance: Fraction, cells: int) -> float:
    """Bound the expected number of proposals for a split of a block that adds up to 0.

    Raise `InputError` if the variance is too small for fast splits.
    """
    if _terms(float(variance), cells) > MAX_TERMS:
        raise InputError(
            f"sigma: {math.sqrt(variance):.3g} is too small for exact draws under a total over "
            f"{cells} cells. Use a larger sigma."
        )
    expected = max(
        (_expected_proposals(variance, *pair, cells) for pair in _splits(cells)), default=1.0
    )
    draw = f"sigma: at sigma {math.sqrt(variance):.3g}, a split of a total over {cells} cells"
    refuse_proposals(draw, expected, MAX_PROPOSALS, "Use a larger sigma.")
    return expected


def split_totals(
    bits: BitSource, variance: Fraction, totals: IntArray, sizes: IntArray
) -> IntArray:
    """Draw cells of blocks of different sizes, given the total of each block.

    The arguments `totals` and `sizes` have shape (blocks,). The result has shape (sum of sizes,),
    with the cells in the order of the blocks. Blocks of equal sizes are split together.
    """
    cells = np.empty(int(sizes.sum()), dtype=np.int64)
    starts, counter = np.cumsum(sizes) - sizes, _SplitCounter(lambda done: None)
    waiting = {
        size: [(totals[sizes == size], starts[sizes == size])] for size in np.unique(sizes).tolist()
    }
    while waiting:
        size = max(waiting)
        parts = waiting.pop(size)
        sums, at = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        if size == 1:
            cells[at] = sums
            continue
        first, second = _parts(size)
        left = _split(bits, variance, sums, first, second, counter)
        waiting.setdefault(first, []).append((left, at))
        waiting.setdefault(second, []).append((sums - left, at + first))
    return cells


class _SplitCounter:
    def __init__(self, report: Callable[[float], None]):
        self.report, self.done = report, 0

    def add(self, n_splits: int) -> None:
        self.done += n_splits
        self.report(self.done)


def _split_into(
    drawn: IntArray, bits: BitSource, variance: Fraction, sums: IntArray, counter: _SplitCounter
) -> None:
    """Draw cells that add up to the given sums into an int64 array of shape (sums, cells).

    The parts of a large block are split one after the other, which needs little memory.
    """
    cells = drawn.shape[1]
    if cells == 1:
        drawn[:, 0] = sums
        return
    first, second = _parts(cells)
    left = _split(bits, variance, sums, first, second, counter)
    right = sums - left
    if first == second and drawn.size <= MAX_AT_ONCE:
        both = np.empty((2 * len(sums), first), dtype=np.int64)
        _split_into(both, bits, variance, np.concatenate([left, right]), counter)
        drawn[:, :first], drawn[:, first:] = both[: len(sums)], both[len(sums) :]
    else:
        _split_into(drawn[:, first:], bits, variance, right, counter)
        _split_into(drawn[:, :first], bits, variance, left, counter)


def _parts(cells: int) -> tuple[int, int]:
    """Return the sizes of both parts of a split. The first size is a power of two."""
    first = 1 << ((cells - 1).bit_length() - 1)
    return first, cells - first


def _splits(cells: int) -> set[tuple[int, int]]:
    found, sizes = set(), {cells}
    while pairs := {_parts(size) for size in sizes if size > 1}:
        found |= pairs
        sizes = {size for pair in pairs for size in pair}
    return found


def _split(
    bits: BitSource,
    variance: Fraction,
    sums: IntArray,
    first: int,
    second: int,
    counter: _SplitCounter,
) -> IntArray:
    """Draw the sums of the `first` cells, given the sums of all cells."""
    common = math.gcd(first, second)
    numerators, denominator = sums * (first // common), (first + second) // common
    drawn = np.zeros(len(sums), dtype=np.int64)
    parts = [theta_period(variance, first), theta_period(variance, second)]
    left = np.arange(len(sums))
    while len(left):
        proposed = draw_gaussian_around(
            bits, variance * first * second / (first + second), numerators[left], denominator
        )
        pair = [proposed, sums[left] - proposed]
        kept = _keep(bits, parts, pair)
        drawn[left[kept]] = proposed[kept]
        left = left[~kept]
        counter.add(int(kept.sum()))
    return drawn


def _keep(bits: BitSource, parts: list[ThetaPeriod], pair: list[IntArray]) -> BoolArray:
    """Accept proposed splits with the probabilities in the module's docstring."""
    spread = parts[0].spread + parts[1].spread
    if spread * len(pair[0]) <= 1:
        # one bound decides nearly all splits (a squeeze)
        probabilities, margin = np.ones(len(pair[0])), max(PROBABILITY_MARGIN, 2 * spread)
    else:
        probabilities, margin = (
            parts[0].relative(pair[0]) * parts[1].relative(pair[1]),
            PROBABILITY_MARGIN,
        )

    def log_probability(i: int) -> arb:
        logs = [part.log_relative(int(x[i])) for part, x in zip(parts, pair, strict=True)]
        return logs[0] + logs[1]

    return draw_bernoulli(bits, probabilities, log_probability, margin)


def _terms(variance: float, cells: int) -> float:
    """Estimate the number of significant terms of the finite sum.

    Let v be the variance of the discrete Gaussian. Then phi(t) decreases as exp(-t^2 v / 2).
    """
    k = np.arange(-30.0, 31.0) * max(math.ceil(math.sqrt(variance) / 3), 1)
    weights = np.exp(-(k**2) / (2 * variance))
    v = float((weights * k**2).sum() / weights.sum())
    bits = PRECISION + 2 * math.log2(cells + 1)
    terms = math.sqrt(2 * bits * math.log(2) * cells / v) / (2 * math.pi) if v else math.inf
    return min(cells / 2, terms)


def _expected_proposals(variance: Fraction, first: int, second: int, all_cells: int) -> float:
    """Bound the expected number of proposals of a split, in a block that adds up to 0.

    Let m(v, c) be the sum over the integers of a Gaussian of variance v around c, divided by its
    integral. The maximum of m(v, c) over c is m(v, 0). A split of s takes m(v, c) theta_first(0)
    theta_second(0) / theta_both(s) proposals on average. The probability of s is F_both(s)
    F_others(-s) / F_all(0), so that theta_both(s) cancels in the mean. The remaining factor is at
    most the sum of a Gaussian over s, times theta_others(0).
    """
    both, others = first + second, all_cells - first - second
    with ctx.workprec(rough_precision(variance)):
        log = theta_period(variance, first).log(0) + theta_period(variance, second).log(0)
        log += log_mass(variance * first * second / both)
        if others:
            log += theta_period(variance, others).log(0) + log_mass(
                variance * both * others / all_cells
            )
        return float((log - theta_period(variance, all_cells).log(0)).exp())


def rough_precision(variance: Fraction) -> int:
    """Return the precision, in bits, of balls that only bound numbers."""
    return 64 + math.ceil(variance).bit_length()


def log_mass(variance: Fraction) -> arb:
    """Compute the logarithm of m(variance, 0), as defined in `_expected_proposals`."""
    return theta(Fraction(0), acb(0, 2 * arb.pi() * to_ball(variance))).log()


class ThetaPeriod:
    """The periodic factor theta_m of F_m, with the constant term 1 in Poisson summation.

    Attributes
    ----------
    spread : float
        The ratio theta_m(s) / theta_m(0) is between 1 - spread and 1.
    """

    def __init__(self, variance: Fraction, cells: int):
        self.variance, self.cells = variance, cells
        self.known: dict[int, float] = {}
        self.powers: dict[int, list[arb]] = {}
        with ctx.workprec(rough_precision(variance)):
            # the other terms are cosines, whose amplitudes add up to theta_m(0) - 1
            self.spread = float((2 * self.log(0).expm1()).upper())

    def relative(self, sums: IntArray) -> FloatArray:
        """Compute theta_m(s) / theta_m(0) with an error of at most PROBABILITY_MARGIN / 8."""
        if self.spread < PROBABILITY_MARGIN / 8:
            return np.ones(len(sums))
        rests, where = np.unique(sums % self.cells, return_inverse=True)
        return np.array([self._relative_at(rest) for rest in rests.tolist()])[where]

    def _relative_at(self, rest: int) -> float:
        rest = min(rest, self.cells - rest)
        precision = PRECISION
        while rest not in self.known:
            with ctx.workprec(precision):
                ratio = self.log_relative(rest).exp()
            if ratio.rad() < PROBABILITY_MARGIN / 8:  # digits cancel if theta is small
                self.known[rest] = float(ratio.mid())
            precision *= 2
        return self.known[rest]

    def log_relative(self, s: int) -> arb:
        """Compute the logarithm of theta_m(s) / theta_m(0)."""
        return self.log(s) - self.log(0)

    def log(self, s: int) -> arb:
        """Compute the logarithm of theta_m(s) at the current precision."""
        m, tau = self.cells, acb(0, 2 * arb.pi() * to_ball(self.variance))
        if m == 1:
            return arb(0)
        rest = s % m
        total, last = arb(0), arb(0)
        for r, power in enumerate(self._powers()):
            twice = 1 if 2 * r in (0, m) else 2
            total += twice * power * (arb(2 * r * rest) / m).cos_pi()
            last = power
        total += arb(0, (m * last).upper() if 2 * (r + 1) <= m else 0)
        around = theta(Fraction(rest, m), tau / m)
        return m * theta(Fraction(0), tau).log() + total.log() - around.log()

    def _powers(self) -> list[arb]:
        """Compute (phi(2 pi r / m) / phi(0))^m for r = 0, 1, ... until the terms are negligible.

        The terms decrease up to r = m / 2, so that m times the last term bounds the remainder.
        """
        if ctx.prec not in self.powers:
            tau = acb(0, 1 / (2 * arb.pi() * to_ball(self.variance)))
            negligible = arb(2) ** -(ctx.prec + 2 * self.cells.bit_length())
            at_zero, found = theta(Fraction(0), tau), []
            for r in range(self.cells // 2 + 1):
                found.append((theta(Fraction(r, self.cells), tau) / at_zero) ** self.cells)
                if found[-1] < negligible:
                    break
            self.powers[ctx.prec] = found
        return self.powers[ctx.prec]


@lru_cache(maxsize=256)
def theta_period(variance: Fraction, cells: int) -> ThetaPeriod:
    """Return the cached `ThetaPeriod` of these arguments."""
    return ThetaPeriod(variance, cells)
