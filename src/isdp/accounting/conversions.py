"""From zero-concentrated to (epsilon, delta) differential privacy, each way under its own name.

All of them say, for rho-zCDP, an epsilon that holds at a given delta. "exact Gaussian" holds for
Gaussian noise alone (rho = mu^2 / 2 with mu the distance in standard deviations) and is the
smallest there is for it; the other two hold for every mechanism with that rho.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import scipy
from scipy.special import erfcx, log_ndtr, ndtr

from isdp.accounting.guarantees import Guarantee, Number, product
from isdp.errors import InputError

ROUNDING = 1e-12  # relative, more than a conversion is off by
FAR_RIGHT = 5.0  # beyond it the two terms of the Gaussian profile are safely apart


def epsilon_bun_steinke(rho: float, delta: float) -> float:
    """Epsilon = rho + 2 sqrt(rho ln(1/delta)): the conversion behind the slides' tables.

    Bun and Steinke, *Concentrated Differential Privacy* (2016), Proposition 1.3.
    """
    _check(rho=rho, delta=delta)
    return rho + 2 * math.sqrt(rho * -math.log(delta))


def epsilon_canonne_kamath_steinke(rho: float, delta: float) -> float:
    """Smallest epsilon over the Renyi orders alpha > 1, and at least 0.

    Canonne, Kamath and Steinke, *The Discrete Gaussian for Differential Privacy* (2020),
    Corollary 13. Every order gives a bound that holds, so a search that stops early is safe.
    """
    _check(rho=rho, delta=delta)
    if rho == 0:
        return 0.0

    def bound(log_excess):
        excess = math.exp(log_excess)  # alpha - 1
        # ln(1 - 1/alpha) = -ln(1 + 1/(alpha - 1)), which keeps its digits at large orders
        slack = -math.log(delta) - log_excess - (1 + excess) * math.log1p(1 / excess)
        return (1 + excess) * rho + slack / excess

    best = math.log(math.sqrt(max(-math.log(delta), 1e-3) / rho))
    found = scipy.optimize.minimize_scalar(
        bound, bounds=(best - 8, best + 8), options={"xatol": 1e-10}
    )
    return max(0.0, float(found.fun))


def epsilon_gaussian(rho: float, delta: float) -> float:
    """Smallest epsilon of Gaussian noise at that delta, from its exact profile; at least 0."""
    _check(rho=rho, delta=delta)
    mu, goal = math.sqrt(2 * rho), math.log(delta)
    if rho == 0 or _log_delta_gaussian(0.0, mu) <= goal:
        return 0.0
    most = epsilon_bun_steinke(rho, delta)  # never too small
    return scipy.optimize.brentq(
        lambda epsilon: _log_delta_gaussian(epsilon, mu) - goal, 0.0, most, xtol=1e-16, rtol=1e-13
    )


def delta_gaussian(epsilon: float, mu: float) -> float:
    """Smallest delta of Gaussian noise: Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu).

    Parameters
    ----------
    epsilon : float
        From 0 up.
    mu : float
        Distance of the two tables in standard deviations of the noise, positive.

    Notes
    -----
    Balle and Wang (2018), Theorem 8.
    """
    if not (0 <= epsilon < math.inf and 0 < mu < math.inf):
        raise InputError(f"accounting: epsilon {epsilon} from 0 up and mu {mu} above 0 are needed")
    return math.exp(_log_delta_gaussian(epsilon, mu))


def _log_delta_gaussian(epsilon: float, mu: float) -> float:
    left, right = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    if left > FAR_RIGHT:
        return math.log(ndtr(left) - math.exp(epsilon + log_ndtr(right)))
    # e^eps phi(right) = phi(left), so both terms are this density times a Mills ratio; their
    # plain difference would lose every digit at delta = 1e-14
    mills = erfcx(-left / math.sqrt(2)) - erfcx(-right / math.sqrt(2))
    return -0.5 * left**2 + math.log(mills / 2)


CONVERSIONS: dict[str, Callable[[float, float], float]] = {
    "slides": epsilon_bun_steinke,
    "Canonne-Kamath-Steinke": epsilon_canonne_kamath_steinke,
    "exact Gaussian": epsilon_gaussian,
}


def epsilon_for(conversion: str, rho: float, delta: float) -> float:
    """Epsilon at `delta` by the conversion of that name, one of `CONVERSIONS`."""
    return _named(conversion)(rho, delta)


def epsilon_above(conversion: str, rho: Number, delta: float) -> float:
    """As `epsilon_for`, and never less than the true one for having been computed in doubles."""
    return epsilon_for(conversion, product(rho, 1.0), delta) * (1 + ROUNDING)


def rho_for(conversion: str, epsilon: float, delta: float) -> float:
    """Largest rho whose epsilon at `delta`, by the conversion of that name, is the one given.

    Raises
    ------
    InputError
        If the conversion is unknown or a number is out of its range.
    """
    convert = _named(conversion)
    if not 0 < epsilon < math.inf:
        raise InputError(f"accounting: epsilon must be positive, got {epsilon!r}")
    _check(delta=delta)
    length = -math.log(delta)
    low = (epsilon / (math.sqrt(length + epsilon) + math.sqrt(length))) ** 2
    if conversion == "slides":
        return low
    high = 2 * low  # the other conversions give a smaller epsilon at each rho
    while convert(high, delta) < epsilon:
        high *= 2
    return scipy.optimize.brentq(
        lambda rho: convert(rho, delta) - epsilon, low, high, xtol=1e-14 * low, rtol=1e-13
    )


def convert(guarantee: Guarantee, delta: float, conversion: str) -> Guarantee:
    """Say a zCDP guarantee as (epsilon, delta), for one person who changes cell.

    Raises
    ------
    InputError
        If the guarantee is of another flavour or has no figure per person.
    """
    if guarantee.flavour != "zCDP" or guarantee.per_person is None:
        raise InputError("accounting: only a zCDP guarantee with a figure per person is converted")
    return Guarantee(
        flavour="approximate",
        loss=epsilon_above(conversion, guarantee.loss_per_person, delta),
        metric="person",
        per_person=1,
        source=f"{guarantee.source}; converted: {conversion}",
        delta=delta,
        growth="none",
        relation=guarantee.relation,
        held=guarantee.held,
    )


def _named(conversion: str) -> Callable[[float, float], float]:
    if conversion not in CONVERSIONS:
        raise InputError(f"accounting: {conversion!r} is none of {', '.join(CONVERSIONS)}")
    return CONVERSIONS[conversion]


def _check(*, delta: float, rho: float = 0.0) -> None:
    if not 0 <= rho < math.inf:
        raise InputError(f"accounting: rho must be a finite number from 0 up, got {rho!r}")
    if not 0 < delta < 1:
        raise InputError(f"accounting: delta must lie between 0 and 1, got {delta!r}")
