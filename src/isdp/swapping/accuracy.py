"""Exact mean and covariance of the swapped table, and a bias correction.

A stratum of n records has n_kl records in county k (the value of the swapping variable) and
category l (the other held variables). Strata are swapped independently, so their means and
covariances add.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isdp.arrays import FloatArray, IntArray
from isdp.errors import InputError
from isdp.swapping.mechanism.permutation import check_rate, check_table
from isdp.swapping.privacy.record_pairs import exact_pair_distribution, moved_probability


def expected_table(counts: ArrayLike, rate: float) -> FloatArray:
    """Compute the mean of the swapped table, a float64 array of shape (J, K, L).

    The mean of a count is (1 - q1) n_kl + q1 (n_k n_l - n_kl) / (n - 1). Here n_k and n_l are the
    county and category totals of the stratum, and q1 is the probability that a record moves.

    Parameters
    ----------
    counts : int array, shape (J, K, L)
        Numbers of records by swap key, swapping variable and other held variables.
    """
    table = check_table(counts)
    before, (moved, n) = table.astype(float), _moved_probabilities(table, rate)
    independent = before.sum(axis=2, keepdims=True) * before.sum(axis=1, keepdims=True)
    moved_mean = moved * (independent - before) / np.maximum(n - 1, 1)
    return np.asarray((1 - moved) * before + moved_mean)


def _moved_probabilities(counts: IntArray, rate: float) -> tuple[FloatArray, IntArray]:
    """Return q1 and the number of records of each stratum, as two arrays of shape (J, 1, 1)."""
    n: IntArray = counts.sum(axis=(1, 2), keepdims=True)
    moved = [moved_probability(max(one, 1), rate) for one in n.ravel().tolist()]
    return np.reshape(moved, n.shape), n


def debias_table(swapped: ArrayLike, rate: float) -> FloatArray:
    """Compute an unbiased estimate of the table before the swap, of shape (J, K, L).

    The estimate uses only the released table of shape (J, K, L) and the swap rate, and therefore
    has no additional privacy loss. The margins (J, K) and (J, L) equal those of the swapped table.
    Estimates may be negative.

    Raise `InputError` if the mean of the swapped table does not depend on the table before the
    swap.
    """
    table = check_table(swapped)
    after, (moved, n) = table.astype(float), _moved_probabilities(table, rate)
    others = np.maximum(n - 1, 1)
    slope = 1 - moved * n / others
    if (abs(slope) < 1e-12).any():
        raise InputError(
            "swapping: the bias cannot be removed at this swap rate, because the mean of a swapped "
            "stratum does not depend on its counts. Use another rate."
        )
    independent = after.sum(axis=2, keepdims=True) * after.sum(axis=1, keepdims=True)
    return np.asarray((after - moved * independent / others) / slope)


def covariance(
    counts: ArrayLike, rate: float, category: int = 0, other: int | None = None
) -> FloatArray:
    """Compute the covariance of the swapped counts of two categories in all pairs of counties.

    Let l = `category` and m = `other` (by default l). A bracket is 1 if its condition is true and
    otherwise 0, and d = [l = m]. A stratum has county totals n_k, and category totals n_l and n_m.
    With the coefficients of `_PairCoefficients`, entry (k, k') of one stratum is

        own_own n_kl n_k'm + other_other n_km n_k'l
        + (n_m own_any_c - d own_any) n_kl n_k' + (n_l own_any_c - d own_any) n_k n_k'm
        + (n_l - d) other_any n_km n_k' + (n_m - d) other_any n_k n_k'l
        + n_l (n_m any_any_c - d any_any) n_k n_k'
        - [k = k'] (own_any + other_any) (n_kl (n_m - d) + n_km (n_l - d))
        - [k = k'] any_any n_l (n_m - d) n_k
        + d [k = k'] (own n_kl + any n_l n_k)

    The last line adds the covariance of each record with itself. Two records cannot take the value
    of the same record. The two lines before the last subtract these impossible pairs.

    The counts have shape (J, K, L), as for `expected_table`. The result is the covariance of the
    swapped counts n'_kl and n'_k'm, summed over the strata, of shape (K, K). Each row sums to zero.
    """
    table, rate = check_table(counts), check_rate(rate)
    other = category if other is None else other
    strata = table[table.sum(axis=(1, 2)) >= 2].astype(float)
    rows = [_pair_coefficients(int(n), rate) for n in strata.sum(axis=(1, 2))]
    columns = np.reshape(rows, (-1, len(_PairCoefficients._fields))).T
    c = _PairCoefficients(*columns[:, :, None, None])
    d = float(category == other)
    n_kl, n_km, n_k = strata[:, :, category], strata[:, :, other], strata.sum(axis=2)
    n_l, n_m = (x.sum(axis=1)[:, None, None] for x in (n_kl, n_km))
    result = c.own_own * _outer(n_kl, n_km) + c.other_other * _outer(n_km, n_kl)
    result += (n_m * c.own_any_c - d * c.own_any) * _outer(n_kl, n_k)
    result += (n_l * c.own_any_c - d * c.own_any) * _outer(n_k, n_km)
    result += (n_l - d) * c.other_any * _outer(n_km, n_k)
    result += (n_m - d) * c.other_any * _outer(n_k, n_kl)
    result += n_l * (n_m * c.any_any_c - d * c.any_any) * _outer(n_k, n_k)
    first, second = n_kl * (n_m[:, 0] - d), n_km * (n_l[:, 0] - d)
    result -= (c.own_any + c.other_any) * _diagonal(first + second)
    result -= c.any_any * _diagonal(n_l[:, 0] * (n_m[:, 0] - d) * n_k)
    result += d * (c.own * _diagonal(n_kl) + c.any * _diagonal(n_l[:, 0] * n_k))
    return np.asarray(result.sum(axis=0))


def _outer(left: FloatArray, right: FloatArray) -> FloatArray:
    """Compute the outer product of two arrays (J, K) in each stratum, of shape (J, K, K)."""
    return np.asarray(left[:, :, None] * right[:, None, :])


def _diagonal(values: FloatArray) -> FloatArray:
    return np.asarray(values[:, :, None] * np.eye(values.shape[1]))


class _PairCoefficients(NamedTuple):
    """Coefficients of `covariance` for one stratum, by the counties that two records take.

    A record takes its own county, the county of the other record, or the county of any of the n
    records. `own_own` and the coefficients that end in `_c` are centred: the product of the means
    is subtracted. `own` and `any` belong to the covariance of a record with itself.
    """

    own_own: float
    other_other: float
    own_any: float
    other_any: float
    any_any: float
    own_any_c: float
    any_any_c: float
    own: float
    any: float


@lru_cache(maxsize=1024)
def _pair_coefficients(n: int, rate: float) -> _PairCoefficients:
    """Compute the coefficients from the pair distribution, in rational arithmetic.

    Rational arithmetic keeps the digits of the centred coefficients, which are small differences
    of probabilities. A coefficient with `any` has a term for each of the n records. The terms of
    the two given records are subtracted from the other coefficients.
    """
    pair, moved = exact_pair_distribution(n, rate), Fraction(moved_probability(n, rate))
    # max() prevents 0 / 0 in strata of fewer than four records
    own_any, other_any = (p / max(n - 2, 1) for p in (pair.one_fixed, pair.one_arrow))
    any_any = pair.both_elsewhere / max((n - 2) * (n - 3), 1)
    takes = moved / (n - 1)  # the probability of taking the value of one given record
    stays = 1 - moved - takes  # the mean of a count is stays * n_kl + takes * n_k * n_l
    own_own = pair.both_fixed - 2 * own_any + any_any
    other_other = pair.exchanged - 2 * other_any + any_any
    return _PairCoefficients(
        own_own=float(own_own - stays**2),
        other_other=float(other_other),
        own_any=float(own_any - any_any),
        other_any=float(other_any - any_any),
        any_any=float(any_any),
        own_any_c=float(own_any - any_any - stays * takes),
        any_any_c=float(any_any - takes**2),
        own=float(stays - own_own - other_other),
        any=float(takes),
    )
