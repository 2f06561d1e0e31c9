"""Negative binomial draws: sums of many geometric counts, in a time that does not grow with them.

The sum s of m counts has P(s) proportional to C(s + m - 1, m - 1) exp(-rate s), which is
log-concave. Draws are by rejection from an envelope (Devroye 1986, section VII.2): relative to its
height at the mode P is at most 1, and beyond a distance r at which it has fallen below exp(-1) at
most exp(-b) between b r and (b + 1) r. About half of the proposals are kept.
`NegativeBinomials.keep` decides on values from elsewhere with the chance P(s) / P(mode).

No rounded number decides (`isdp.exact.bits.geometric`). What makes it fast is a squeeze: within a
step of the envelope P falls with the distance, so that its values at both ends of a piece of a step
bound it on the whole piece. One random word below or above both bounds settles a proposal; ball
arithmetic settles one between them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from isdp.exact.bits.geometric import BitSource, _ball, _decide, _digit, _floor

STEPS, PIECES = 8, 32  # steps on either side that have bounds, and pieces of each
TOP = 2**64 - 1


class NegativeBinomialWeight:
    """C(s + m - 1, m - 1) exp(-rate s) over its largest value, as a chance."""

    def __init__(self, cells: int, rate: Fraction):
        self.cells, self.rate = cells, rate
        self.mode = _floor(self._peak)
        self._most_ways: dict[int, arb] = {}  # by precision

    def _peak(self) -> arb:
        return (self.cells - 1) / _ball(self.rate).expm1()

    def log(self, s: int, more: int = 0) -> arb:
        """Logarithm at s, plus a whole number, at the precision in force."""
        if ctx.prec not in self._most_ways:
            self._most_ways[ctx.prec] = self._log_ways(self.mode)
        rise = self._log_ways(s) - self._most_ways[ctx.prec] + more
        return rise - arb(self.rate.numerator * (s - self.mode)) / arb(self.rate.denominator)

    def _log_ways(self, s: int) -> arb:
        return arb(s + self.cells).lgamma() - arb(s + 1).lgamma()


class NegativeBinomials:
    """Laws P(s) proportional to C(s + m - 1, m - 1) exp(-rate s) over s >= 0, for several m.

    Parameters
    ----------
    counts : sequence of int
        The m of each law, 1 at least; `laws` adds others.
    rate : Fraction
        Positive.

    Notes
    -----
    A number is told from the mode by its side (0 above or at it, 1 below), its step, and its place
    in the step, from 0 up as it goes away. `_low` and `_high` are bounds of 2^64 times the chances
    in each piece: law by law, side by side, step by step, and piece by piece. Those of the pieces
    in `_known` have been found, as they were needed; others, and those of all steps from `STEPS`
    on, which share PIECES entries, decide nothing.
    """

    def __init__(self, counts: Sequence[int], rate: Fraction):
        self.rate, self._digit = rate, _digit(Fraction(1))
        self._law: dict[int, int] = {}
        self._weights: list[NegativeBinomialWeight] = []
        self._modes, self._widths = np.empty(0, np.int64), np.empty(0, np.int64)
        self._low, self._high = np.empty(0, np.uint64), np.empty(0, np.uint64)
        self._known: set[int] = set()
        if counts:
            self._add(counts)

    def _add(self, counts: Sequence[int]) -> None:
        """Append laws."""
        weights = [NegativeBinomialWeight(m, self.rate) for m in counts]
        self._law.update((m, len(self._weights) + i) for i, m in enumerate(counts))
        self._weights += weights
        found = np.array([(weight.mode, _width(weight)) for weight in weights], dtype=np.int64)
        self._modes = np.append(self._modes, found[:, 0])
        self._widths = np.append(self._widths, found[:, 1])
        more = len(counts) * 2 * (STEPS + 1) * PIECES
        self._low = np.append(self._low, np.zeros(more, dtype=np.uint64))
        self._high = np.append(self._high, np.full(more, TOP, dtype=np.uint64))

    def laws(self, counts: np.ndarray) -> np.ndarray:
        """Give the number of the law of each m, int64 (counts,), and set up those that are new."""
        kinds, which = np.unique(counts, return_inverse=True)
        if new := [m for m in kinds.tolist() if m not in self._law]:
            self._add(new)
        return np.array([self._law[m] for m in kinds.tolist()], dtype=np.int64)[which]

    def draw(self, words: BitSource, laws: np.ndarray) -> np.ndarray:
        """Draw one sum from each of the laws named; int64 (laws,)."""
        sums = np.empty(len(laws), dtype=np.int64)
        left = np.arange(len(laws))
        while len(left):
            law = laws[left]
            step = self._digit.draw(words, len(left)).astype(np.int64)
            side = (words.take(len(left)) & np.uint64(1)).astype(np.int64)
            place = draw_bounded_integers(words, self._widths[law])
            value = self._value(law, side, step, place)
            kept = value >= 0
            kept[kept] = self._thin(words, law[kept], side[kept], step[kept], place[kept])
            sums[left[kept]] = value[kept]
            left = left[~kept]
        return sums

    def keep(self, words: BitSource, laws: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Keep each value with the chance P(value) / P(mode) of its law; bool (values,)."""
        away = values - self._modes[laws]
        side = (away < 0).astype(np.int64)
        away = np.where(away < 0, -1 - away, away)
        step, place = np.divmod(away, self._widths[laws])
        # exp(-step) by a count that reaches the step, and the rest as for a proposal in that step
        kept = (values >= 0) & (self._digit.draw(words, len(values)) >= step)
        kept[kept] = self._thin(words, laws[kept], side[kept], step[kept], place[kept])
        return kept

    def _value(self, law, side, step, place):
        """Give the number at a place; arrays or ints."""
        away = step * self._widths[law] + place
        return self._modes[law] + away + side * (-1 - 2 * away)

    def _thin(self, words: BitSource, law, side, step, place) -> np.ndarray:
        """Keep numbers with the chance exp(step) P(number) / P(mode)."""
        uniform = words.take(len(law))
        piece = place * PIECES // self._widths[law]
        at = ((2 * law + side) * (STEPS + 1) + np.minimum(step, STEPS)) * PIECES + piece
        kept = uniform < self._low[at]
        for i in (~kept & (uniform <= self._high[at])).nonzero()[0].tolist():
            where = int(law[i]), int(side[i]), int(step[i])
            if where[2] < STEPS and at[i] not in self._known:
                self._learn(int(at[i]), *where, int(piece[i]))
            kept[i] = uniform[i] < self._low[at[i]]
            if self._low[at[i]] <= uniform[i] <= self._high[at[i]]:
                value = int(self._value(*where, int(place[i])))
                log_chance = self._weights[where[0]].log
                kept[i] = _decide(words, int(uniform[i]), log_chance, value, where[2])
        return kept

    def _learn(self, at: int, law: int, side: int, step: int, piece: int) -> None:
        """Find the bounds of a piece."""
        width = int(self._widths[law])
        first, last = -(-piece * width // PIECES), -(-(piece + 1) * width // PIECES) - 1
        self._low[at] = self._chance(law, int(self._value(law, side, step, last)), step)[0]
        self._high[at] = self._chance(law, int(self._value(law, side, step, first)), step)[1]
        self._known.add(at)

    def _chance(self, law: int, value: int, step: int) -> tuple[int, int]:
        """Whole numbers below and above 2^64 exp(step) P(value) / P(mode), cut at 64 bits."""
        if value < 0:
            return 0, 0
        with ctx.workprec(128):
            chance = self._weights[law].log(value, step).exp() * arb(1 << 64)
            low, high = chance.lower().floor(), chance.upper().floor()
        return max(min(int(low.unique_fmpz()), TOP), 0), min(int(high.unique_fmpz()), TOP)


@lru_cache(maxsize=8)
def negative_binomials(rate: Fraction) -> NegativeBinomials:
    """Laws of one rate, which share what has been found about them."""
    return NegativeBinomials([], rate)


def _width(weight: NegativeBinomialWeight) -> int:
    """Find a distance from the mode at which the law has fallen below exp(-1) on both sides.

    Being log-concave it is below exp(-b) at b times that distance.
    """
    rate = float(weight.rate)
    width = int(1.2 * math.sqrt(weight.cells * math.exp(-rate)) / -math.expm1(-rate)) + 1
    while not _fallen(weight, width):
        width += width // 16 + 1
    return width


def _fallen(weight: NegativeBinomialWeight, width: int) -> bool:
    with ctx.workprec(128):
        above = weight.log(weight.mode + width) < -1
        return bool(above and (weight.mode < width or weight.log(weight.mode - width) < -1))


def draw_bounded_integers(words: BitSource, limits: np.ndarray) -> np.ndarray:
    """Draw integers from 0 to limit - 1, all equally likely; int64 (limits,)."""
    limits = limits.astype(np.uint64)
    # 2^64 mod limit, in 64 bits; words beyond the last whole multiple of the limit are drawn again
    rest = (np.uint64(TOP) % limits + np.uint64(1)) % limits
    drawn = words.take(len(limits)).copy()
    again = np.flatnonzero(drawn > np.uint64(TOP) - rest)
    while len(again):
        drawn[again] = words.take(len(again))
        again = again[drawn[again] > np.uint64(TOP) - rest[again]]
    return (drawn % limits).astype(np.int64)
