"""Compiled loops of the mixture sampler: Klein's algorithm in floating point with rejection."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from isdp.arrays import FloatArray, IntArray
from isdp.compiled import njit

# the maximum distance of a coefficient from its centre in units of s, with 53-bit uniform numbers
MAX_DEVIATIONS = 40
MAX_NARROW_WIDTH = 0.5  # below this width, a Gaussian has few significant terms
# From this width on, m(s, c) is constant in c, because 2 exp(-2 pi^2 s^2) < 1e-52.
MIN_FLAT_WIDTH = 2.5
ROOT_TWO_PI = math.sqrt(2 * math.pi)


class GramSchmidt(NamedTuple):
    """A basis and its Gram-Schmidt vectors.

    Attributes
    ----------
    basis : int64 array, shape (cells, dimension)
    lengths : float64 array, shape (dimension,)
        Lengths of the Gram-Schmidt vectors b*_i.
    mu : float64 array, shape (dimension, dimension)
        ``mu[i, j]`` is the coefficient of b*_i in basis vector j, for j > i.
    """

    basis: IntArray
    lengths: FloatArray
    mu: FloatArray


class Bins(NamedTuple):
    """Bins of equal width for sigma.

    Attributes
    ----------
    left : float64 array, shape (bins,)
        The left ends of the bins.
    log_products : float64 array, shape (bins,)
        The logarithms of prod_i m(s_i, 0) at the right ends of the bins.
    """

    left: FloatArray
    width: float
    log_products: FloatArray
    cumulative: FloatArray


@njit
def mass(s: float, c: float) -> float:
    """Compute m(s, c), the sum of exp(-(k - c)^2 / (2 s^2)) over the integers k.

    For small s, ten terms around c are summed. The other terms are below e^-48 times the maximum
    term. Otherwise Poisson's summation formula gives s sqrt(2 pi) (1 + 2 sum_k exp(-2 pi^2 s^2 k^2)
    cos(2 pi k c)). The fourth term of this sum is below e^-78.
    """
    if s >= MIN_FLAT_WIDTH:
        return s * ROOT_TWO_PI
    c -= math.floor(c)
    total = 0.0
    if s >= MAX_NARROW_WIDTH:
        for k in range(1, 4):
            total += math.exp(-2.0 * (math.pi * s * k) ** 2) * math.cos(2.0 * math.pi * k * c)
        return s * ROOT_TWO_PI * (1.0 + 2.0 * total)
    for k in range(-4, 6):
        total += math.exp(-0.5 * ((k - c) / s) ** 2)
    return total


@njit
def log_each_mass(widths: FloatArray, centre: float) -> FloatArray:
    """Compute the logarithm of `mass` at each width."""
    logs = np.empty(len(widths))
    for i in range(len(widths)):
        total = mass(widths[i], centre)
        logs[i] = math.log(total) if total > 0.0 else -np.inf
    return logs


@njit
def relative_masses(width: float, centres: FloatArray) -> FloatArray:
    """Compute the ratio of `mass` around each centre to `mass` around 0."""
    maximum = mass(width, 0.0)
    return np.array([mass(width, centre) / maximum for centre in centres])


@njit
def integer_gaussian(rng: np.random.Generator, c: float, s: float) -> float:
    """Draw an integer k with probability proportional to exp(-(k - c)^2 / (2 s^2)).

    For small s, one uniform number selects one of the eleven integers around c by inversion. The
    probability of all other integers is below e^-58, which is less than 2^-60. For large s,
    proposals come from two geometric distributions. The two distributions begin at the integers
    next to c and decrease as exp(-x / s) with the distance x from c. Because exp(-x^2 / (2 s^2)) is
    proportional to exp(-x / s) exp(-((x - s) / s)^2 / 2), the last factor is the acceptance
    probability. At least half of the proposals are accepted.
    """
    above = math.ceil(c)
    gap = above - c
    if s < MAX_NARROW_WIDTH:
        return _invert(rng, c, s)
    share = 1.0 / (1.0 + math.exp((2.0 * gap - 1.0) / s))
    while True:
        upward = rng.random() < share
        steps = math.floor(-s * math.log1p(-rng.random()))
        x = steps + (gap if upward else 1.0 - gap)
        if rng.random() < math.exp(-0.5 * ((x - s) / s) ** 2):
            return above + steps if upward else above - 1.0 - steps


@njit
def _invert(rng: np.random.Generator, c: float, s: float) -> float:
    """Draw one of the eleven integers around c by inversion, beginning with the nearest."""
    nearest = math.floor(c + 0.5)
    gap = c - nearest
    total = 0.0
    for k in range(-5, 6):
        # weights are relative to the nearest integer, because all weights underflow if s is small
        total += math.exp(-0.5 * (k / s) * ((k - 2.0 * gap) / s))
    rest = rng.random() * total
    for k in range(11):
        step = (k + 1) // 2 if k % 2 else -(k // 2)
        rest -= math.exp(-0.5 * (step / s) * ((step - 2.0 * gap) / s))
        if rest < 0.0:
            return nearest + step
    return nearest


@njit
def propose_klein(
    rng: np.random.Generator, frame: GramSchmidt, sigma: float, coefficients: FloatArray
) -> bool:
    """Write a proposal of Klein's algorithm to `coefficients`, and return whether it is accepted.

    Coefficients are doubles with integer values below 2^53.
    """
    for i in range(len(frame.lengths) - 1, -1, -1):
        s = sigma / frame.lengths[i]
        c = 0.0
        for j in range(i + 1, len(frame.lengths)):
            c -= frame.mu[i, j] * coefficients[j]
        if s < MIN_FLAT_WIDTH and rng.random() * mass(s, 0.0) >= mass(s, c):
            return False
        coefficients[i] = integer_gaussian(rng, c, s)
    return True


@njit
def combine(basis: IntArray, coefficients: FloatArray, noise: IntArray) -> None:
    """Write ``basis @ coefficients`` into `noise` in integer arithmetic."""
    noise[:] = 0
    for j in range(len(coefficients)):
        k = np.int64(coefficients[j])
        if k != 0:
            for i in range(len(noise)):
                noise[i] += k * basis[i, j]


@njit
def draw_mixture(
    rng: np.random.Generator,
    frame: GramSchmidt,
    epsilon: float,
    bins: Bins,
    max_proposals: int,
    kept: IntArray,
) -> bool:
    """Fill `kept` with draws, and return False if a draw needs more than `max_proposals`."""
    left, lengths = bins.left, frame.lengths
    coefficients = np.zeros(len(lengths))
    for draw in range(len(kept)):
        for attempt in range(max_proposals + 1):
            if attempt == max_proposals:
                return False
            b = int(np.searchsorted(bins.cumulative, rng.random(), side="right"))
            b = min(b, len(left) - 1)
            sigma = left[b] + bins.width * (1.0 - rng.random())
            log_product = 0.0
            for i in range(len(lengths)):
                log_product += math.log(mass(sigma / lengths[i], 0.0))
            fall = 0.5 * epsilon * epsilon * (sigma - left[b]) * (sigma + left[b])
            if rng.random() >= math.exp(log_product - bins.log_products[b] - fall):
                continue
            if propose_klein(rng, frame, sigma, coefficients):
                break
        combine(frame.basis, coefficients, kept[draw])
    return True
