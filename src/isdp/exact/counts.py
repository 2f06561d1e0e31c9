"""Sums of many geometric counts, drawn exactly and in a time that does not grow with their number.

The sum s of m counts has P(s) proportional to C(s + m - 1, m - 1) exp(-rate s), a log-concave law.
Relative to its height at the mode it is at most 1, and beyond a distance r at which it has fallen
below exp(-1) at most exp(-b) between b r and (b + 1) r: such steps of equal width are the hull that
sums are proposed from. About half of the proposals are kept.

No rounded number decides (`isdp.exact.coins`). What makes it fast: within a step the law falls with
the distance, so that its values at both ends of a piece of a step bound it on the whole piece. One
random word below or above both bounds settles a proposal, one between them is taken to more bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import arb, ctx

from isdp.exact.coins import BitSource, _decide, _Digit, _sum_weight, _SumWeight

STEPS, PIECES = 8, 32  # steps on either side that have bounds, and pieces of each
TOP = 2**64 - 1


class SumsOfCounts:
    """Laws P(s) proportional to C(s + m - 1, m - 1) exp(-rate s) over s >= 0, for several m.

    Parameters
    ----------
    counts : sequence of int
        The m of each law, 1 at least.
    rate : Fraction
        Positive.

    Notes
    -----
    A number is told from the mode by its side (0 above or at it, 1 below), its step, and its place
    in the step, from 0 up as it goes away. Bounds of the chances are found as they are needed.
    """

    def __init__(self, counts: Sequence[int], rate: Fraction):
        self._weights = [_sum_weight(m, rate) for m in counts]
        self._modes = np.array([weight.mode for weight in self._weights], dtype=np.int64)
        self._widths = np.array([_width(weight) for weight in self._weights], dtype=np.int64)
        shape = (len(counts), 2, STEPS, PIECES)
        self._known = np.zeros(shape, dtype=bool)
        self._low, self._high = np.zeros(shape, np.uint64), np.zeros(shape, np.uint64)
        self._digit = _Digit(Fraction(1))

    def draw(self, words: BitSource, laws: np.ndarray) -> np.ndarray:
        """Draw one sum from each of the laws named; int64 (laws,)."""
        sums = np.empty(len(laws), dtype=np.int64)
        left = np.arange(len(laws))
        while len(left):
            law = laws[left]
            step = self._digit.draw(words, len(left)).astype(np.int64)
            side = (words.take(len(left)) & np.uint64(1)).astype(np.int64)
            place = draw_below(words, self._widths[law])
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
        near = np.flatnonzero(step < STEPS)
        piece = place[near] * PIECES // self._widths[law[near]]
        at = (law[near], side[near], step[near], piece)
        self._learn(at)
        kept, undecided = np.zeros(len(law), dtype=bool), np.ones(len(law), dtype=bool)
        kept[near] = uniform[near] < self._low[at]
        undecided[near] = ~kept[near] & (uniform[near] <= self._high[at])
        for i in np.flatnonzero(undecided):
            value = int(self._value(law[i], side[i], step[i], place[i]))
            log_chance = self._weights[law[i]].log
            kept[i] = _decide(words, int(uniform[i]), log_chance, value, int(step[i]))
        return kept

    def _learn(self, at) -> None:
        """Find the bounds that are not known yet."""
        missing = ~self._known[at]
        if not missing.any():
            return
        for law, side, step, piece in np.unique(np.stack(at)[:, missing], axis=1).T.tolist():
            width = int(self._widths[law])
            first, last = -(-piece * width // PIECES), -(-(piece + 1) * width // PIECES) - 1
            where = (law, side, step, piece)
            self._low[where] = self._chance(law, int(self._value(law, side, step, last)), step)[0]
            self._high[where] = self._chance(law, int(self._value(law, side, step, first)), step)[1]
            self._known[where] = True

    def _chance(self, law: int, value: int, step: int) -> tuple[int, int]:
        """Whole numbers below and above 2^64 exp(step) P(value) / P(mode), cut at 64 bits."""
        if value < 0:
            return 0, 0
        with ctx.workprec(128):
            chance = self._weights[law].log(value, step).exp() * arb(1 << 64)
            low, high = chance.lower().floor(), chance.upper().floor()
        return max(min(int(low.unique_fmpz()), TOP), 0), min(int(high.unique_fmpz()), TOP)


def _width(weight: _SumWeight) -> int:
    """Find a distance from the mode at which the law has fallen below exp(-1) on both sides.

    Being log-concave it is below exp(-b) at b times that distance.
    """
    rate = float(weight.rate)
    width = int(1.2 * math.sqrt(weight.cells * math.exp(-rate)) / -math.expm1(-rate)) + 1
    while not _fallen(weight, width):
        width += width // 16 + 1
    return width


def _fallen(weight: _SumWeight, width: int) -> bool:
    with ctx.workprec(128):
        above = weight.log(weight.mode + width) < -1
        return bool(above and (weight.mode < width or weight.log(weight.mode - width) < -1))


def draw_below(words: BitSource, limits: np.ndarray) -> np.ndarray:
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
