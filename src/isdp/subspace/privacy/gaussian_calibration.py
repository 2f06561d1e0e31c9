"""Exact calibration of Gaussian noise, and the constant of SDP, Lemma 3.4.

SDP is *Subspace Differential Privacy*. Let one record change a number by 1, and let s be the
standard deviation of the noise. Then delta(epsilon) = Phi(1/(2s) - epsilon s) - exp(epsilon)
Phi(-1/(2s) - epsilon s) (Balle and Wang 2018, Theorem 8). In more dimensions, 1/s is the length of
the longest difference in standard deviations of the noise.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
import scipy
from flint import arb, ctx
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from isdp.arrays import FloatArray
from isdp.checks import check_choice, check_positive_float, check_probability
from isdp.errors import InputError

INITIAL_BITS, MAX_BITS = 300, 20_000  # initial and maximum precision in bits
MIN_ACCURATE_BITS = 64  # minimum number of accurate bits of a computed delta
ROOT_STEP = 1e-12  # initial relative increase of an uncertified root, which doubles at each step
Calibration = Literal["exact", "paper"]


def log_delta(epsilon: float, sigma: ArrayLike) -> FloatArray:
    """Compute the logarithm of the exact delta, without cancellation of the two terms.

    `sigma` contains standard deviations divided by the sensitivity.
    """
    sigma = np.asarray(sigma, dtype=float)
    first: FloatArray = log_ndtr(0.5 / sigma - epsilon * sigma)
    second = log_ndtr(-0.5 / sigma - epsilon * sigma) + epsilon
    with np.errstate(divide="ignore"):  # delta is 0 if the two terms have equal digits
        gap: FloatArray = -np.expm1(np.minimum(second - first, 0.0))
        return first + np.log(gap)


def delta(epsilon: float, sigma: ArrayLike) -> FloatArray:
    """Compute the minimum delta of (epsilon, delta)-privacy for each standard deviation in `sigma`.

    Examples
    --------
    >>> round(float(delta(1.0, 3.730632)), 8)
    1e-05
    """
    check_positive_float("subspace: epsilon", epsilon)
    return np.exp(log_delta(epsilon, sigma))


def certified_delta(epsilon: float, sigma: float) -> tuple[float, float]:
    """Compute a lower and an upper bound on the exact delta by ball arithmetic."""
    value = _ball(epsilon, sigma)
    lower, upper = float(value.lower()), float(value.upper())
    return max(0.0, math.nextafter(lower, -math.inf)), math.nextafter(upper, math.inf)


def _ball(epsilon: float, sigma: float) -> arb:
    """Compute delta in ball arithmetic with at least 64 accurate bits."""
    s = check_positive_float("subspace: sigma", sigma)
    e = check_positive_float("subspace: epsilon", epsilon)
    bits = INITIAL_BITS
    while bits <= MAX_BITS:
        value = _terms(arb(e), arb(s), bits)
        if value.rel_accuracy_bits() >= MIN_ACCURATE_BITS:
            return value
        bits *= 2
    raise InputError(
        f"subspace: epsilon: the delta for epsilon {e:g} and a standard deviation of {s:g} "
        f"sensitivities is too small to compute. Use less extreme values."
    )


def _terms(e: arb, s: arb, bits: int) -> arb:
    with ctx.workprec(bits):
        half, root = arb(1) / 2, arb(2).sqrt()
        first = ((e * s - half / s) / root).erfc() / 2
        second = ((e * s + half / s) / root).erfc() / 2
        return first - e.exp() * second


def sigma(epsilon: float, delta: float) -> float:
    """Compute the minimum standard deviation of (epsilon, delta)-privacy, in sensitivities.

    The result is within a relative 1e-11 of the minimum, and `certified_delta` certifies it.

    Examples
    --------
    >>> round(sigma(1.0, 1e-5), 6)
    3.730632
    """
    check_positive_float("subspace: epsilon", epsilon)
    target = math.log(check_probability("subspace: delta", delta))

    def excess(s: float) -> float:
        return float(_ball(epsilon, s).log()) - target

    low = high = math.sqrt(0.5 / epsilon)  # at this standard deviation, the first term is 1/2
    while excess(high) > 0:
        high *= 2
    while excess(low) < 0:
        low /= 2
    root: float = scipy.optimize.brentq(excess, low, high, xtol=1e-300, rtol=1e-14)
    step = ROOT_STEP
    while certified_delta(epsilon, root)[1] > delta:
        root, step = root * (1 + step), 2 * step
    return root


def paper_constant(epsilon: float, delta: float) -> float:
    """Compute c = (1 + sqrt(1 + ln(1/delta))) / epsilon of SDP, Lemma 3.4 and Algorithm 1.

    For a very small delta, the constant is too small.
    """
    check_positive_float("subspace: epsilon", epsilon)
    return (1 + math.sqrt(1 - math.log(check_probability("subspace: delta", delta)))) / epsilon


def multiplier(epsilon: float, delta: float, constant: Calibration = "exact") -> float:
    """Compute the multiplier c of the noise, by `sigma` or `paper_constant`."""
    check_choice("subspace: constant", constant, get_args(Calibration))
    return sigma(epsilon, delta) if constant == "exact" else paper_constant(epsilon, delta)
