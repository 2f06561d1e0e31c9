"""Exact draws of l1 noise with lower bounds, under totals of disjoint blocks of any size.

P(u) is proportional to exp(-epsilon ||u||_1) over the integer vectors with u >= lower whose blocks
add up to zero. If lower = -counts, this is the distribution of the noise of a release without
negative counts. Its privacy guarantee is that of Theorem 2.1 in *Congenial Differential Privacy
under Mandated Disclosure*.

Under one total, the factor exp(theta times the total) is constant. The cells can therefore be drawn
independently from their distributions tilted by theta, and accepted if they add up to zero. The
sampler chooses theta so that the sum of the cells has mean zero. Let N be the number of cells whose
noise is not negative. The excesses of these cells over 0, or over a positive lower bound, are
geometric variables with the same rate alpha. The probability that the excesses add up to T is

    g(N, T) = C(T + N - 1, N - 1) (1 - exp(-alpha))^N exp(-alpha T).

The sampler draws the negative cells, which determine T. The negative cells are accepted with a
probability proportional to g(N, T). The excesses are then a uniform composition of T.

The maximum of g(N, T) over T decreases with N. Let n be a number that exceeds N with a probability
of at most exp(-60) (Chernoff's bound). The acceptance probability is g(N, T) divided by the maximum
of g(n, T) over T. All decisions use exact arithmetic. The random bits are pseudo-random, so that
the sampler is for experiments only.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import scipy
from flint import arb
from numpy.typing import ArrayLike
from scipy.special import expit

from isdp.arrays import FloatArray, IntArray
from isdp.checks import check_integer
from isdp.constraints.blocks import block_order
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.bits.bernoulli import decide_bernoulli, exact_floor, to_ball
from isdp.exact.bits.geometric import Geometric
from isdp.exact.bits.negative_binomial import NegativeBinomialWeight
from isdp.exact.bits.source import MAX_UINT64, BitSource, bytes_of, draw_bounded_integers
from isdp.exact.disjoint.compositions import draw_compositions
from isdp.exact.overflow import refuse_large_sums
from isdp.exact.sampler import cell_bound, rejected_draw
from isdp.io.progress import progress, tracked
from isdp.mechanisms.base import Mechanism, check_energy

MAX_PROPOSALS = 10**6
LOG_MISS_PROBABILITY = 60.0
CHERNOFF_TILTS = np.geomspace(1e-3, 30, 200)  # exponents of Chernoff's bound
MIN_TILT = 2.0**-20  # the smallest nonzero rate of negative cells, in units of epsilon


class BoundedCompositionSampler:
    """Independent draws of noise with lower bounds, under totals of disjoint blocks.

    The weight of the target must be exp(-rate ||u||_1), as for `GeneralizedLaplace`. The
    constructor raises `InputError` if the rows overlap, the weight has another form, or no noise
    satisfies the bounds.

    Parameters
    ----------
    lower : int array, shape (cells,)
        The lower bound on the noise of each cell.

    Attributes
    ----------
    error : float
        A bound on the total variation distance between the distribution of a draw and the target.
    """

    method = "bounded compositions"
    reason = "the noise is bounded from below, under totals of disjoint blocks"

    def __init__(self, invariants: Invariants, target: Mechanism, lower: ArrayLike):
        rate = float(check_energy(self.method, target, [(1, False)]).rate)
        order, starts = block_order(self.method, invariants)
        self.invariants = invariants
        refuse_large_sums(invariants.cells, rate)
        bounds = cell_bound(lower, invariants.cells).astype(np.int64)
        self._free = order[: starts[0]]
        epsilon = Fraction(rate)
        self._free_cells = _TiltedCells(bounds[self._free], epsilon, epsilon)
        self._positive = Geometric(epsilon)
        self._blocks = []
        self.error = 0.0
        ends = list(pairwise(starts.tolist()))
        for number, (start, stop) in enumerate(tracked("setting up totals", ends)):
            cells = order[start:stop]
            self._blocks.append((cells, _Block(number, bounds[cells], epsilon)))
            self.error += MAX_PROPOSALS * math.exp(-LOG_MISS_PROBABILITY)

    def sample(self, rng: np.random.Generator, n_draws: int) -> IntArray:
        """Draw independent noise vectors, int64 (n_draws, cells), and check the invariants."""
        noise = np.zeros(
            (check_integer("exact", "n_draws", n_draws), self.invariants.cells), dtype=np.int64
        )
        bits = BitSource(bytes_of(rng))
        with progress("drawing noise", noise.size) as report:
            for done, row in enumerate(noise):
                drawn = done * len(row) + len(self._free)
                if len(self._free):
                    below = self._free_cells.draw(bits)
                    above = np.maximum(self._free_cells.lower, 0)
                    above += self._positive.draw(bits, len(below))
                    row[self._free] = np.where(below > 0, -below, above)
                for cells, block in self._blocks:
                    row[cells] = block.draw(bits)
                    drawn += len(cells)
                    report(drawn)
        self.invariants.check(noise)
        return noise


class _TiltedCells:
    """Independent cells u >= lower with weights exp(-alpha u) if u >= 0, and exp(beta u) if not.

    `alpha` must be positive. A draw returns max(-u, 0) for each cell, its depth below zero.
    """

    def __init__(self, lower: IntArray, alpha: Fraction, beta: Fraction):
        self.lower, self.alpha, self.beta = lower, alpha, beta
        self._may_be_negative = np.flatnonzero(lower < 0)
        self._deepest, self._depth_index = np.unique(
            -lower[self._may_be_negative], return_inverse=True
        )
        bounds = [
            min(exact_floor(self._scaled_negative, deepest), MAX_UINT64)
            for deepest in self._deepest.tolist()
        ]
        self._bounds = np.array(bounds, dtype=np.uint64)
        self._bounds_of_cells = self._bounds[self._depth_index]
        self._steps = Geometric(abs(beta)) if beta else None

    def draw(self, bits: BitSource) -> IntArray:
        """Draw the depth of each cell below zero, as an int64 array of shape (cells,)."""
        below = np.zeros(len(self.lower), dtype=np.int64)
        uniform, bounds = bits.take(len(self._may_be_negative)), self._bounds_of_cells
        negative = uniform < bounds
        for i in np.flatnonzero(uniform == bounds):
            deepest = int(self._deepest[self._depth_index[i]])
            negative[i] = decide_bernoulli(bits, int(uniform[i]), self._log_negative, deepest)
        if negative.any():
            cells = self._may_be_negative[negative]
            below[cells] = self._depths(bits, -self.lower[cells])
        return below

    def _depths(self, bits: BitSource, deepest: IntArray) -> IntArray:
        """Draw each k from 1 to `deepest` with a probability proportional to exp(-beta k)."""
        # steps are counted from the more probable end, so that their rate is |beta|
        steps = np.empty(len(deepest), dtype=np.int64)
        left = np.arange(len(deepest))
        long = deepest.astype(float) * abs(float(self.beta)) >= 1
        while len(left):
            limits, drawn = deepest[left], np.empty(len(left), dtype=np.int64)
            by_steps = long[left]
            if self._steps is not None and by_steps.any():
                drawn[by_steps] = self._steps.draw(bits, int(by_steps.sum()))
            kept = drawn < limits
            if not by_steps.all():
                others = np.flatnonzero(~by_steps)
                drawn[others] = draw_bounded_integers(bits, limits[others])
                kept[others] = True
                if self._steps is not None:
                    kept[others] = self._steps.draw(bits, len(others)) >= drawn[others]
            steps[left[kept]] = drawn[kept]
            left = left[~kept]
        return 1 + steps if self.beta >= 0 else deepest - steps

    def _scaled_negative(self, deepest: int) -> arb:
        """Compute 2^64 times the probability of a negative cell."""
        return self._log_negative(deepest).exp() * arb(1 << 64)

    def _log_negative(self, deepest: int) -> arb:
        """Compute the log probability that a cell with the lower bound -deepest is negative."""
        non_negative = 1 / -(-to_ball(self.alpha)).expm1()
        negative = arb(deepest)
        if self.beta:
            negative = -(-to_ball(self.beta * deepest)).expm1() / to_ball(self.beta).expm1()
        return -(1 + non_negative / negative).log()


class _Block:
    def __init__(self, number: int, lower: IntArray, epsilon: Fraction):
        self.lower, self.slack = lower, -int(lower.sum())
        if self.slack < 0:
            raise InputError(
                f"lower: the lower bounds in block {number} add up to more than 0, but the noise "
                f"adds up to 0. Use bounds whose sum in each block is at most 0."
            )
        if self.slack == 0:
            return
        alpha = Fraction(_balancing_rate(lower, float(epsilon)))
        if abs(2 * epsilon - alpha) < epsilon * Fraction(MIN_TILT):
            alpha = 2 * epsilon
        self._alpha = alpha
        self._cells = _TiltedCells(lower, alpha, 2 * epsilon - alpha)
        self._min_cells = self._min_nonnegative_cells(lower, alpha)
        self._mode = NegativeBinomialWeight(self._min_cells, alpha).mode
        self._geometric = Geometric(alpha)

    def _min_nonnegative_cells(self, lower: IntArray, alpha: Fraction) -> int:
        """Find a number that is above N with a probability of at most exp(-60)."""
        below = self._cells._bounds.astype(float) / 2.0**64
        counts = np.bincount(self._cells._depth_index, minlength=len(below))
        non_negative = int((lower >= 0).sum())
        # the mean of exp(-t N) is a product over the cells, and bounds P(N <= n) / exp(t n)
        logs = (
            np.log(below + (1 - below) * np.exp(-CHERNOFF_TILTS[:, None])) @ counts
            - CHERNOFF_TILTS * non_negative
        )
        bound = float(((-LOG_MISS_PROBABILITY - logs) / CHERNOFF_TILTS).max())
        # N is at least 1, because the sum of negative cells would be negative
        return max(math.floor(bound - 1e-9 * abs(bound)), non_negative, 1)

    def _log_g(self, cells: int, total: int) -> arb:
        log_binomial = arb(total + cells).lgamma() - arb(total + 1).lgamma() - arb(cells).lgamma()
        rate = to_ball(self._alpha)
        return log_binomial + cells * (-(-rate).expm1()).log() - rate * total

    def _log_probability(self, cells: int, total: int) -> arb:
        """Compute the logarithm of g(cells, total) over its maximum at `_min_cells` cells."""
        return self._log_g(cells, total) - self._log_g(self._min_cells, self._mode)

    def draw(self, bits: BitSource) -> IntArray:
        """Draw the noise, as an int64 array of shape (cells,)."""
        if self.slack == 0:
            return self.lower.copy()
        raised = np.maximum(self.lower, 0)
        for _ in range(MAX_PROPOSALS):
            below = self._cells.draw(bits)
            above = np.flatnonzero(below == 0)
            total = int(below.sum()) - int(raised.sum())
            if total < 0 or not len(above):
                continue
            if len(above) < self._min_cells or decide_bernoulli(
                bits, bits.take_one(), self._log_probability, len(above), total
            ):
                noise = raised - below
                counts, totals = np.array([len(above)]), np.array([total])
                single = len(above) == 1
                noise[above] += (
                    totals if single else draw_compositions(bits, totals, counts, self._geometric)
                )
                return noise
        raise rejected_draw("lower", MAX_PROPOSALS)


def _balancing_rate(lower: IntArray, epsilon: float) -> float:
    """Find the rate alpha at which the mean of the cells' sum is zero."""
    values, counts = np.unique(lower, return_counts=True)

    def excess(log_alpha: float) -> float:
        return float(counts @ _means(values.astype(float), math.exp(log_alpha), epsilon))

    # the mean decreases with alpha from infinity to the sum of the bounds
    low, high = math.log(epsilon) - 1, math.log(epsilon) + 1
    while excess(low) < 0:
        low -= 2
    while excess(high) > 0:
        high += 0.5
    return math.exp(scipy.optimize.brentq(excess, low, high, xtol=1e-13))


def _means(lower: FloatArray, alpha: float, epsilon: float) -> FloatArray:
    """Compute the mean of a cell of `_TiltedCells` for each lower bound."""
    beta, deepest = 2 * epsilon - alpha, np.maximum(-lower, 1.0)
    rate = max(abs(beta), MIN_TILT * epsilon * 1e-3)
    up = math.exp(-alpha) / -math.expm1(-alpha)
    log_weight = np.log(-np.expm1(-rate * deepest)) - math.log(-math.expm1(-rate))
    with np.errstate(over="ignore"):
        steps = math.exp(-rate) / -math.expm1(-rate) - deepest / np.expm1(rate * deepest)
    depth = 1 + steps if beta >= 0 else deepest - steps
    log_weight += -beta if beta >= 0 else rate * deepest
    negative = expit(log_weight + math.log(-math.expm1(-alpha)))
    return np.asarray(np.where(lower < 0, (1 - negative) * up - negative * depth, lower + up))
