"""Composition of several releases from the distributions of their privacy losses.

The privacy loss of an output is the logarithm of the ratio of its probabilities under two tables.
The losses of independent releases add up. The distribution of their sum gives the smallest delta
for each epsilon. This delta is smaller than the delta from the sum of the rhos.

Let v be the difference of two tables that agree in all held totals. The noise lies on a lattice
that contains v. Two facts give the distribution of the loss.

Gaussian noise. Divide the lattice into the lines u + Z v. The output determines its line, and
adding v does not change the line. On a line, write u = t v + w with w orthogonal to v. Then t is in
Z + c, where c is <u, v> / |v|^2 modulo 1. The probability of t is proportional to exp(-rho t^2)
with the rho of the pair of tables. The loss is 2 rho (t + 1/2). It is therefore a mixture of the
losses of one-dimensional discrete Gaussians on Z + j / |v|^2, for any invariants. The probability
of each j depends on the invariants. If this probability is unknown, the largest delta over all j is
a bound.

Pure privacy. A release that is epsilon-private has no larger loss than randomized response, whose
loss is epsilon or -epsilon (Kairouz, Oh and Viswanath 2015). Consider Laplace noise and a person
who moves from cell j to cell i. The loss is epsilon if u_i >= 0 and u_j <= 0, and -epsilon if
u_i < 0 and u_j > 0. Otherwise it is 0. The loss is then a mixture of the loss of randomized
response and of 0.

Losses are moved to a grid as in Doroshenko et al. (2022). The probability of a loss between two
grid points is divided between these points, so that the total under each table is unchanged. The
original pair of distributions is a randomised function of the pair on the grid, so every delta is
an upper bound. For several mixtures, the maximum of their privacy profiles is interpolated. The
distribution with the interpolated profile dominates each mixture (Zhu, Dong and Wang 2022). Only
positive terms are added and multiplied.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from isdp.arrays import FloatArray
from isdp.checks import check_in_range, check_integer, check_non_negative, check_probability
from isdp.errors import InputError

POINTS = 400  # grid points per standard deviation of the composed loss
MAX_POINTS = 1 << 15  # maximum number of grid points of one release
MAX_OUTCOMES = 1 << 21
MAX_SQUARED_DISTANCE = 32
LOSSES = (1e-12, 1e12)  # smallest and largest epsilon or rho of a release
ROUNDING = 1e-9  # bound on the relative rounding error of a delta
TAIL = 1e-10  # probability, relative to delta, that each step moves to an infinite loss


class Outcomes(NamedTuple):
    """Losses, their probabilities, and a bound on the probability of any larger loss."""

    losses: FloatArray
    probabilities: FloatArray
    beyond: float


class PureLoss(NamedTuple):
    """The loss of a pure release: epsilon or -epsilon with a probability, and otherwise 0.

    Attributes
    ----------
    epsilon : float
        The loss between the two tables, 0 or more.
    probability : float
        An upper bound on the probability of a loss that is not 0. The probability 1 gives
        randomized response, whose loss bounds that of every epsilon-private release.
    """

    epsilon: float
    probability: float = 1.0

    @property
    def scale(self) -> float:
        """The approximate standard deviation of the loss."""
        return self.epsilon * math.sqrt(self.probability)

    @property
    def unit(self) -> float:
        """A number of which all losses are multiples."""
        return self.epsilon

    @property
    def max_loss(self) -> float:
        """The largest loss."""
        return self.epsilon

    def mixtures(self, tail: float) -> list[Outcomes]:
        """Return the distribution of the loss, which needs no truncation."""
        del tail
        share = self.probability / (1 + math.exp(-self.epsilon))
        probabilities = [share * math.exp(-self.epsilon), 1 - self.probability, share]
        return [Outcomes(self.epsilon * np.arange(-1.0, 2.0), np.array(probabilities), 0.0)]


class GaussianLoss(NamedTuple):
    """The loss of discrete Gaussian noise on a lattice.

    Attributes
    ----------
    rho : float
        The zCDP loss between the two tables, positive.
    shares : tuple of tuple of float
        One or more mixtures. A mixture has, for each j from 0 to |v|^2 - 1, the probability that
        <u, v> is j modulo |v|^2. The loss of the release is at most that of one of the mixtures.
    """

    rho: float
    shares: tuple[tuple[float, ...], ...]

    @property
    def scale(self) -> float:
        """The approximate standard deviation of the loss."""
        return math.sqrt(2 * self.rho)

    @property
    def unit(self) -> float:
        """A number of which all losses are multiples."""
        return self.rho / len(self.shares[0])

    @property
    def max_loss(self) -> float:
        """The largest loss."""
        return math.inf

    def mixtures(self, tail: float) -> list[Outcomes]:
        """Return the truncated distribution of the loss of each mixture."""
        reach = math.sqrt(-math.log(tail) / self.rho)
        if not 2 * reach < MAX_OUTCOMES / len(self.shares[0]):
            raise InputError(
                f"accounting: rho {self.rho:g} is too small for the computation. Use a larger rho."
            )
        return [self._mixture(shares, math.ceil(reach) + 1) for shares in self.shares]

    def _mixture(self, shares: tuple[float, ...], reach: int) -> Outcomes:
        losses, probabilities, beyond = [], [], 0.0
        for j, share in enumerate(shares):
            if share == 0:
                continue
            points = np.arange(-reach, reach + 1) + j / len(shares)
            weights = np.exp(-self.rho * points**2)
            each = share / weights.sum()
            beyond_top = reach + 1 + j / len(shares)
            first = math.exp(-self.rho * beyond_top**2)
            beyond += each * first / -math.expm1(-self.rho * (2 * beyond_top + 1))
            losses.append(2 * self.rho * (points + 0.5))
            probabilities.append(each * weights)
        return Outcomes(np.concatenate(losses), np.concatenate(probabilities), beyond)


Loss = PureLoss | GaussianLoss


def gaussian_loss(rho: float, squared_distance: int) -> GaussianLoss:
    """Return the loss of discrete Gaussian noise under any invariants.

    Parameters
    ----------
    rho : float
        The zCDP loss between the two tables.
    squared_distance : int
        The squared l2 distance between the two tables, from 1 to 32.
    """
    check_integer("accounting", "the distance", squared_distance, 1, MAX_SQUARED_DISTANCE)
    rows = np.eye(squared_distance).tolist()
    return GaussianLoss(rho, tuple(map(tuple, rows)))


class ComposedLoss(NamedTuple):
    """An upper bound on the loss of several releases together, on a grid.

    Attributes
    ----------
    step : float
        The distance between two adjacent grid points.
    first : int
        The first loss, in steps.
    probabilities : float64 array
        The probabilities of consecutive grid points, starting at `first`.
    beyond : float
        A bound on the probability of any larger loss.
    max_loss : float
        The sum of the largest losses, which is infinite with Gaussian noise.
    """

    step: float
    first: int
    probabilities: FloatArray
    beyond: float
    max_loss: float

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on the smallest delta at an epsilon of 0 or more."""
        check_non_negative("accounting: epsilon", epsilon)
        if epsilon >= self.max_loss:
            return 0.0
        losses = self.step * (self.first + np.arange(len(self.probabilities)))
        above = losses > epsilon
        terms = self.probabilities[above] * -np.expm1(epsilon - losses[above])
        return min(1.0, (self.beyond + float(terms.sum())) * (1 + ROUNDING))

    def epsilon(self, delta: float) -> float:
        """Return an upper bound on the smallest epsilon at a delta.

        Raise `InputError` if the delta is below the probability that was moved to an infinite loss.
        """
        check_probability("accounting: delta", delta)
        top = self.step * (self.first + len(self.probabilities))
        low, high = 0.0, min(self.max_loss, max(0.0, top))
        if self.delta(high) > delta:
            raise InputError(
                f"accounting: delta {delta:g} is below the delta for which the losses were "
                f"composed. Compose them for this delta."
            )
        if self.delta(low) <= delta:
            return low
        while high - low > 1e-12 * high:  # delta falls as epsilon grows
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return high


def compose_losses(losses: Sequence[Loss], delta: float) -> ComposedLoss:
    """Compose the losses of several releases between the same two tables.

    The parameters of a release must not depend on the noise of the other releases.

    Parameters
    ----------
    losses : sequence of PureLoss or GaussianLoss
    delta : float
        The smallest delta for which the result is used. Probabilities that are much smaller are
        moved to an infinite loss.

    Examples
    --------
    >>> both = compose_losses([gaussian_loss(1 / 8, 2), PureLoss(0.25)], 1e-10)
    >>> round(both.epsilon(1e-10), 2)
    3.33
    """
    tail = TAIL * check_probability("accounting: delta", delta)
    for loss in losses:
        check_in_range("accounting: the loss", loss[0], *LOSSES)
    mixtures = [loss.mixtures(tail) for loss in losses]
    step = _grid_step(losses, max(np.ptp(one.losses) for each in mixtures for one in each))
    limit = math.fsum(loss.max_loss for loss in losses) * (1 + 2.0**-50)
    composed = ComposedLoss(step, 0, np.ones(1), 0.0, limit)
    for each in mixtures:
        first, probabilities, beyond = _dominate(each, step)
        composed = _trim(
            ComposedLoss(
                step,
                composed.first + first,
                np.convolve(composed.probabilities, probabilities),
                composed.beyond + beyond,
                limit,
            ),
            tail,
        )
    return composed


def _grid_step(losses: Sequence[Loss], max_range: float) -> float:
    step = max(math.hypot(*(loss.scale for loss in losses)) / POINTS, max_range / MAX_POINTS)
    unit = max(loss.unit for loss in losses)
    # losses that are multiples of the largest unit need no rounding
    return unit / math.floor(unit / step) if unit > step else step


def _dominate(mixtures: Sequence[Outcomes], step: float) -> tuple[int, FloatArray, float]:
    """Return a distribution on the grid whose privacy profile is at least that of each mixture."""
    low = min(math.floor(one.losses.min() / step) for one in mixtures)
    high = max(math.floor(one.losses.max() / step) for one in mixtures) + 1
    grids = [_on_grid(one, step, low, high - low + 1) for one in mixtures]
    beyond = max(one.beyond for one in mixtures)
    if len(grids) == 1:
        return low, grids[0], beyond
    # The profile at a point is the expected excess of larger losses over it. The points are the
    # integers from low to high + 1.
    excess = -np.expm1(-step * np.arange(len(grids[0]), -1, -1.0))
    profiles = [np.convolve(grid, excess)[len(excess) - 1 :] for grid in grids]
    profile = np.append(np.max(profiles, axis=0), 0.0)
    # second differences with respect to the exponential of the loss, and their rounding errors
    falls = profile[:-1] - profile[1:]
    found = (falls[:-1] - math.exp(-step) * falls[1:]) / -math.expm1(-step)
    error = len(profile) * 2.0**-50 * profile[:-2] / -math.expm1(-step)
    probabilities = np.append(max(0.0, 1 - found.sum()), found.clip(0)) + np.append(0.0, error)
    return low, probabilities, beyond


def _on_grid(outcomes: Outcomes, step: float, first: int, points: int) -> FloatArray:
    """Divide each probability between the two nearest grid points (connect-the-dots)."""
    below = np.floor(outcomes.losses / step).astype(np.int64)
    rest = (outcomes.losses - below * step).clip(0, step)
    upper = outcomes.probabilities * np.expm1(-rest) / math.expm1(-step)
    lower = outcomes.probabilities - upper
    found: FloatArray = np.zeros(points)
    np.add.at(found, below - first, lower.clip(0))
    np.add.at(found, below - first + 1, upper)
    return found


def _trim(composed: ComposedLoss, tail: float) -> ComposedLoss:
    """Move the lowest losses up and the highest to infinity, if their probability is small."""
    probabilities = composed.probabilities
    start = int(np.searchsorted(np.cumsum(probabilities), tail))
    stop = len(probabilities) - int(np.searchsorted(np.cumsum(probabilities[::-1]), tail))
    kept = probabilities[start:stop].copy()
    kept[0] += probabilities[:start].sum()
    return ComposedLoss(
        composed.step,
        composed.first + start,
        kept,
        composed.beyond + float(probabilities[stop:].sum()),
        composed.max_loss,
    )
