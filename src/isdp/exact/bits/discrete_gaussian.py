"""Discrete Gaussian draws around any rational centre, in exact arithmetic.

All exact Gaussian noise uses these draws: independent noise (`isdp.exact.bits.independent`), noise
under disjoint totals (`isdp.exact.disjoint.recursive_splitting`) and noise on lattices
(`isdp.exact.overlapping.klein`).
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational

import numpy as np
from flint import acb, arb
from numpy.typing import NDArray

from isdp.errors import InputError
from isdp.exact.bits.bernoulli import draw_bernoulli, to_ball
from isdp.exact.bits.geometric import cached_geometric
from isdp.exact.bits.source import BitSource
from isdp.mechanisms.base import Energy

MIN_VARIANCE, MAX_VARIANCE = Fraction(1, 10**6), 10**20


def check_variance(variance: object) -> Fraction:
    """Return a rational variance from 1e-6 to 1e20 as a fraction, or raise `InputError`."""
    if isinstance(variance, bool) or not isinstance(variance, Rational):
        raise InputError(f"variance: must be a Fraction or an int, got {variance!r}")
    if not MIN_VARIANCE <= variance <= MAX_VARIANCE:
        raise InputError(f"variance: must lie between 1e-6 and 1e20, got {float(variance):g}")
    return Fraction(variance)


def gaussian_variance(energy: Energy) -> Fraction:
    """Return sigma^2 of the Gaussian distribution with the weight exp(-rate ||u||_2^2)."""
    return 1 / (2 * Fraction(energy.rate))


def draw_gaussian_around(
    bits: BitSource, variance: Fraction, numerators: NDArray[np.int64], denominator: int
) -> NDArray[np.int64]:
    """Draw exactly from P(k) proportional to exp(-(k - c)^2 / (2 variance)) on the integers.

    Draw i of the int64 array of shape (draws,) has c = ``numerators[i] / denominator``, where the
    denominator is positive.

    The algorithm generalizes Algorithm 3 of Canonne, Kamath and Steinke (2020) to any rational c. A
    fair bit selects a side of c. A geometric variable of scale t is the number of steps from the
    nearest integer on that side. Let x be the distance of the proposal from c. The acceptance
    probability is exp(-(x - variance/t)^2 / (2 variance)). Let g be the distance from c to the
    nearest integer on the selected side. If g exceeds 1/2, the probability is multiplied by exp(-(2
    g - 1) / t).

    Any scale t is valid. The sampler uses a power of two near sigma, so that all variances share a
    few tables. If sigma is large, at least 60 percent of the proposals are accepted.
    """
    drawn = np.zeros(len(numerators), dtype=np.int64)
    scale = 1
    while 2 * scale**2 < variance:
        scale *= 2
    floors = numerators // denominator  # many times as fast as divmod
    rests = numerators - floors * denominator
    left = np.arange(len(drawn))
    while len(left):
        up = bits.take(len(left)) >> np.uint64(63) == 1
        steps = cached_geometric(Fraction(1, scale)).draw(bits, len(left))
        rest = rests[left]
        # distance to the nearest integer, in units of 1/denominator
        gaps = np.where(up, denominator - rest, rest)
        kept = _keep(bits, variance, scale, steps, gaps, denominator)
        step = np.where(up, 1 + steps, -steps)
        drawn[left[kept]] = (floors[left] + step)[kept]
        left = left[~kept]
    return drawn


def _keep(
    bits: BitSource,
    variance: Fraction,
    scale: int,
    steps: NDArray[np.int64],
    gaps: NDArray[np.int64],
    denominator: int,
) -> NDArray[np.bool_]:
    """Accept proposals that lie `steps` beyond the nearest integer on their side."""
    further = np.maximum(2 * gaps - denominator, 0)  # excess over the gap of the other side
    distance = steps + gaps / denominator
    falls = (distance - float(variance / scale)) ** 2 / (2 * float(variance))
    falls += further / (denominator * scale)

    def log_probability(i: int) -> arb:
        return _log_acceptance(variance, scale, steps[i], Fraction(int(gaps[i]), denominator))

    return draw_bernoulli(bits, np.exp(-falls), log_probability)


def _log_acceptance(variance: Fraction, scale: int, steps: int, gap: Fraction) -> arb:
    fall = (int(steps) + gap - variance / scale) ** 2 / (2 * variance)
    return -to_ball(fall + max(2 * gap - 1, Fraction(0)) / scale)


def draw_gaussians(
    bits: BitSource, variances: Sequence[Fraction], centres: Sequence[Fraction]
) -> NDArray[np.int64]:
    """Draw exactly from discrete Gaussians with different variances and centres, as int64 (draws,).

    The algorithm is that of `draw_gaussian_around`.
    """
    drawn = np.zeros(len(variances), dtype=np.int64)
    wholes = np.array([math.floor(centre) for centre in centres], dtype=np.int64)
    rests = [centre - whole for centre, whole in zip(centres, wholes.tolist(), strict=True)]
    rest, variance = np.array(rests, dtype=float), np.array(variances, dtype=float)
    scale = 2.0 ** np.maximum(np.ceil(np.log2(variance / 2) / 2), 0)  # any power of two is valid

    def keep(
        left: NDArray[np.int64], up: NDArray[np.bool_], steps: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        gap = np.where(up, 1 - rest[left], rest[left])
        falls = (steps + gap - variance[left] / scale[left]) ** 2 / (2 * variance[left])
        falls += np.maximum(2 * gap - 1, 0) / scale[left]

        def log_probability(i: int) -> arb:
            draw = int(left[i])
            gap = 1 - rests[draw] if up[i] else rests[draw]
            return _log_acceptance(variances[draw], int(scale[draw]), steps[i], gap)

        return draw_bernoulli(bits, np.exp(-falls), log_probability)

    left = np.arange(len(drawn))
    while len(left):
        up = bits.take(len(left)) >> np.uint64(63) == 1
        steps = np.empty(len(left), dtype=np.int64)
        for one in np.unique(scale[left]).tolist():
            alike = scale[left] == one
            geometric = cached_geometric(Fraction(1, int(one)))
            steps[alike] = geometric.draw(bits, int(alike.sum()))
        kept = keep(left, up, steps)
        step = np.where(up, 1 + steps, -steps)
        drawn[left[kept]] = (wholes[left] + step)[kept]
        left = left[~kept]
    return drawn


def log_relative_mass(variance: Fraction, centre: Fraction) -> arb:
    """Compute the logarithm of m(s, c) / m(s, 0) at the current precision.

    Here s^2 is the variance, c the centre, and m(s, c) the sum over the integers k of
    exp(-(k - c)^2 / (2 s^2)). By Poisson's summation formula, m(s, c) is s sqrt(2 pi) times the
    theta function of c with the nome exp(-2 pi^2 s^2). The ratio is therefore at most 1.
    """
    tau = acb(0, 2 * arb.pi() * to_ball(variance))
    return (theta(centre - math.floor(centre), tau) / theta(Fraction(0), tau)).log()


def theta(at: Fraction, tau: acb) -> arb:
    """Return the sum of exp(pi i tau n^2) cos(2 pi n at) over all integers n, for imaginary tau."""
    return acb.modular_theta(acb(to_ball(at)), tau)[2].real
