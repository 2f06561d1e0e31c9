"""Exact privacy loss of swapping for given county totals.

All records of the stratum have different values of the held variables. County k, a value of the
swapping variable, has n_k > 0 records. The probability that a dataset x becomes the output w
depends only on a_k, the number of records with x_i = w_i = k:

    P(a) prod_k n_k! = sum_T h_T [z^T] prod_k sum_t C(a_k, t) (n_k - t)! z^t ,
    h_T = sum_j (-1)^(T - j) C(T, j) f(n - j) ,      f(m) = o^m / d_m ,

with the odds o of the rate and the subfactorials d_m. The formula is inclusion and exclusion over
the records that stay fixed. The terms of h_T alternate in sign. Therefore h_T is computed in
rational numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product

import numpy as np
from scipy.special import gammaln

from isdp.checks import ExactNumber
from isdp.errors import InputError
from isdp.swapping.mechanism.derangements import subfactorial
from isdp.swapping.mechanism.exact_permutation import exact_rate
from isdp.swapping.privacy.bound import log_odds
from reproduction.swapping.theory.variants import log_subfactorial

MAX_CLASSES = 3000  # maximum number of classes of outputs
MAX_TERMS = 100_000_000  # maximum number of terms of a sum


@dataclass(frozen=True)
class Loss:
    """A privacy loss per unit of d_HAM, in nats. `kind` is "exact" or "lower bound"."""

    value: float
    kind: str


def universe_loss(totals, rate: ExactNumber) -> Loss:
    """Compute the exact loss, the maximum over all pairs of datasets and all outputs.

    Raises InputError if the number of output classes, prod (n_k + 1), exceeds `MAX_CLASSES`.
    """
    totals = list(map(int, totals))
    number = math.prod(n + 1 for n in totals)
    if number > MAX_CLASSES:
        raise InputError(
            f"swapping: totals: there are {number:,} classes of outputs, and the maximum is "
            f"{MAX_CLASSES:,}. Use universe_lower_bound."
        )
    weights = fixing_weights(sum(totals), exact_rate(rate))
    classes = [a for a in product(*(range(n + 1) for n in totals)) if feasible(totals, a)]
    logs = np.array([log_fraction(_relative_probability(totals, a, weights)) for a in classes])
    matched = np.array(classes)
    worst = 0.0
    for a, log_probability in zip(matched, logs, strict=True):
        step = abs(matched - a)
        distances = np.maximum(step.sum(axis=1), 2 * step.max(axis=1))
        worst = max(worst, float((abs(logs - log_probability) / np.maximum(distances, 1)).max()))
    return Loss(worst, "exact")


def feasible(totals, matched) -> bool:
    """Return True if an output exists that matches exactly these numbers of records.

    The mismatched records of a county, n_k - a_k, must be placed in other counties.
    """
    mismatched = [n - a for n, a in zip(totals, matched, strict=True)]
    return min(mismatched) >= 0 and 2 * max(mismatched) <= sum(mismatched)


@lru_cache(maxsize=64)
def fixing_weights(n: int, rate: Fraction) -> tuple[Fraction, ...]:
    """Compute h_T for T = 0, ..., n, the T-th difference of f(n - j) in j at j = 0."""
    odds = rate / (1 - rate)
    values = [odds**m / subfactorial(m) if m != 1 else Fraction(0) for m in range(n, -1, -1)]
    common = math.lcm(*(f.denominator for f in values))
    row, weights = [int(f * common) for f in values], []  # integers are faster than fractions
    for _ in range(n + 1):
        weights.append(Fraction(row[0], common))
        row = [later - earlier for earlier, later in pairwise(row)]
    return tuple(weights)


def _relative_probability(totals, matched, weights: Sequence[Fraction]) -> Fraction:
    """Compute P(a) up to a factor that is the same for all a."""
    series = np.array([1], dtype=object)  # a polynomial in z with integer coefficients
    for n, a in zip(totals, matched, strict=True):
        own = [math.comb(a, t) * math.factorial(n - t) for t in range(a + 1)]
        series = np.convolve(series, np.array(own, dtype=object))
    return sum((h * c for h, c in zip(weights, series, strict=False)), Fraction(0))


def log_fraction(ratio: Fraction) -> float:
    """Compute the logarithm of a positive rational number of any size."""
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def universe_lower_bound(totals, rate: ExactNumber) -> Loss:
    """Compute a lower bound of the loss from one output and one pair of datasets.

    The output matches all records of the two smallest counties, and no other record. In the second
    dataset, one record of the smallest county is exchanged with one record of the second-smallest
    county. Both probabilities are sums of positive terms over the numbers of records that stay
    fixed in the two counties. Raises InputError if no such output exists, or if the two counties
    are too large.
    """
    totals, odds = sorted(map(int, totals)), log_odds(rate)
    small, others = totals[:2], totals[2:]
    if not others or 2 * max(others) > sum(others):
        raise InputError(
            "swapping: totals: there are fewer than three counties, or one county is too large. "
            "Give three or more counties of similar sizes."
        )
    if math.prod(n + 1 for n in small) > MAX_TERMS:
        raise InputError(
            "swapping: totals: the two smallest counties have too many records for this bound. "
            "Give smaller totals."
        )
    n = sum(totals)
    moved = n - np.arange(sum(small) + 1)
    by_fixed = moved * odds - log_subfactorial(moved)
    log_f = np.lib.stride_tricks.sliding_window_view(by_fixed, small[1] + 1)
    kept = [_log_fixed(k) for k in small]
    exchanged = [_log_fixed_but_one(k) for k in small]
    first, second = (_log_sum(np.add.outer(*logs), log_f) for logs in (kept, exchanged))
    return Loss((first - second) / 2, "lower bound")


def _log_sum(logs: np.ndarray, more: np.ndarray) -> float:
    """Compute the logarithm of the sum of exp(logs + more). It overwrites `logs`."""
    logs += more
    peak = logs.max()
    logs -= peak
    return float(peak + np.log(np.exp(logs, out=logs).sum()))


def _log_fixed(n: int) -> np.ndarray:
    """Compute the logarithms of C(n, t) d_{n-t}, the number of orders of n records with t fixed."""
    t = np.arange(n + 1)
    return _log_choose(n, t) + log_subfactorial(n - t)


def _log_fixed_but_one(n: int) -> np.ndarray:
    """Compute the logarithms of C(n - 1, t) (d_{n-t} + d_{n-t-1}), and minus infinity for t = n.

    This is the number of fillings of n - 1 matched places by n records with t fixed.
    """
    t = np.arange(n)
    either = np.logaddexp(log_subfactorial(n - t), log_subfactorial(n - t - 1))
    return np.append(_log_choose(n - 1, t) + either, -math.inf)


def _log_choose(n: int, t: np.ndarray) -> np.ndarray:
    return gammaln(n + 1) - gammaln(t + 1) - gammaln(n - t + 1)
