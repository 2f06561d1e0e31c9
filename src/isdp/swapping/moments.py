"""Exact mean and covariance of the swapped table, its error, and how to undo its bias.

A stratum of n records has n_kl of them in county k (value of the swapping variable) and category l
(what is held). Strata are independent, so that their moments add.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erf

from isdp.errors import InputError
from isdp.swapping.pairs import PairLaw, moved_share, pair_law
from isdp.swapping.permutation import check_table


def expected_table(counts, rate: float) -> np.ndarray:
    """Mean of the swapped table: (1 - q1) n_kl + q1 (n_k n_l - n_kl) / (n - 1) in each stratum.

    Parameters
    ----------
    counts : int array, shape (J, K, L)
        Records by key, swapping variable and the rest held.
    rate : float

    Returns
    -------
    float64 array, shape (J, K, L)

    Raises
    ------
    InputError
        If the counts or the rate are not as they should be.
    """
    counts = check_table(counts)
    counts, (moved, n) = counts.astype(float), _shares(counts, rate)
    independent = counts.sum(axis=2, keepdims=True) * counts.sum(axis=1, keepdims=True)
    return (1 - moved) * counts + moved * (independent - counts) / np.maximum(n - 1, 1)


def _shares(counts: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Share of the records of each stratum that is moved, and their number; shape (J, 1, 1)."""
    n = counts.sum(axis=(1, 2), keepdims=True)
    moved = [moved_share(max(one, 1), rate) for one in n.ravel().tolist()]
    return np.reshape(moved, n.shape), n


def unmix(swapped, rate: float) -> np.ndarray:
    """Estimate the table before the swap without bias, from the table after it and the rate.

    This is what a reader can do who knows the swap rate, and costs no privacy: it uses the
    released table alone.

    Parameters
    ----------
    swapped : int array, shape (J, K, L)
    rate : float

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
    rate : float
    category, other : int
        Numbers l and l' of the categories; the same one by default.

    Returns
    -------
    float64 array, shape (K, K)
        Cov(n'_kl, n'_k'l'), the counts summed over strata. Its rows sum to zero.

    Raises
    ------
    InputError
        If the counts or the rate are not as they should be.
    """
    counts = check_table(counts)
    other = category if other is None else other
    some = counts.sum(axis=(1, 2)) >= 2
    counts, mean = counts[some], expected_table(counts, rate)[some]
    products = float(category == other) * _diagonal(mean[:, :, category])
    products += _products_of_pairs(counts.astype(float), rate, category, other)
    return (products - _outer(mean[:, :, category], mean[:, :, other])).sum(axis=0)


def _outer(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Products of all pairs of counties in each stratum; (J, K) twice to (J, K, K)."""
    return one[:, :, None] * other[:, None, :]


def _diagonal(values: np.ndarray) -> np.ndarray:
    return values[:, :, None] * np.eye(values.shape[1])


def _products_of_pairs(counts: np.ndarray, rate: float, category: int, other: int) -> np.ndarray:
    """Sum over pairs of different records, of l and of l', of P(one is in k and the other in k').

    `here` and `there` stand for the pair's own counties in the two places, `crossed` for the
    counties exchanged; a third record's county is drawn from those of the other n - 2.
    """
    n = counts.sum(axis=(1, 2), keepdims=True)
    laws = [pair_law(int(size), rate) for size in n.ravel()]
    law = PairLaw(*np.reshape(laws, (-1, 5)).T[:, :, None, None])
    same = float(category == other)
    one, two, counties = counts[:, :, category], counts[:, :, other], counts.sum(axis=2)
    alike = same * _diagonal(one)
    here_there = _outer(one, two) - alike
    crossed = _outer(two, one) - alike
    of_one, of_two = one.sum(axis=1, keepdims=True), two.sum(axis=1, keepdims=True)
    first = one * (of_two - same)  # pairs whose first record is in k
    second = two * (of_one - same)
    result = law.both_fixed * here_there + law.exchanged * crossed
    # a county of the pair's first (second) record in one place, a third record's in the other
    own_third = _outer(first, counties) - _diagonal(first) - here_there
    third_own = _outer(counties, second) - _diagonal(second) - here_there
    taken_third = _outer(second, counties) - _diagonal(second) - crossed
    third_taken = _outer(counties, first) - _diagonal(first) - crossed
    thirds = np.maximum(n - 2, 1)  # without a third record there is no pair to count
    result += law.one_fixed * (own_third + third_own) / thirds
    result += law.one_arrow * (taken_third + third_taken) / thirds
    both, pairs = first + second, of_one * (of_two - same)
    apart = pairs[:, :, None] * _outer(counties, counties) - _outer(both, counties)
    apart += -_outer(counties, both) + here_there + crossed + _diagonal(both)
    apart -= _diagonal(pairs * counties - both)
    return result + law.apart * apart / np.maximum((n - 2) * (n - 3), 1)


def expected_absolute_error(bias, sd) -> np.ndarray:
    """E |X| for X normal with the given mean and standard deviation.

    Parameters
    ----------
    bias, sd : float arrays
    """
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
    rate : float
    unmixed : bool
        Of the estimate of `unmix`, which needs a table of one stratum, in place of the swapped
        table.

    Raises
    ------
    InputError
        If the counts or the rate are not as they should be.
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
