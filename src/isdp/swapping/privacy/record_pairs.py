"""What a swap does to one record and to two: exact chances for strata of any size.

With M the number of records moved, binomial but never 1: q1 = E M / n, both of two records move
with q2 = E M (M - 1) / (n (n - 1)), and given that they do, they are exchanged with the chance
d_{M-2} / d_M and one takes the other's value with 1 / (M - 1). The sums over M are closed up to a
few terms, as M (M - 1) d_{M-2} / d_M = 1 + (-1)^M (M - 1) / d_M.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import betainc

from isdp.errors import InputError
from isdp.swapping.mechanism.derangements import LAST_IN_TABLE, subfactorial
from isdp.swapping.mechanism.permutation import check_rate
from isdp.swapping.privacy.bound import check_size


def moved_probability(size: int, rate: float) -> float:
    """Chance q1 that a record is moved by the swap: p (1 - (1-p)^(n-1)) / (1 - n p (1-p)^(n-1)).

    Moved is not the same as changed: the value it takes may equal its own.

    Parameters
    ----------
    size : int
        Records n of the stratum.
    rate : float
        Swap rate p.
    """
    n, p = check_size(size), check_rate(rate)
    if n == 1:
        return 0.0
    others_stay = (n - 1) * math.log1p(-p)
    return -p * math.expm1(others_stay) / _not_lone(n, p)


def moved_covariance(size: int, rate: float) -> float:
    """How much likelier two records are both moved than if they were moved apart: q2 - q1^2.

    With s = (1-p)^(n-1) it is p^2 s (2 - s - n p) / (1 - n p s)^2, in which nothing near 1 or near
    q1^2 is subtracted; in large strata it is far smaller than the rounding of q2.

    Parameters
    ----------
    size : int
        Records n of the stratum, at least 2.
    """
    n, p = check_size(size), check_rate(rate)
    stay = math.exp((n - 1) * math.log1p(-p))
    return p * p * stay * (2 - stay - n * p) / _not_lone(n, p) ** 2


def _not_lone(n: int, p: float) -> float:
    """Chance that a selection is not of one record."""
    if n == 2:
        return p * p + (1 - p) ** 2
    return 1 - n * p * math.exp((n - 1) * math.log1p(-p))


class PairDistribution(NamedTuple):
    """What happens to two given records of a stratum; the chances sum to 1.

    Attributes
    ----------
    one_fixed : float
        The first is fixed and the second moves; as likely the other way round.
    exchanged : float
        Each takes the other's value.
    one_arrow : float
        The first takes the second's value, and the second a third record's; as likely the other
        way round.
    apart : float
        Both take values of other records.
    """

    both_fixed: float
    one_fixed: float
    exchanged: float
    one_arrow: float
    apart: float


def pair_distribution(size: int, rate: float) -> PairDistribution:
    """Exact chances of what happens to two records of a stratum.

    Parameters
    ----------
    size : int
        Records n of the stratum, at least 2.
    """
    return PairDistribution(
        *(
            max(float(chance), 0.0)
            for chance in exact_pair_distribution(check_size(size), check_rate(rate))
        )
    )


@lru_cache(maxsize=1024)
def exact_pair_distribution(n: int, p: float) -> PairDistribution:
    """As `pair_distribution`, of a checked size and rate, in fractions that sum to 1.

    The chances that they are made of are right to the last digits of a float, and differences of
    them are not rounded, so that small ones may be taken.
    """
    single = Fraction(moved_probability(n, p))
    both = single**2 + Fraction(moved_covariance(n, p))
    exchanged = Fraction(_expected_exchanges(n, p)) / (n * (n - 1))
    one_takes = single / (n - 1)  # E M / (n (n - 1)): M (M - 1) pairs, 1 / (M - 1) of them
    return PairDistribution(
        both_fixed=1 - 2 * single + both,
        one_fixed=single - both,
        exchanged=exchanged,
        one_arrow=one_takes - exchanged,
        apart=both - 2 * one_takes + exchanged,
    )


def exchange_log_likelihood_ratio(size: int, first: int, second: int, rate: float) -> float:
    """Logarithm of how much likelier two records show kinds p and q if they are those than if not.

    One record is of kind p and the other of kind q, or the other way round, and after the swap
    they show p and q. A kind is what their values are told by, such as a county.

    Parameters
    ----------
    size : int
        Records n of the stratum, at least 2.
    first, second : int
        Records n_p and n_q of the two kinds, each at least 1.

    Returns
    -------
    float
        Near ln[(1 + n / (n_p o)) (1 + n / (n_q o))], twice what one record tells, where many
        records of both kinds move; less where p n_p or p n_q is small, as the two may have taken
        each other's values.
    """
    n, law = check_size(size), pair_distribution(size, rate)
    if min(first, second) < 1 or first + second > n:
        raise InputError(f"swapping: {first} and {second} records of two kinds among {n}")
    one_other = (first + second - 2) / max(n - 2, 1)  # of either kind, among the other records
    two_others = (first - 1) * (second - 1) / max((n - 2) * (n - 3), 1)
    kept = law.both_fixed + law.one_fixed * one_other + law.apart * two_others
    turned = law.exchanged + law.one_arrow * one_other + law.apart * two_others
    return math.log(kept / turned)


def _expected_exchanges(n: int, p: float) -> float:
    """E of M (M - 1) d_{M-2} / d_M = 1 + (-1)^M (M - 1) / d_M over M >= 2."""
    m = np.arange(2, min(n, LAST_IN_TABLE) + 1)
    two = n * (n - 1) / 2 * p**2 * math.exp((n - 2) * math.log1p(-p))
    # the chance of each number from that of the one before, and of two or more by the beta law
    chances = np.cumprod([two, *((n - m[:-1]) / m[1:] * (p / (1 - p)))])
    return float(betainc(2, n - 1, p) + (_small()[: len(m)] * chances).sum()) / _not_lone(n, p)


@lru_cache(maxsize=1)
def _small() -> np.ndarray:
    """(-1)^m (m - 1) / d_m for m from 2 on."""
    sizes = range(2, LAST_IN_TABLE + 1)
    return np.array([float(Fraction((-1) ** m * (m - 1), subfactorial(m))) for m in sizes])
