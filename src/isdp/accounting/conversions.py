"""Named conversions from rho-zCDP to (epsilon, delta)-differential privacy.

The abbreviation zCDP means zero-concentrated differential privacy. The conversion "exact Gaussian"
is valid for Gaussian noise only and gives the smallest epsilon. For this noise, rho = mu^2 / 2,
where mu is the distance between two tables in standard deviations of the noise. The other
conversions are valid for every mechanism that satisfies rho-zCDP.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import erfcx, ndtr

from isdp.accounting.guarantees import Number, PrivacyGuarantee, upper_product
from isdp.checks import check_choice, check_in_range, check_non_negative, check_probability
from isdp.errors import InputError

NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)  # Gauss-Legendre quadrature on [-1, 1]
ROUNDING = 1e-12  # bound on the relative rounding error of a conversion
# The Gaussian privacy profile is a difference of two terms. The first term is near 1 if its
# argument is above MIN_SEPARATION. The terms are almost equal if mu is below MIN_SUBTRACTED_MU.
MIN_SEPARATION = 5.0
MIN_SUBTRACTED_MU = 0.1  # distance between two tables, in standard deviations
MIN_LOG_PROBABILITY = -1e4  # the exponential of a smaller logarithm is rounded to 0
MIN_ASYMPTOTIC = 50.0  # minimum argument at which four terms of the series of erfcx are accurate
MIN_RHO = 1e-280  # minimum positive rho, because subnormal floats lose digits
EPSILON_RANGE = (1e-100, 1e100)  # squares in this range neither overflow nor underflow


def epsilon_bun_steinke(rho: float, delta: float) -> float:
    """Return epsilon = rho + 2 sqrt(rho ln(1/delta)), the conversion "slides".

    The source is Bun and Steinke, *Concentrated Differential Privacy* (2016), Proposition 1.3.
    """
    check_non_negative("accounting: rho", rho)
    check_probability("accounting: delta", delta)
    return rho + 2 * math.sqrt(rho * -math.log(delta))


def epsilon_canonne_kamath_steinke(rho: float, delta: float) -> float:
    """Return the minimum of epsilon over the Renyi orders alpha > 1, and at least 0.

    The source is Canonne, Kamath and Steinke, *The Discrete Gaussian for Differential Privacy*
    (2020), Corollary 13. Every order gives a valid bound.
    """
    check_non_negative("accounting: rho", rho)
    check_probability("accounting: delta", delta)
    if rho == 0:
        return 0.0

    def bound(log_excess: float) -> float:
        excess = math.exp(log_excess)  # alpha - 1
        # ln(1 - 1/alpha) = -ln(1 + 1/(alpha - 1)) is accurate at large orders
        slack = -math.log(delta) - log_excess - (1 + excess) * math.log1p(1 / excess)
        return (1 + excess) * rho + slack / excess

    best = (math.log(max(-math.log(delta), 1e-3)) - math.log(rho)) / 2
    found = scipy.optimize.minimize_scalar(
        bound, bounds=(best - 8, best + 8), options={"xatol": 1e-10}
    )
    return max(0.0, float(found.fun))


def epsilon_gaussian(rho: float, delta: float) -> float:
    """Compute the smallest epsilon of Gaussian noise from its exact privacy profile.

    The profile is delta as a function of epsilon. The result is at least 0.
    """
    check_non_negative("accounting: rho", rho)
    check_probability("accounting: delta", delta)
    mu, goal = math.sqrt(2) * math.sqrt(rho), math.log(delta)
    if rho == 0 or _log_delta_gaussian(0.0, mu) <= goal:
        return 0.0
    high = epsilon_bun_steinke(rho, delta)  # a valid upper bound
    if _log_delta_gaussian(high, mu) >= goal:  # rounding causes this if delta is close to 1
        return high
    root: float = scipy.optimize.brentq(
        lambda epsilon: _log_delta_gaussian(epsilon, mu) - goal,
        0.0,
        high,
        xtol=1e-16 * min(1.0, high),
        rtol=1e-13,
    )
    return root


def _log_delta_gaussian(epsilon: float, mu: float) -> float:
    left, right = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    # Because e^eps phi(right) = phi(left), both terms are this density times a Mills ratio. The
    # difference of the terms themselves has no correct digit at delta = 1e-14.
    log_density = -0.5 * left * left
    if left < 0 and log_density < MIN_LOG_PROBABILITY:
        return log_density  # this is an upper bound, because the Mills ratio is below 1
    near, far = -left / math.sqrt(2), -right / math.sqrt(2)
    if left > MIN_SEPARATION:
        return math.log1p(-ndtr(-left) - math.exp(log_density) * erfcx(far) / 2)
    if mu > MIN_SUBTRACTED_MU:
        return log_density + math.log((erfcx(near) - erfcx(far)) / 2)
    step = mu / math.sqrt(2)
    return log_density + math.log(step / 4) + _log_mean_fall(near + step * (1 + NODES) / 2, WEIGHTS)


def _log_mean_fall(points: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return the logarithm of the weighted sum of -erfcx'(t) = 2 / sqrt(pi) - 2 t erfcx(t)."""
    if points[0] < MIN_ASYMPTOTIC:
        return math.log(weights @ (2 / math.sqrt(math.pi) - 2 * points * erfcx(points)))
    inverse = (points[0] / points) ** 2
    small = 1 / points / points
    series = 1 - small * (1.5 - small * (3.75 - small * 13.125))
    return math.log(weights @ (inverse * series) / math.sqrt(math.pi)) - 2 * math.log(points[0])


Conversion = Literal["slides", "Canonne-Kamath-Steinke", "exact Gaussian"]
CONVERSIONS: dict[Conversion, Callable[[float, float], float]] = {
    "slides": epsilon_bun_steinke,
    "Canonne-Kamath-Steinke": epsilon_canonne_kamath_steinke,
    "exact Gaussian": epsilon_gaussian,
}


def epsilon_for(conversion: Conversion, rho: float, delta: float) -> float:
    """Compute epsilon from rho and delta with a named conversion of `CONVERSIONS`."""
    return _named(conversion)(rho, delta)


def epsilon_above(conversion: Conversion, rho: Number, delta: float) -> float:
    """Return an upper bound on the result of `epsilon_for`, including its rounding error."""
    double = float(upper_product(rho, 1.0))
    return epsilon_for(conversion, max(double, MIN_RHO) if double else 0.0, delta) * (1 + ROUNDING)


def max_loss(rho: Number, delta: float) -> float:
    """Bound the magnitude of the privacy loss, except with a probability of at most delta.

    An epsilon at delta is not such a bound: the loss can exceed it with a larger probability. By
    Markov's inequality, a loss exceeds epsilon > rho with a probability of at most
    exp(-(epsilon - rho)^2 / (4 rho)), as in Bun and Steinke (2016), Proposition 1.3. A loss below
    -epsilon has a smaller probability. Each direction has half of delta.
    """
    return epsilon_above("slides", rho, delta / 2)


def rho_for(conversion: Conversion, epsilon: float, delta: float) -> float:
    """Return the largest rho for which a named conversion gives at most `epsilon` at `delta`."""
    convert = _named(conversion)
    check_in_range("accounting: epsilon", epsilon, *EPSILON_RANGE)
    check_probability("accounting: delta", delta)
    length = -math.log(delta)
    low = (epsilon / (math.sqrt(length + epsilon) + math.sqrt(length))) ** 2
    if conversion == "slides":
        return low
    high = 2 * low  # the other conversions give a smaller epsilon at the same rho
    while convert(high, delta) < epsilon:
        high *= 2
    root: float = scipy.optimize.brentq(
        lambda rho: convert(rho, delta) - epsilon, low, high, xtol=1e-14 * low, rtol=1e-13
    )
    return root


def convert(guarantee: PrivacyGuarantee, delta: float, conversion: Conversion) -> PrivacyGuarantee:
    """Convert a zCDP guarantee to an approximate guarantee for one person who changes cell.

    Raise `InputError` if the guarantee is not zCDP or has no loss per person.
    """
    rho = guarantee.loss_per_person
    if guarantee.flavour != "zCDP" or rho is None:
        raise InputError(
            "accounting: the guarantee is not zCDP, or has no loss per person. Give a zCDP "
            "guarantee with a loss per person"
        )
    return PrivacyGuarantee(
        flavour="approximate",
        loss=epsilon_above(conversion, rho, delta),
        metric="person",
        per_person=1,
        source=f"{guarantee.source}; converted: {conversion}",
        delta=delta,
        growth="none",
        relation=guarantee.relation,
        held=guarantee.held,
    )


def _named(conversion: Conversion) -> Callable[[float, float], float]:
    return CONVERSIONS[check_choice("accounting: the conversion", conversion, CONVERSIONS)]
