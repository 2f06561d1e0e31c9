"""Exact probabilities of the moves of one and of two given records, for strata of any size.

The number of moved records M has a binomial distribution conditional on M != 1. The number of
derangements of M points is d_M. A record moves with probability q1 = E M / n. Two given records
both move with probability q2 = E M (M - 1) / (n (n - 1)). If both move, they exchange their values
with probability d_{M-2} / d_M. The first takes the value of the second with probability
1 / (M - 1). The identity M (M - 1) d_{M-2} / d_M = 1 + (-1)^M (M - 1) / d_M gives closed forms of
the sums over M, except for a few terms.
"""

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import betainc

from isdp.arrays import FloatArray
from isdp.swapping.mechanism.derangements import MAX_TABULATED, subfactorial
from isdp.swapping.mechanism.permutation import check_rate
from isdp.swapping.privacy.bound import check_size


def moved_probability(size: int, rate: float) -> float:
    """Compute q1 = p (1 - (1-p)^(n-1)) / (1 - n p (1-p)^(n-1)), the probability of a move.

    Here n is the size of the stratum, and p is the swap rate. The value of a moved record may stay
    the same, because another record can have the same value.
    """
    n, p = check_size(size), check_rate(rate)
    if n == 1:
        return 0.0
    others_stay = (n - 1) * math.log1p(-p)
    return -p * math.expm1(others_stay) / _not_lone(n, p)


def moved_covariance(size: int, rate: float) -> float:
    """Compute q2 - q1^2, the covariance of the indicators that two records move.

    Let n be the size of the stratum, at least 2, and let s = (1-p)^(n-1). The covariance is p^2 s
    (2 - s - n p) / (1 - n p s)^2. This formula avoids cancellation. In large strata the covariance
    is far below the rounding error of q2.
    """
    n, p = check_size(size), check_rate(rate)
    stay = math.exp((n - 1) * math.log1p(-p))
    return p * p * stay * (2 - stay - n * p) / _not_lone(n, p) ** 2


def _not_lone(n: int, p: float) -> float:
    """Compute the probability that a selection does not have exactly one record."""
    if n == 2:
        return p * p + (1 - p) ** 2
    return 1 - n * p * math.exp((n - 1) * math.log1p(-p))


class PairDistribution(NamedTuple):
    """Probabilities of the moves of two given records of a stratum.

    The probabilities sum to 1 if `one_fixed` and `one_arrow` count twice, because either record may
    be the first.
    """

    both_fixed: Fraction
    one_fixed: Fraction  # the first record stays, and the second moves
    exchanged: Fraction  # each record takes the value of the other
    one_arrow: Fraction  # the first takes the value of the second, and the second that of a third
    both_elsewhere: Fraction  # both records take values of other records


@lru_cache(maxsize=1024)
def exact_pair_distribution(n: int, p: float) -> PairDistribution:
    """Compute the probabilities of the moves of two records, for n >= 2 records and swap rate p.

    The results are differences of probabilities that are accurate to the last digit of a float. The
    differences are not rounded, so small ones stay accurate.
    """
    single = Fraction(moved_probability(n, p))
    both = single**2 + Fraction(moved_covariance(n, p))
    exchanged = Fraction(_expected_exchanges(n, p)) / (n * (n - 1))
    one_takes = single / (n - 1)  # the probability of taking the value of one given record
    return PairDistribution(
        both_fixed=1 - 2 * single + both,
        one_fixed=single - both,
        exchanged=exchanged,
        one_arrow=one_takes - exchanged,
        both_elsewhere=both - 2 * one_takes + exchanged,
    )


def _expected_exchanges(n: int, p: float) -> float:
    """Compute the expected number of ordered pairs of records that exchange their values.

    The number is E [M (M - 1) d_{M-2} / d_M; M >= 2] = E [1 + (-1)^M (M - 1) / d_M; M >= 2].
    """
    m = np.arange(2, min(n, MAX_TABULATED) + 1)
    two = n * (n - 1) / 2 * p**2 * math.exp((n - 2) * math.log1p(-p))
    # a recursion gives the binomial probabilities, and the regularised incomplete beta function
    # gives the upper tail
    probabilities = np.cumprod([two, *((n - m[:-1]) / m[1:] * (p / (1 - p)))])
    return float(betainc(2, n - 1, p) + (_small()[: len(m)] * probabilities).sum()) / _not_lone(
        n, p
    )


@lru_cache(maxsize=1)
def _small() -> FloatArray:
    """Compute (-1)^m (m - 1) / d_m for m = 2, ..., 30."""
    sizes = range(2, MAX_TABULATED + 1)
    return np.array([float(Fraction((-1) ** m * (m - 1), subfactorial(m))) for m in sizes])
