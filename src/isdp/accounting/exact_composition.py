"""Exact (epsilon, delta) guarantee of several Laplace or discrete Laplace measurements.

A person who changes cell shifts `count` independent measurements by 1. Let s = 1/scale. The privacy
loss of a discrete Laplace measurement is s or -s, so the sum of the losses has a scaled binomial
distribution. The loss of a Laplace measurement is between -s and s. Its distribution becomes
symmetric if it is weighted by e^(s/2 - loss/2). The weighted distribution has mass 1/2 at s, mass
1/2 at -s, and mass s/2 uniformly between them. The weighted distribution of a sum of losses is a
mixture of shifted B-splines. All terms are positive, so a delta of 1e-14 is accurate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from isdp.checks import check_integer, check_non_negative, check_positive, check_probability

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
MAX_MEASUREMENTS = 60
MIN_RELATIVE_DISTANCE = 1e-13  # minimum distance to the scale of pure privacy, relative to it
ROOT_TOLERANCE = 1e-12
MIN_DELTA = 1e-300  # minimum delta of which the logarithm is computed


def delta_geometric(epsilon: float, scale: float, count: int) -> float:
    """Return the smallest delta of `count` discrete Laplace measurements.

    The variance of a measurement is 2a/(1 - a)^2 with a = exp(-1/scale). The parameters are those
    of `delta_laplace`.
    """
    _check(epsilon, scale, count)
    return _delta_at_ends(epsilon, 1 / scale, count, math.log1p(math.exp(-1 / scale)))


def delta_laplace(epsilon: float, scale: float, count: int) -> float:
    """Return the smallest delta of `count` Laplace measurements.

    Parameters
    ----------
    epsilon : float
        The privacy loss, 0 or more.
    scale : float
        The scale of the noise, positive. The variance of a measurement is 2 scale^2.
    count : int
        The number of measurements that one person shifts by 1, from 1 to 60.
    """
    _check(epsilon, scale, count)
    s = 1 / scale
    deltas = [_delta_at_ends(epsilon, s, count, math.log(2))]
    for inside in range(1, count + 1):
        deltas.append(_delta_with_inside(epsilon, s, count, inside))
    return math.fsum(deltas)


def scale_laplace(epsilon: float, delta: float, count: int) -> float:
    """Return the smallest scale for which `count` measurements are (epsilon, delta)-private."""
    check_probability("accounting: delta", delta)
    _check(epsilon, 1.0, count)
    check_positive("accounting: epsilon", epsilon)
    high = count / epsilon  # the scale of pure differential privacy
    low = high
    while delta_laplace(epsilon, low, count) <= delta:
        low /= 2

    # near `high`, ln(delta) is almost linear in the logarithm of the distance to `high`
    def above(log_distance: float) -> float:
        found = delta_laplace(epsilon, high - math.exp(log_distance), count)
        return math.log(max(found, MIN_DELTA)) - math.log(delta)

    nearest, farthest = math.log(high) + math.log(MIN_RELATIVE_DISTANCE), math.log(high - low)
    if above(nearest) >= 0:
        return high
    log_distance = scipy.optimize.brentq(
        above, nearest, farthest, xtol=ROOT_TOLERANCE, rtol=ROOT_TOLERANCE
    )
    while above(log_distance) > 0:  # delta falls as the scale grows
        log_distance -= ROOT_TOLERANCE
    return high - math.exp(log_distance)


def _delta_at_ends(epsilon: float, s: float, count: int, log_norm: float) -> float:
    """Return the part of delta from the outcomes in which every loss is s or -s.

    The probability that j of the losses are s is binomial(count, j) e^(-s (count - j)), divided by
    e^(count log_norm).
    """
    plus = np.arange(count + 1)
    loss = (2 * plus - count) * s
    log_probability = _log_binomial(count, plus) - s * (count - plus) - count * log_norm
    return float(np.sum(np.exp(log_probability) * np.maximum(0, -np.expm1(epsilon - loss))))


def _delta_with_inside(epsilon: float, s: float, count: int, inside: int) -> float:
    """Return the part of delta from the outcomes with `inside` losses strictly between -s and s."""
    signs = count - inside
    plus = np.arange(signs + 1)[:, None, None]
    shift = 2 * plus - signs
    log_mass = _log_binomial(count, inside) + inside * math.log(s / 2) - count * s / 2
    log_weight = log_mass + _log_binomial(signs, plus) - signs * math.log(2)
    # left ends of the polynomial pieces of the spline, in units of s
    starts = 2.0 * np.arange(inside)[:, None] - inside + shift
    low = np.maximum(starts, epsilon / s)
    half = np.maximum(0, starts + 2 - low) / 2
    points = low + half + half * NODES
    # the basis element has integral 2, because its shifts by 2 sum to 1
    density = np.nan_to_num(_basis_element(inside)(points - shift)) / 2
    kept = np.exp(points * s / 2 + log_weight) * -np.expm1(np.minimum(0, epsilon - points * s))
    return float((half * WEIGHTS * density * kept).sum())


@cache
def _basis_element(inside: int) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    knots = 2.0 * np.arange(inside + 1) - inside
    element: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    element = scipy.interpolate.BSpline.basis_element(knots, extrapolate=False)
    return element


def _log_binomial(n: int, k: ArrayLike) -> NDArray[np.float64]:
    k = np.asarray(k)
    logs: NDArray[np.float64] = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return logs


def _check(epsilon: float, scale: float, count: int) -> None:
    check_non_negative("accounting: epsilon", epsilon)
    check_positive("accounting: the scale", scale)
    check_integer("accounting", "the number of measurements", count, 1, MAX_MEASUREMENTS)
