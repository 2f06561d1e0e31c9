"""Exact mean and covariance of the swapped table, its error, and how to undo its bias.

A stratum of n records has n_kl of them in county k (value of the swapping variable) and category l
(what is held). Strata are independent, so that their moments add.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import erf

from isdp.errors import InputError
from isdp.swapping.mechanism.permutation import check_rate, check_table
from isdp.swapping.privacy.record_pairs import exact_pair_distribution, moved_probability


def expected_table(counts, rate: float) -> np.ndarray:
    """Mean of the swapped table: (1 - q1) n_kl + q1 (n_k n_l - n_kl) / (n - 1) in each stratum.

    Parameters
    ----------
    counts : int array, shape (J, K, L)
        Records by key, swapping variable and the rest held.

    Returns
    -------
    float64 array, shape (J, K, L)
    """
    counts = check_table(counts)
    counts, (moved, n) = counts.astype(float), _shares(counts, rate)
    independent = counts.sum(axis=2, keepdims=True) * counts.sum(axis=1, keepdims=True)
    return (1 - moved) * counts + moved * (independent - counts) / np.maximum(n - 1, 1)


def _shares(counts: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Share of the records of each stratum that is moved, and their number; shape (J, 1, 1)."""
    n = counts.sum(axis=(1, 2), keepdims=True)
    moved = [moved_probability(max(one, 1), rate) for one in n.ravel().tolist()]
    return np.reshape(moved, n.shape), n


def debias_table(swapped, rate: float) -> np.ndarray:
    """Estimate the table before the swap without bias, from the table after it and the rate.

    This is what a reader can do who knows the swap rate, and costs no privacy: it uses the
    released table alone.

    Parameters
    ----------
    swapped : int array, shape (J, K, L)

    Returns
    -------
    float64 array, shape (J, K, L)
        Its margins (J, K) and (J, L) are those of the swapped table; counts may be negative.

    Raises
    ------
    InputError
        If the counts or the rate are not as they should be, or the mean of the swap does not
        depend on the table, so that nothing can be undone.
    """
    swapped = check_table(swapped)
    swapped, (moved, n) = swapped.astype(float), _shares(swapped, rate)
    others = np.maximum(n - 1, 1)
    left = 1 - moved * n / others
    if (lost := abs(left) < 1e-12).any():
        raise InputError(
            f"swapping: in a stratum of {n[lost][0]} records this rate leaves nothing to undo"
        )
    independent = swapped.sum(axis=2, keepdims=True) * swapped.sum(axis=1, keepdims=True)
    return (swapped - moved * independent / others) / left


def covariance(counts, rate: float, category: int = 0, other: int | None = None) -> np.ndarray:
    """Covariance of the swapped counts of two categories in all pairs of counties.

    Parameters
    ----------
    counts : int array, shape (J, K, L)
    category, other : int
        Numbers l and l' of the categories; the same one by default.

    Returns
    -------
    float64 array, shape (K, K)
        Cov(n'_kl, n'_k'l'), the counts summed over strata. Its rows sum to zero.
    """
    counts, rate = check_table(counts), check_rate(rate)
    other = category if other is None else other
    counts = counts[counts.sum(axis=(1, 2)) >= 2].astype(float)
    shares = [_shares_of_pairs(int(n), rate) for n in counts.sum(axis=(1, 2))]
    c = _Shares(*np.reshape(shares, (-1, len(_Shares._fields))).T[:, :, None, None])
    same = float(category == other)
    one, two, counties = counts[:, :, category], counts[:, :, other], counts.sum(axis=2)
    of_one, of_two = (x.sum(axis=1)[:, None, None] for x in (one, two))
    result = c.own * _outer(one, two) + c.crossed * _outer(two, one)
    result += (of_two * c.beside - same * c.one_free) * _outer(one, counties)
    result += (of_one * c.beside - same * c.one_free) * _outer(counties, two)
    result += (of_one - same) * c.taken_free * _outer(two, counties)
    result += (of_two - same) * c.taken_free * _outer(counties, one)
    result += of_one * (of_two * c.both - same * c.free) * _outer(counties, counties)
    # of one record in two places nothing is counted; a category with itself, in one place alone
    first, second = one * (of_two[:, 0] - same), two * (of_one[:, 0] - same)
    result -= (c.one_free + c.taken_free) * _diagonal(first + second)
    result -= c.free * _diagonal(of_one[:, 0] * (of_two[:, 0] - same) * counties)
    result += same * (c.alone * _diagonal(one) + c.seen * _diagonal(of_one[:, 0] * counties))
    return result.sum(axis=0)


def _outer(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Products of all pairs of counties in each stratum; (J, K) twice to (J, K, K)."""
    return one[:, :, None] * other[:, None, :]


def _diagonal(values: np.ndarray) -> np.ndarray:
    return values[:, :, None] * np.eye(values.shape[1])


class _Shares(NamedTuple):
    """What a pair of records of a stratum adds to the covariance, by whose counties they take.

    Those of which a product of means is subtracted are small differences; all are computed in whole
    and exactly, from chances that are right to their last digits.
    """

    own: float  # each its own, less the product of the means' parts
    crossed: float  # each the other's
    one_free: float  # one its own, the other any
    taken_free: float  # one the other's, the other any
    free: float  # any
    beside: float  # `one_free`, less the product of the means' parts
    both: float  # `free`, less the product of the means' parts
    alone: float  # a record with itself, in its own county
    seen: float  # a record with itself, in any


@lru_cache(maxsize=1024)
def _shares_of_pairs(n: int, rate: float) -> _Shares:
    """Solve `PairDistribution` for pairs of which a third record's county is any, drawn from all n.

    Whatever the counties of the two, they are counted too, and taken off the other shares.
    """
    law, moved = exact_pair_distribution(n, rate), Fraction(moved_probability(n, rate))
    # without a third record, or a fourth, there is no pair to count
    one_fixed, one_arrow = (chance / max(n - 2, 1) for chance in (law.one_fixed, law.one_arrow))
    apart = law.apart / max((n - 2) * (n - 3), 1)
    takes = moved / (n - 1)  # a given other record's value
    stays = 1 - moved - takes  # the mean is this share of the own count, and `takes` of n_k n_l
    own = law.both_fixed - 2 * one_fixed + apart
    crossed = law.exchanged - 2 * one_arrow + apart
    exact = _Shares(
        own=own - stays**2,
        crossed=crossed,
        one_free=one_fixed - apart,
        taken_free=one_arrow - apart,
        free=apart,
        beside=one_fixed - apart - stays * takes,
        both=apart - takes**2,
        alone=stays - own - crossed,
        seen=takes,
    )
    return _Shares(*map(float, exact))


def expected_absolute_error(bias, sd) -> np.ndarray:
    """E |X| for X normal with the given mean and standard deviation."""
    bias, sd = np.broadcast_arrays(np.asarray(bias, float), np.asarray(sd, float))
    scaled = np.divide(bias, sd, out=np.zeros(bias.shape), where=sd > 0)
    normal = sd * np.sqrt(2 / np.pi) * np.exp(-(scaled**2) / 2) + bias * erf(scaled / np.sqrt(2))
    return np.where(sd > 0, normal, abs(bias))


def mape(before, after) -> float:
    """Mean over all cells of |after - before| / before, in per cent.

    Raises
    ------
    InputError
        If a cell is empty before the swap.
    """
    before, after = np.asarray(before, float), np.asarray(after, float)
    if (before <= 0).any():
        raise InputError("swapping: the mean absolute percentage error needs counts above 0")
    return float(100 * np.mean(abs(after - before) / before))


def expected_mape(counts, rate: float, *, unmixed: bool = False) -> float:
    """Compute the expected `mape` of the table of county x category, by normal approximation.

    Parameters
    ----------
    counts : int array, shape (J, K, L)
    unmixed : bool
        Of the estimate of `debias_table`, which needs a table of one stratum, in place of the
        swapped table.
    """
    counts = check_table(counts)
    before = counts.sum(axis=0)
    bias = expected_table(counts, rate).sum(axis=0) - before
    categories = range(counts.shape[2])
    sd = np.stack([np.sqrt(np.diag(covariance(counts, rate, one))) for one in categories], axis=1)
    if unmixed:
        if len(counts) != 1:
            raise InputError("swapping: the error after unmixing is for a table of one stratum")
        moved, n = _shares(counts, rate)
        bias, sd = np.zeros(sd.shape), sd / abs(1 - moved * n / (n - 1))[0]
    return mape(before, before + expected_absolute_error(bias, sd))
