"""Exact privacy loss within one universe, that is, for given county totals.

All records of the stratum have different held values, and n_1, ..., n_K of them live in the K
counties (values of the swapping variable). The probability that a dataset x becomes the output w
depends only on a_k, the number of records with x_i = w_i = k:

    P(a) prod_k n_k! = sum_T h_T [z^T] prod_k sum_t C(a_k, t) (n_k - t)! z^t ,
    h_T = sum_j (-1)^(T - j) C(T, j) f(n - j) ,      f(m) = o^m / d_m ,

by inclusion and exclusion over the records that stay fixed. The terms h_T alternate in sign, so
that exact rational numbers are necessary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product

import numpy as np
from scipy.special import gammaln

from isdp.errors import InputError
from isdp.swapping.mechanism.derangements import subfactorial
from isdp.swapping.mechanism.exact_permutation import RateLike, exact_rate
from isdp.swapping.privacy.bound import log_odds
from reproduction.swapping.theory.variants import log_subfactorial

MAX_CLASSES = 3000
MAX_TERMS = 100_000_000


@dataclass(frozen=True)
class Loss:
    """A privacy loss per unit of d_HAM, in nats.

    `kind` is "exact", or "lower bound" if the true loss may be larger.
    """

    value: float
    kind: str


def universe_loss(totals, rate: RateLike) -> Loss:
    """Compute the exact loss for given county totals, with all records different.

    It is the maximum over all pairs of datasets and all outputs. Raises InputError if there are
    more than 3000 classes, prod (n_k + 1), for which `universe_lower_bound` is an alternative.
    """
    totals = check_totals(totals)
    number = math.prod(n + 1 for n in totals)
    if number > MAX_CLASSES:
        raise InputError(
            f"swapping: totals: {number:,} classes of outputs are too many to enumerate; use "
            f"universe_lower_bound"
        )
    weights = fixing_weights(sum(totals), exact_rate(rate))
    classes = [a for a in product(*(range(n + 1) for n in totals)) if feasible(totals, a)]
    logs = np.array([log_fraction(_chance(totals, a, weights)) for a in classes])
    matched = np.array(classes)
    worst = 0.0
    for a, log_chance in zip(matched, logs, strict=True):
        step = abs(matched - a)
        distances = np.maximum(step.sum(axis=1), 2 * step.max(axis=1))
        worst = max(worst, float((abs(logs - log_chance) / np.maximum(distances, 1)).max()))
    return Loss(worst, "exact")


def check_totals(totals) -> list[int]:
    """Return county totals as positive integers, without counties of no records.

    Raises InputError if a total is not a whole number of 0 or more, or if none is positive.
    """
    totals = np.asarray(totals)
    if totals.ndim != 1 or totals.dtype.kind not in "iu" or (totals < 0).any() or not totals.sum():
        raise InputError(f"swapping: totals: must be whole numbers of 0 or more, got {totals!r}")
    return [int(n) for n in totals if n]


def feasible(totals, matched) -> bool:
    """Return True if exactly these numbers of records can be matched, and all others not.

    The other records of a county, r_k = n_k - a_k, must be placed in the other counties.
    """
    rest = [n - a for n, a in zip(totals, matched, strict=True)]
    return min(rest) >= 0 and 2 * max(rest) <= sum(rest)


@lru_cache(maxsize=64)
def fixing_weights(n: int, rate: Fraction) -> tuple[Fraction, ...]:
    """Compute the weights h_T for T = 0, ..., n: the T-th differences of f(n - j) in j at 0."""
    odds = rate / (1 - rate)
    values = [odds**m / subfactorial(m) if m != 1 else Fraction(0) for m in range(n, -1, -1)]
    common = math.lcm(*(f.denominator for f in values))
    row, weights = [int(f * common) for f in values], []  # integer subtraction is faster
    for _ in range(n + 1):
        weights.append(Fraction(row[0], common))
        row = [later - earlier for earlier, later in pairwise(row)]
    return tuple(weights)


def _chance(totals, matched, weights: Sequence[Fraction]) -> Fraction:
    """Compute P(a) up to a factor that is the same for all a."""
    series = [1]
    for n, a in zip(totals, matched, strict=True):
        own = [math.comb(a, t) * math.factorial(n - t) for t in range(a + 1)]
        series = _product(series, own)
    return sum((h * c for h, c in zip(weights, series, strict=False)), Fraction(0))


def _product(first: list[int], second: list[int]) -> list[int]:
    result = [0] * (len(first) + len(second) - 1)
    for i, x in enumerate(first):
        for j, y in enumerate(second):
            result[i + j] += x * y
    return result


def log_fraction(ratio: Fraction) -> float:
    """Compute the logarithm of a positive rational number that may exceed the range of floats."""
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def universe_lower_bound(totals, rate: RateLike) -> Loss:
    """Compute a lower bound of the loss for any county totals, from one pair of datasets.

    The records of the two smallest counties all stay matched, and all others are mismatched. The
    other dataset exchanges one record of each. Both probabilities are sums of positive terms over
    the numbers of records fixed in the two counties. The bound is not sharp if there are only two
    counties. Raises InputError if that pair does not exist, because one of the other counties has
    more than half of their records, or if the two counties are too large.
    """
    totals, odds = sorted(check_totals(totals)), log_odds(rate)
    small, rest = totals[:2], totals[2:]
    if not rest or 2 * max(rest) > sum(rest):
        raise InputError(
            "swapping: totals: one of the counties other than the two smallest must not have more "
            "than half of their records"
        )
    if math.prod(n + 1 for n in small) > MAX_TERMS:
        raise InputError(
            "swapping: totals: the two smallest counties have too many records for this bound"
        )
    n = sum(totals)
    moved = n - np.arange(sum(small) + 1)
    by_fixed = moved * odds - log_subfactorial(moved)
    log_f = np.lib.stride_tricks.sliding_window_view(by_fixed, small[1] + 1)
    kept = [_log_fixed(k) for k in small]
    exchanged = [_log_fixed_but_one(k) for k in small]
    top, bottom = (_log_sum(np.add.outer(*ways), log_f) for ways in (kept, exchanged))
    return Loss((top - bottom) / 2, "lower bound")


def _log_sum(logs: np.ndarray, more: np.ndarray) -> float:
    """Compute the logarithm of the sum of exp(logs + more), in place of up to 10^8 `logs`."""
    logs += more
    peak = logs.max()
    logs -= peak
    return float(peak + np.log(np.exp(logs, out=logs).sum()))


def _log_fixed(n: int) -> np.ndarray:
    """Count orders of n matched records with t fixed: C(n, t) d_{n-t}."""
    t = np.arange(n + 1)
    return _log_choose(n, t) + log_subfactorial(n - t)


def _log_fixed_but_one(n: int) -> np.ndarray:
    """Count the ways to fill n - 1 matched places from n records with t fixed.

    The number is C(n - 1, t) (d_{n-t} + d_{n-t-1}), and 0 for t = n.
    """
    t = np.arange(n)
    either = np.logaddexp(log_subfactorial(n - t), log_subfactorial(n - t - 1))
    return np.append(_log_choose(n - 1, t) + either, -math.inf)


def _log_choose(n: int, t: np.ndarray) -> np.ndarray:
    return gammaln(n + 1) - gammaln(t + 1) - gammaln(n - t + 1)
