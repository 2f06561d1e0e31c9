"""Exact (epsilon, delta) of many Laplace or double geometric measurements taken together.

A person who changes cell shifts `count` independent measurements by 1 each. With s = 1/scale the
privacy loss of one double geometric measurement is s or -s, so the sum is binomial. That of one
Laplace measurement also takes all values between. Weighted by e^(-loss/2) it is symmetric: mass
1/2 at each of s and -s, and s/2 spread evenly between them, all times e^(-s/2). Sums of it are
mixtures of shifted B-splines, in which nothing cancels, so a delta of 1e-14 keeps its digits.
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
from isdp.errors import InputError

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)  # a piece
MAX_MEASUREMENTS = 60
MIN_RELATIVE_DISTANCE = 1e-13  # of the scale of pure differential privacy
ROOT_TOLERANCE = 1e-12
MIN_DELTA = 1e-300  # stands for a delta of 0 in logarithms


def delta_geometric(epsilon: float, scale: float, count: int) -> float:
    """Smallest delta of `count` double geometric measurements with a = exp(-1/scale).

    Parameters
    ----------
    epsilon : float
        From 0 up.
    scale : float
        Positive; the variance of a measurement is 2a/(1 - a)^2.
    count : int
        Measurements that one person shifts by 1, from 1 to 60.

    Returns
    -------
    float
        Exactly 0 where epsilon is at least count/scale, the loss of pure differential privacy.
    """
    _check(epsilon, scale, count)
    return _delta_of_signs(epsilon, 1 / scale, count, -count * math.log1p(math.exp(-1 / scale)))


def delta_laplace(epsilon: float, scale: float, count: int) -> float:
    """Smallest delta of `count` Laplace measurements of that scale; parameters as for the other.

    The variance of a measurement is 2 scale^2.
    """
    _check(epsilon, scale, count)
    s = 1 / scale
    deltas = [_delta_of_signs(epsilon, s, count, -count * math.log(2))]
    for inside in range(1, count + 1):
        deltas.append(_delta_with_inside(epsilon, s, count, inside))
    return math.fsum(deltas)


def scale_laplace(epsilon: float, delta: float, count: int) -> float:
    """Smallest scale at which `count` Laplace measurements are (epsilon, delta)-private."""
    check_probability("accounting: delta", delta)
    _check(epsilon, 1.0, count)
    if epsilon == 0:
        raise InputError("accounting: epsilon must be positive for a scale")
    high = count / epsilon  # pure differential privacy, delta = 0
    low = high
    while delta_laplace(epsilon, low, count) <= delta:
        low /= 2

    # near `high` delta goes like a power of the distance: a straight line in logarithms
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


def _delta_of_signs(epsilon: float, s: float, count: int, log_each: float) -> float:
    """Part of delta in which every loss is s or -s.

    The chance of j losses of s among `count` is exp(log_each) times binomial(count, j) times
    e^(-s (count - j)), which is the tilted weight with e^(loss/2) put back.
    """
    plus = np.arange(count + 1)
    loss = (2 * plus - count) * s
    log_chance = _log_binomial(count, plus) - s * (count - plus) + log_each
    return float(np.sum(np.exp(log_chance) * np.maximum(0, -np.expm1(epsilon - loss))))


def _delta_with_inside(epsilon: float, s: float, count: int, inside: int) -> float:
    """Part of delta in which `inside` of the losses lie strictly between -s and s."""
    signs = count - inside
    plus = np.arange(signs + 1)[:, None, None]
    shift = 2 * plus - signs
    log_mass = _log_binomial(count, inside) + inside * math.log(s / 2) - count * s / 2
    log_weight = log_mass + _log_binomial(signs, plus) - signs * math.log(2)
    # pieces of the spline, in units of s
    starts = 2.0 * np.arange(inside)[:, None] - inside + shift
    low = np.maximum(starts, epsilon / s)
    half = np.maximum(0, starts + 2 - low) / 2
    at = low + half + half * NODES
    # the basis element sums to 1 over its shifts by 2, so its integral is 2
    density = np.nan_to_num(_basis_element(inside)(at - shift)) / 2
    kept = np.exp(at * s / 2 + log_weight) * -np.expm1(np.minimum(0, epsilon - at * s))
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
