"""What Gaussian noise guarantees, exactly, and the constant of SDP, Lemma 3.4, beside it.

For noise of standard deviation s on a number that one record moves by 1 (Balle and Wang 2018,
Theorem 8): delta(epsilon) = Phi(1/(2s) - epsilon s) - exp(epsilon) Phi(-1/(2s) - epsilon s). In
more dimensions the same holds for the longest difference, measured in standard deviations.
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from flint import arb, ctx
from scipy.special import log_ndtr

from isdp.checks import check_choice, check_positive_float, check_probability
from isdp.errors import InputError

BITS, MOST_BITS = 300, 20_000  # of the certified evaluation, at first and at most
RIGHT_BITS = 64  # of its value
NUDGE = 1e-12  # relative step by which a root is raised until it is certified, then doubled
CONSTANTS = ("exact", "paper")


def log_delta(epsilon: float, sigma) -> np.ndarray:
    """Logarithm of the exact delta, without the cancellation of the two terms.

    Parameters
    ----------
    sigma : float or array
        Standard deviation by the sensitivity.
    """
    sigma = np.asarray(sigma, dtype=float)
    first = log_ndtr(0.5 / sigma - epsilon * sigma)
    second = log_ndtr(-0.5 / sigma - epsilon * sigma) + epsilon
    with np.errstate(divide="ignore"):  # where the two agree in all digits, delta is 0
        return first + np.log(-np.expm1(np.minimum(second - first, 0.0)))


def delta(epsilon: float, sigma) -> np.ndarray:
    """Least delta with which the noise is (epsilon, delta)-private; of the shape of `sigma`.

    Examples
    --------
    >>> round(float(delta(1.0, 3.730632)), 8)
    1e-05
    """
    check_positive_float("subspace: epsilon", epsilon)
    return np.exp(log_delta(epsilon, sigma))


def certified_delta(epsilon: float, sigma: float) -> tuple[float, float]:
    """Enclose the exact delta between two doubles, by ball arithmetic."""
    value = _ball(epsilon, sigma)
    lower, upper = float(value.lower()), float(value.upper())
    return max(0.0, math.nextafter(lower, -math.inf)), math.nextafter(upper, math.inf)


def _ball(epsilon: float, sigma: float) -> arb:
    """Exact delta as a ball of 64 right bits or more, however much the two terms cancel."""
    s, e = (
        check_positive_float("subspace: sigma", sigma),
        check_positive_float("subspace: epsilon", epsilon),
    )
    bits = BITS
    while bits <= MOST_BITS:
        value = _terms(arb(e), arb(s), bits)
        if value.rel_accuracy_bits() >= RIGHT_BITS:
            return value
        bits *= 2
    raise InputError(
        f"subspace: delta at epsilon = {e:g} and {s:g} standard deviations a unit is too extreme a "
        f"number to be worked out"
    )


def _terms(e: arb, s: arb, bits: int) -> arb:
    with ctx.workprec(bits):
        half, root = arb(1) / 2, arb(2).sqrt()
        first = ((e * s - half / s) / root).erfc() / 2
        second = ((e * s + half / s) / root).erfc() / 2
        return first - e.exp() * second


def sigma(epsilon: float, delta: float) -> float:
    """Least standard deviation by the sensitivity that is (epsilon, delta)-private.

    Returns
    -------
    float
        Above the root by at most a few parts in 1e12, and certified by `certified_delta`.

    Examples
    --------
    >>> round(sigma(1.0, 1e-5), 6)
    3.730632
    """
    check_positive_float("subspace: epsilon", epsilon)
    target = math.log(check_probability("subspace: delta", delta))

    def excess(s: float) -> float:
        return float(_ball(epsilon, s).log()) - target

    low = high = math.sqrt(0.5 / epsilon)  # where the first term is 1/2
    while excess(high) > 0:
        high *= 2
    while excess(low) < 0:
        low /= 2
    root, nudge = scipy.optimize.brentq(excess, low, high, xtol=1e-300, rtol=1e-14), NUDGE
    while certified_delta(epsilon, root)[1] > delta:
        root, nudge = root * (1 + nudge), 2 * nudge
    return root


def paper_constant(epsilon: float, delta: float) -> float:
    """Give c = (1 + sqrt(1 + ln(1/delta))) / epsilon, as in SDP, Lemma 3.4 and Algorithm 1.

    It is too small for very small delta: see `log10_failing_delta`.
    """
    check_positive_float("subspace: epsilon", epsilon)
    return (1 + math.sqrt(1 - math.log(check_probability("subspace: delta", delta)))) / epsilon


def multiplier(epsilon: float, delta: float, constant: str = "exact") -> float:
    """Give the standard deviation by the sensitivity: the exact one, or the paper's."""
    check_choice("subspace: constant", constant, CONSTANTS)
    return sigma(epsilon, delta) if constant == "exact" else paper_constant(epsilon, delta)


def log10_failing_delta(epsilon: float) -> float:
    """Delta below which the paper's constant gives too little noise for this epsilon.

    Returns
    -------
    float
        The base-10 logarithm of that delta, negative.

    Raises
    ------
    InputError
        If the two do not cross for delta between 10^-300 and 0.9.
    """
    check_positive_float("subspace: epsilon", epsilon)

    def excess(log10):
        log_target = log10 * math.log(10)
        paper = (1 + np.sqrt(1 - log_target)) / epsilon
        return log_delta(epsilon, paper) - log_target

    grid = np.linspace(math.log10(0.9), -300, 3001)
    above = excess(grid) > 0
    if above[0] or not above.any():
        raise InputError(f"subspace: no crossing found for epsilon = {epsilon:g}")
    first = int(above.argmax())
    return scipy.optimize.brentq(excess, grid[first], grid[first - 1], xtol=1e-12)
