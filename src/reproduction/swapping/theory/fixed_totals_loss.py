"""The exact privacy loss within one universe, as county totals fix it.

All records of the stratum differ in what is held, and n_1, ..., n_K of them live in the K counties
(values of the swapping variable). The chance that a dataset x becomes the output w depends on
a_k, the number of records that have x_i = w_i = k, alone:

    P(a) prod_k n_k! = sum_T h_T [z^T] prod_k sum_t C(a_k, t) (n_k - t)! z^t ,
    h_T = sum_j (-1)^(T - j) C(T, j) f(n - j) ,      f(m) = o^m / d_m ,

by inclusion and exclusion over the records that stay fixed. The terms h_T alternate in sign, so
that only exact rationals will do.
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
from isdp.swapping.mechanism.derangements import log_subfactorial, subfactorial
from isdp.swapping.mechanism.exact_permutation import RateLike, exact_rate
from isdp.swapping.privacy.bound import log_odds

MOST_CLASSES = 3000
MOST_TERMS = 100_000_000


@dataclass(frozen=True)
class Loss:
    """A privacy loss for each unit of d_HAM.

    Attributes
    ----------
    value : float
        In nats.
    kind : str
        "exact", or "lower bound" where the true loss may be larger.
    """

    value: float
    kind: str


def universe_loss(totals, rate: RateLike) -> Loss:
    """Exact loss in the universe of given county totals, all records different.

    Parameters
    ----------
    totals : sequence of int
        Records n_k of the stratum in each county; at most 3000 classes, prod (n_k + 1).

    Returns
    -------
    Loss
        Exact: the maximum over all pairs of datasets and all outputs.

    Raises
    ------
    InputError
        If there are too many classes, for which `universe_lower_bound` may do.
    """
    totals = check_totals(totals)
    number = math.prod(n + 1 for n in totals)
    if number > MOST_CLASSES:
        raise InputError(
            f"swapping: {number:,} classes of outputs are too many to try all pairs; take "
            f"universe_lower_bound"
        )
    weights = fixing_weights(sum(totals), exact_rate(rate))
    classes = [a for a in product(*(range(n + 1) for n in totals)) if feasible(totals, a)]
    logs = np.array([log_fraction(_chance(totals, a, weights)) for a in classes])
    matched = np.array(classes)
    worst = 0.0
    for a, log_chance in zip(matched, logs, strict=True):
        step = abs(matched - a)
        apart = np.maximum(step.sum(axis=1), 2 * step.max(axis=1))
        worst = max(worst, float((abs(logs - log_chance) / np.maximum(apart, 1)).max()))
    return Loss(worst, "exact")


def check_totals(totals) -> list[int]:
    """Return county totals as positive whole numbers; counties without a record go.

    Raises
    ------
    InputError
        If one is no whole number from 0 up, or none is left.
    """
    totals = np.asarray(totals)
    if totals.ndim != 1 or totals.dtype.kind not in "iu" or (totals < 0).any() or not totals.sum():
        raise InputError(f"swapping: wanted county totals from 0 up, got {totals!r}")
    return [int(n) for n in totals if n]


def feasible(totals, matched) -> bool:
    """Whether records can be matched in these numbers and all others not.

    The others of a county, r_k = n_k - a_k, must find places in the other counties.
    """
    rest = [n - a for n, a in zip(totals, matched, strict=True)]
    return min(rest) >= 0 and 2 * max(rest) <= sum(rest)


@lru_cache(maxsize=64)
def fixing_weights(n: int, rate: Fraction) -> tuple[Fraction, ...]:
    """Weights h_T for T = 0, ..., n: the T-th differences of f(n - j) in j at 0."""
    odds = rate / (1 - rate)
    values = [odds**m / subfactorial(m) if m != 1 else Fraction(0) for m in range(n, -1, -1)]
    common = math.lcm(*(f.denominator for f in values))
    row, weights = [int(f * common) for f in values], []  # whole numbers are subtracted faster
    for _ in range(n + 1):
        weights.append(Fraction(row[0], common))
        row = [later - earlier for earlier, later in pairwise(row)]
    return tuple(weights)


def _chance(totals, matched, weights: Sequence[Fraction]) -> Fraction:
    """P(a) up to a factor that is the same for all a."""
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
    """Logarithm of a positive rational number whose parts may be beyond floating point."""
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def universe_lower_bound(totals, rate: RateLike) -> Loss:
    """Lower bound of the loss in a universe of any size, from one pair of datasets.

    The records of the two smallest counties all stay matched and all others are mismatched; the
    other dataset exchanges one record of each. Both chances are sums of positive terms over the
    numbers of records fixed in the two counties.

    Parameters
    ----------
    totals : sequence of int
        Records of the stratum in each county.

    Returns
    -------
    Loss
        A lower bound. Not sharp where two counties are all there are.

    Raises
    ------
    InputError
        If that pair does not exist, because one of the other counties holds more than half of
        their records, or if the two counties are too large.
    """
    totals, odds = sorted(check_totals(totals)), log_odds(rate)
    small, rest = totals[:2], totals[2:]
    if not rest or 2 * max(rest) > sum(rest):
        raise InputError(
            "swapping: no such pair of datasets in this universe: of the counties but the two "
            "smallest, one holds more than half of the records"
        )
    if math.prod(n + 1 for n in small) > MOST_TERMS:
        raise InputError(f"swapping: two counties of {small} records are too large")
    n = sum(totals)
    moved = n - np.arange(sum(small) + 1)
    by_fixed = moved * odds - log_subfactorial(moved)
    log_f = np.lib.stride_tricks.sliding_window_view(by_fixed, small[1] + 1)
    kept = [_log_fixed(k) for k in small]
    exchanged = [_log_fixed_but_one(k) for k in small]
    top, bottom = (_log_sum(np.add.outer(*ways), log_f) for ways in (kept, exchanged))
    return Loss((top - bottom) / 2, "lower bound")


def _log_sum(logs: np.ndarray, more: np.ndarray) -> float:
    """Logarithm of the sum of exp(logs + more), worked out in `logs`, which may be 10^8 numbers."""
    logs += more
    most = logs.max()
    logs -= most
    return float(most + np.log(np.exp(logs, out=logs).sum()))


def _log_fixed(n: int) -> np.ndarray:
    """Orders of n matched records with t fixed: C(n, t) d_{n-t}."""
    t = np.arange(n + 1)
    return _log_choose(n, t) + log_subfactorial(n - t)


def _log_fixed_but_one(n: int) -> np.ndarray:
    """Ways to fill n - 1 matched places from n records with t fixed.

    That is C(n - 1, t) (d_{n-t} + d_{n-t-1}), and none for t = n.
    """
    t = np.arange(n)
    either = np.logaddexp(log_subfactorial(n - t), log_subfactorial(n - t - 1))
    return np.append(_log_choose(n - 1, t) + either, -math.inf)


def _log_choose(n: int, t: np.ndarray) -> np.ndarray:
    return gammaln(n + 1) - gammaln(t + 1) - gammaln(n - t + 1)
