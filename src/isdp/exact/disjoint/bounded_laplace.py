"""Exact draws of l1 noise that is bounded from below, under totals of disjoint blocks of any size.

P(u) is proportional to exp(-epsilon ||u||_1) over the integer vectors with u >= lower whose blocks
add up to zero. With lower = -counts it is the law of a release without negative counts; its
guarantee is that of CDP, Theorem 2.1, not that of ISDP.

Under one total exp(theta times the total) is a constant, so that cells may be drawn from their own
laws tilted by theta, and kept if they add up to zero. Theta makes zero the mean of their sum. A
cell is negative, or it is not; those that are not are, beyond their bounds, geometric counts with
one rate alpha, which add up to T with the chance

    g(N, T) = C(T + N - 1, N - 1) (1 - exp(-alpha))^N exp(-alpha T)

if there are N of them. So the negative cells are drawn, and kept with a chance in proportion to
g(N, T) for the T that they leave; given T the others are a uniform composition of it. About half of
the tries are kept where cells are many, one in several of a hundred.

The largest g(N, T) over T falls with N. It is taken at a number of cells that N falls short of with
a chance below exp(-60) (Chernoff). Every decision is in exact arithmetic, on a pseudo-random
generator's words: for experiments.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import scipy
from flint import arb
from scipy.special import expit

from isdp.checks import check_integer
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError, MisfitError
from isdp.exact.bits.bernoulli import decide_bernoulli, exact_floor, to_ball
from isdp.exact.bits.geometric import Geometric
from isdp.exact.bits.source import BitSource, draw_bounded_integers
from isdp.exact.disjoint.blocks import block_order, refuse_large_sums
from isdp.exact.disjoint.compositions import draw_compositions
from isdp.exact.elimination.cell_bounds import cell_bound
from isdp.io.progress import progress, tracked
from isdp.mechanisms.base import Mechanism, check_energy

MAX_PROPOSALS = 10**6
LOG_MISS_PROBABILITY = 60.0
CHERNOFF_TILTS = np.geomspace(1e-3, 30, 200)  # where Chernoff's bound is tried
MIN_TILT = 2.0**-20  # of epsilon; a smaller rate of negative noise counts as none
TOP = 2**64 - 1


class BoundedCompositionSampler:
    """Noise bounded from below under totals of disjoint blocks.

    Parameters
    ----------
    invariants : Invariants
        Totals of disjoint blocks.
    target : Mechanism
        Of weight exp(-rate ||u||_1), such as `GeneralizedLaplace`.
    lower : int array, shape (cells,)
        Least noise of each cell.

    Attributes
    ----------
    error : float
        Bound on the total variation distance between a draw's law and the law asked for.

    Raises
    ------
    InputError
        If rows overlap, the law is another, or no noise meets the bounds.

    Examples
    --------
    >>> from isdp import GeneralizedLaplace
    >>> counts = np.array([0, 3, 1, 8])
    >>> sampler = BoundedCompositionSampler(Invariants.total(4), GeneralizedLaplace(0.5), -counts)
    >>> noise = sampler.sample(np.random.default_rng(1), 100)
    >>> int((noise + counts).min()), int(abs(noise.sum(axis=1)).max())
    (0, 0)
    """

    method = "bounded compositions"

    reason = "the noise is bounded from below, under totals of disjoint blocks"

    def __init__(self, invariants: Invariants, target: Mechanism, lower=None):
        check_energy(self.method, target, [(1, False)])
        if lower is None:
            raise MisfitError("bounded compositions: the noise has no bounds")
        blocks = block_order(invariants)
        if blocks is None:
            raise MisfitError("bounded compositions: the totals are not those of disjoint blocks")
        self.invariants, rate = invariants, target.energy.rate
        refuse_large_sums(invariants.cells, rate)
        lower = cell_bound(lower, invariants.cells).astype(np.int64)
        order, starts = blocks
        self._free = order[: starts[0]]
        epsilon = Fraction(rate)
        self._alone = _Cells(lower[self._free], epsilon, epsilon)
        self._positive = Geometric(epsilon)
        self._blocks = []
        self.error = 0.0
        ends = list(pairwise(starts.tolist()))
        for number, (start, stop) in enumerate(tracked("setting up totals", ends)):
            cells = order[start:stop]
            self._blocks.append((cells, _Block(number, lower[cells], epsilon)))
            self.error += MAX_PROPOSALS * math.exp(-LOG_MISS_PROBABILITY)

    def sample(self, rng: np.random.Generator, n_draws: int) -> np.ndarray:
        """Draw noise, int64 (n_draws, cells), checked against the invariants.

        Raises
        ------
        InputError
            If a block is not kept in a million tries.
        """
        noise = np.zeros(
            (check_integer("exact", "n_draws", n_draws), self.invariants.cells), dtype=np.int64
        )
        random_bits = BitSource(rng.bytes)
        with progress("drawing noise", noise.size) as at:
            for done, row in enumerate(noise):
                drawn = done * len(row) + len(self._free)
                if len(self._free):
                    row[self._free] = self._draw_free(random_bits)
                for cells, block in self._blocks:
                    row[cells] = block.draw(random_bits)
                    drawn += len(cells)
                    at(drawn)
        self.invariants.check(noise)
        return noise

    def _draw_free(self, random_bits: BitSource) -> np.ndarray:
        below = self._alone.draw(random_bits)
        counts = self._positive.draw(random_bits, len(below))
        return np.where(below > 0, -below, np.maximum(self._alone.lower, 0) + counts)


class _Cells:
    """Cells of weight exp(-alpha u) for u >= 0 and exp(-beta |u|) below, each from its lower bound.

    Only `alpha` must be positive. What is drawn is how far below zero a cell is.
    """

    def __init__(self, lower: np.ndarray, alpha: Fraction, beta: Fraction):
        self.lower, self.alpha, self.beta = lower, alpha, beta
        self._can = np.flatnonzero(lower < 0)
        self._deepest, self._kind = np.unique(-lower[self._can], return_inverse=True)
        bounds = [min(exact_floor(self._share, deepest), TOP) for deepest in self._deepest.tolist()]
        self._bounds = np.array(bounds, dtype=np.uint64)
        self._bound_of = self._bounds[self._kind]
        self._steps = Geometric(abs(beta)) if beta else None

    def draw(self, random_bits: BitSource) -> np.ndarray:
        """Draw how far below zero each cell is; 0 for cells that are not."""
        below = np.zeros(len(self.lower), dtype=np.int64)
        uniform, bounds = random_bits.take(len(self._can)), self._bound_of
        negative = uniform < bounds
        for i in np.flatnonzero(uniform == bounds):
            deepest = int(self._deepest[self._kind[i]])
            negative[i] = decide_bernoulli(random_bits, int(uniform[i]), self._log_share, deepest)
        if negative.any():
            cells = self._can[negative]
            below[cells] = self._depths(random_bits, -self.lower[cells])
        return below

    def _depths(self, random_bits: BitSource, deepest: np.ndarray) -> np.ndarray:
        """Draw k from 1 to its largest with a chance in proportion to exp(-beta k)."""
        # counted from the likelier end on, the law falls with the rate |beta|
        steps = np.empty(len(deepest), dtype=np.int64)
        left = np.arange(len(deepest))
        long = deepest.astype(float) * abs(float(self.beta)) >= 1
        while len(left):
            room, drawn = deepest[left], np.empty(len(left), dtype=np.int64)
            many = long[left]
            if many.any():
                drawn[many] = self._steps.draw(random_bits, int(many.sum()))
            kept = drawn < room
            if not many.all():
                few = np.flatnonzero(~many)
                drawn[few] = draw_bounded_integers(random_bits, room[few])
                kept[few] = True
                if self._steps is not None:
                    kept[few] = self._steps.draw(random_bits, len(few)) >= drawn[few]
            steps[left[kept]] = drawn[kept]
            left = left[~kept]
        return 1 + steps if self.beta >= 0 else deepest - steps

    def _share(self, deepest: int) -> arb:
        """2^64 times the chance of a negative cell."""
        return self._log_share(deepest).exp() * arb(1 << 64)

    def _log_share(self, deepest: int) -> arb:
        """Logarithm of the chance that a cell that may go `deepest` below zero does."""
        others = 1 / -(-to_ball(self.alpha)).expm1()
        negative = arb(deepest)
        if self.beta:
            negative = -(-to_ball(self.beta * deepest)).expm1() / to_ball(self.beta).expm1()
        return -(1 + others / negative).log()


class _Block:
    """Cells under one total."""

    def __init__(self, number: int, lower: np.ndarray, epsilon: Fraction):
        self.lower, self.slack = lower, -int(lower.sum())
        if self.slack < 0:
            raise InputError(
                f"exact: no noise adds up to zero and meets the bounds of block {number}: the "
                f"lower bounds add up to {-self.slack}"
            )
        if self.slack == 0:
            return
        alpha = Fraction(_balancing_rate(lower, float(epsilon)))
        if abs(2 * epsilon - alpha) < epsilon * Fraction(MIN_TILT):
            alpha = 2 * epsilon
        self._alpha = alpha
        self._cells = _Cells(lower, alpha, 2 * epsilon - alpha)
        self._least = self._min_nonnegative_cells(lower, alpha)
        self._mode = exact_floor(self._peak)
        self._counts = Geometric(alpha)

    def _min_nonnegative_cells(self, lower: np.ndarray, alpha: Fraction) -> int:
        """Find a number that N falls short of with a probability below e^-60."""
        below = self._cells._bounds.astype(float) / 2.0**64
        many = np.bincount(self._cells._kind, minlength=len(below))
        sure = int((lower >= 0).sum())
        # the mean of exp(-t N) is a product over the cells, and P(N <= n) at most exp(t n) times it
        logs = (
            np.log(below + (1 - below) * np.exp(-CHERNOFF_TILTS[:, None])) @ many
            - CHERNOFF_TILTS * sure
        )
        fewest = float(((-LOG_MISS_PROBABILITY - logs) / CHERNOFF_TILTS).max())
        # one is: if all cells were below zero, so would be their sum
        return max(math.floor(fewest - 1e-9 * abs(fewest)), sure, 1)

    def _peak(self) -> arb:
        return (self._least - 1) / to_ball(self._alpha).expm1()

    def _log_law(self, cells: int, total: int) -> arb:
        """Logarithm of g(cells, total)."""
        rise = arb(total + cells).lgamma() - arb(total + 1).lgamma() - arb(cells).lgamma()
        rate = to_ball(self._alpha)
        return rise + cells * (-(-rate).expm1()).log() - rate * total

    def _log_chance(self, cells: int, total: int) -> arb:
        """Logarithm of the chance to keep, against the largest of the fewest cells."""
        return self._log_law(cells, total) - self._log_law(self._least, self._mode)

    def draw(self, random_bits: BitSource) -> np.ndarray:
        """Draw the noise, int64 (cells,)."""
        if self.slack == 0:
            return self.lower.copy()
        raised = np.maximum(self.lower, 0)
        for _ in range(MAX_PROPOSALS):
            below = self._cells.draw(random_bits)
            above = np.flatnonzero(below == 0)
            total = int(below.sum()) - int(raised.sum())
            if total < 0 or not len(above):
                continue
            if len(above) < self._least or decide_bernoulli(
                random_bits, random_bits.take_one(), self._log_chance, len(above), total
            ):
                noise = raised - below
                counts, totals = np.array([len(above)]), np.array([total])
                single = len(above) == 1
                noise[above] += (
                    totals
                    if single
                    else draw_compositions(random_bits, totals, counts, self._counts)
                )
                return noise
        raise InputError(
            f"exact: noise bounded from below was not found in {MAX_PROPOSALS} tries; use the "
            f"Markov chain (isdp.mcmc.sample)"
        )


def _balancing_rate(lower: np.ndarray, epsilon: float) -> float:
    """Find the rate alpha at which the mean of the cells' sum is zero."""
    values, many = np.unique(lower, return_counts=True)

    def excess(log_alpha: float) -> float:
        return float(many @ _means(values.astype(float), math.exp(log_alpha), epsilon))

    # the mean falls with alpha, from infinity to the sum of the bounds
    low, high = math.log(epsilon) - 1, math.log(epsilon) + 1
    while excess(low) < 0:
        low -= 2
    while excess(high) > 0:
        high += 0.5
    return math.exp(scipy.optimize.brentq(excess, low, high, xtol=1e-13))


def _means(lower: np.ndarray, alpha: float, epsilon: float) -> np.ndarray:
    """Mean of a cell of each lower bound; see `_Cells`."""
    beta, deepest = 2 * epsilon - alpha, np.maximum(-lower, 1.0)
    rate = max(abs(beta), MIN_TILT * epsilon * 1e-3)
    up = math.exp(-alpha) / -math.expm1(-alpha)
    log_weight = np.log(-np.expm1(-rate * deepest)) - math.log(-math.expm1(-rate))
    with np.errstate(over="ignore"):
        steps = math.exp(-rate) / -math.expm1(-rate) - deepest / np.expm1(rate * deepest)
    depth = 1 + steps if beta >= 0 else deepest - steps
    log_weight += -beta if beta >= 0 else rate * deepest
    negative = expit(log_weight + math.log(-math.expm1(-alpha)))
    return np.where(lower < 0, (1 - negative) * up - negative * depth, lower + up)
