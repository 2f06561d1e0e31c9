"""Negative binomial draws: sums of m geometric variables, in a time that does not grow with m.

The sum s has P(s) proportional to C(s + m - 1, m - 1) exp(-rate s), which is log-concave. Draws use
rejection with a log-concave envelope (Devroye 1986, section VII.2). Let r be a distance from the
mode at which P / P(mode) is below exp(-1) on both sides. By log-concavity, P / P(mode) is at most
exp(-b) between the distances b r and (b + 1) r. About half of the proposals are accepted.

No rounded number decides a draw (`isdp.exact.bits.bernoulli`). A squeeze makes the decisions fast.
Within a step of the envelope, P decreases with the distance from the mode. The values of P at both
ends of a piece of a step therefore bound P on the piece. A random word that is below or above both
bounds decides a proposal. Ball arithmetic decides the other proposals.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from isdp.exact.bits.bernoulli import decide_bernoulli, exact_floor, to_ball
from isdp.exact.bits.geometric import truncated_geometric
from isdp.exact.bits.source import MAX_UINT64, BitSource, draw_bounded_integers

STEPS = 8  # number of steps of the envelope with stored bounds, on each side
PIECES = 32  # number of pieces of each step


class NegativeBinomialWeight:
    """The ratio P(s) / P(mode) of a negative binomial distribution, as a ball."""

    def __init__(self, variables: int, rate: Fraction):
        self.variables, self.rate = variables, rate
        self.mode = exact_floor(self._peak)
        self._log_at_mode: dict[int, arb] = {}  # by precision

    def _peak(self) -> arb:
        return (self.variables - 1) / to_ball(self.rate).expm1()

    def log(self, s: int, added: int = 0) -> arb:
        """Return the logarithm of the ratio at s, plus `added`, at the current precision."""
        if ctx.prec not in self._log_at_mode:
            self._log_at_mode[ctx.prec] = self._log_binomial(self.mode)
        rise = self._log_binomial(s) - self._log_at_mode[ctx.prec] + added
        return rise - arb(self.rate.numerator * (s - self.mode)) / arb(self.rate.denominator)

    def _log_binomial(self, s: int) -> arb:
        return arb(s + self.variables).lgamma() - arb(s + 1).lgamma()


class NegativeBinomials:
    """Distributions P(s) proportional to C(s + m - 1, m - 1) exp(-rate s) over s >= 0.

    There is one distribution for each positive number m in `variables`. The method `indices` adds
    further distributions.
    """

    # An integer has three coordinates. `side` is 0 from the mode upwards and 1 below the mode.
    # `step` is the step of the envelope. `place` is the position in the step, which increases with
    # the distance from the mode. `_low` and `_high` bound 2^64 exp(step) P(integer) / P(mode) on
    # each piece of a step. Their layout is
    #     ((2 * distribution + side) * (STEPS + 1) + min(step, STEPS)) * PIECES + piece
    # A bound is computed when it is first needed, and its position is then added to `_known`. The
    # other bounds, and all bounds of steps from STEPS on, are 0 and 2^64 - 1.

    def __init__(self, variables: Sequence[int], rate: Fraction):
        self.rate, self._step = rate, truncated_geometric(Fraction(1))
        self._index: dict[int, int] = {}
        self._weights: list[NegativeBinomialWeight] = []
        self._modes, self._widths = np.empty(0, np.int64), np.empty(0, np.int64)
        self._low, self._high = np.empty(0, np.uint64), np.empty(0, np.uint64)
        self._known: set[int] = set()
        if variables:
            self._add(variables)

    def _add(self, variables: Sequence[int]) -> None:
        weights = [NegativeBinomialWeight(m, self.rate) for m in variables]
        self._index.update((m, len(self._weights) + i) for i, m in enumerate(variables))
        self._weights += weights
        found = np.array([(weight.mode, _width(weight)) for weight in weights], dtype=np.int64)
        self._modes = np.append(self._modes, found[:, 0])
        self._widths = np.append(self._widths, found[:, 1])
        n_pieces = len(variables) * 2 * (STEPS + 1) * PIECES
        self._low = np.append(self._low, np.zeros(n_pieces, dtype=np.uint64))
        self._high = np.append(self._high, np.full(n_pieces, MAX_UINT64, dtype=np.uint64))

    def indices(self, variables: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the index of the distribution of each m, and add the missing distributions."""
        distinct, which = np.unique(variables, return_inverse=True)
        if new := [m for m in distinct.tolist() if m not in self._index]:
            self._add(new)
        return np.array([self._index[m] for m in distinct.tolist()], dtype=np.int64)[which]

    def draw(self, bits: BitSource, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Draw one sum from the distribution of each index, as int64 of shape (indices,)."""
        sums = np.empty(len(indices), dtype=np.int64)
        left = np.arange(len(indices))
        while len(left):
            index = indices[left]
            step = self._step.draw(bits, len(left)).astype(np.int64)
            side = (bits.take(len(left)) & np.uint64(1)).astype(np.int64)
            place = draw_bounded_integers(bits, self._widths[index])
            value = self._value(index, side, step, place)
            kept = value >= 0
            kept[kept] = self._accept(bits, index[kept], side[kept], step[kept], place[kept])
            sums[left[kept]] = value[kept]
            left = left[~kept]
        return sums

    def keep(
        self, bits: BitSource, indices: NDArray[np.int64], values: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Accept each value with the probability P(value) / P(mode) of its distribution."""
        away = values - self._modes[indices]
        side = (away < 0).astype(np.int64)
        away = np.where(away < 0, -1 - away, away)
        step, place = np.divmod(away, self._widths[indices])
        # a geometric variable is at least `step` with the probability exp(-step)
        kept: NDArray[np.bool_] = (values >= 0) & (self._step.draw(bits, len(values)) >= step)
        kept[kept] = self._accept(bits, indices[kept], side[kept], step[kept], place[kept])
        return kept

    def _value(
        self,
        index: NDArray[np.int64],
        side: NDArray[np.int64],
        step: NDArray[np.int64],
        place: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        away = step * self._widths[index] + place
        return self._modes[index] + away + side * (-1 - 2 * away)

    def _accept(
        self,
        bits: BitSource,
        index: NDArray[np.int64],
        side: NDArray[np.int64],
        step: NDArray[np.int64],
        place: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Accept each integer with the probability exp(step) P(integer) / P(mode)."""
        uniform = bits.take(len(index))
        piece = place * PIECES // self._widths[index]
        at = ((2 * index + side) * (STEPS + 1) + np.minimum(step, STEPS)) * PIECES + piece
        kept: NDArray[np.bool_] = uniform < self._low[at]
        values = self._value(index, side, step, place)
        for i in (~kept & (uniform <= self._high[at])).nonzero()[0].tolist():
            if step[i] < STEPS and at[i] not in self._known:
                self._bound_piece(
                    int(at[i]), int(index[i]), int(side[i]), int(step[i]), int(piece[i])
                )
            kept[i] = uniform[i] < self._low[at[i]]
            if self._low[at[i]] <= uniform[i] <= self._high[at[i]]:
                log_probability = self._weights[index[i]].log
                kept[i] = decide_bernoulli(
                    bits, int(uniform[i]), log_probability, int(values[i]), int(step[i])
                )
        return kept

    def _bound_piece(self, at: int, index: int, side: int, step: int, piece: int) -> None:
        width, mode = int(self._widths[index]), int(self._modes[index])
        first, last = -(-piece * width // PIECES), -(-(piece + 1) * width // PIECES) - 1
        inner, outer = step * width + first, step * width + last
        if side:
            inner, outer = -1 - inner, -1 - outer
        self._low[at] = self._bounds(index, mode + outer, step)[0]
        self._high[at] = self._bounds(index, mode + inner, step)[1]
        self._known.add(at)

    def _bounds(self, index: int, value: int, step: int) -> tuple[int, int]:
        """Compute integer bounds on 2^64 exp(step) P(value) / P(mode), clipped to 64 bits."""
        if value < 0:
            return 0, 0
        with ctx.workprec(128):
            scaled = self._weights[index].log(value, step).exp() * arb(1 << 64)
            low, high = scaled.lower().floor(), scaled.upper().floor()
        # `low` and `high` are balls of radius 0 around integers, so that conversion is exact
        return max(min(int(low.fmpz()), MAX_UINT64), 0), min(int(high.fmpz()), MAX_UINT64)


@lru_cache(maxsize=8)
def negative_binomials(rate: Fraction) -> NegativeBinomials:
    """Return the cached `NegativeBinomials` of this rate."""
    return NegativeBinomials([], rate)


def _width(weight: NegativeBinomialWeight) -> int:
    """Find a distance from the mode at which P / P(mode) is below exp(-1) on both sides.

    By log-concavity, the ratio is below exp(-b) at b times this distance.
    """
    rate = float(weight.rate)
    width = int(1.2 * math.sqrt(weight.variables * math.exp(-rate)) / -math.expm1(-rate)) + 1
    with ctx.workprec(128):
        while not weight.log(weight.mode + width) < -1 or not (
            weight.mode < width or weight.log(weight.mode - width) < -1
        ):
            width += width // 16 + 1
    return width
