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
    return np.stack([_mean(one.astype(float), *_shares(one, rate)) for one in counts])


def _shares(stratum: np.ndarray, rate: float) -> tuple[float, int]:
    """Share of the records moved, and their number."""
    n = int(stratum.sum())
    return moved_share(max(n, 1), rate), n


def _mean(stratum: np.ndarray, moved: float, n: int) -> np.ndarray:
    if n < 2:
        return stratum
    independent = np.outer(stratum.sum(axis=1), stratum.sum(axis=0))
    return (1 - moved) * stratum + moved * (independent - stratum) / (n - 1)


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
    return np.stack([_unmixed(one.astype(float), *_shares(one, rate)) for one in swapped])


def _unmixed(stratum: np.ndarray, moved: float, n: int) -> np.ndarray:
    if n < 2:
        return stratum
    left = 1 - moved * n / (n - 1)
    if abs(left) < 1e-12:
        raise InputError(f"swapping: in a stratum of {n} records this rate leaves nothing to undo")
    independent = np.outer(stratum.sum(axis=1), stratum.sum(axis=0))
    return (stratum - moved * independent / (n - 1)) / left


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
    total = np.zeros((counts.shape[1], counts.shape[1]))
    for stratum in counts:
        if stratum.sum() >= 2:
            total += _covariance(stratum.astype(float), rate, category, other)
    return total


def _covariance(stratum: np.ndarray, rate: float, category: int, other: int) -> np.ndarray:
    moved, n = _shares(stratum, rate)
    mean = _mean(stratum, moved, n)
    same = float(category == other)
    products = same * np.diag(mean[:, category])
    products += _products_of_pairs(stratum, pair_law(n, rate), n, category, other)
    return products - np.outer(mean[:, category], mean[:, other])


def _products_of_pairs(
    stratum: np.ndarray, law: PairLaw, n: int, category: int, other: int
) -> np.ndarray:
    """Sum over pairs of different records, of l and of l', of P(one is in k and the other in k').

    `here` and `there` stand for the pair's own counties in the two places, `crossed` for the
    counties exchanged; a third record's county is drawn from those of the other n - 2.
    """
    same = float(category == other)
    one, two, counties = stratum[:, category], stratum[:, other], stratum.sum(axis=1)
    alike = same * np.diag(one)
    here_there = np.outer(one, two) - alike
    crossed = np.outer(two, one) - alike
    first = one * (two.sum() - same)  # pairs whose first record is in k
    second = two * (one.sum() - same)
    pairs = one.sum() * (two.sum() - same)
    result = law.both_fixed * here_there + law.exchanged * crossed
    if n > 2:
        # a county of the pair's first (second) record in one place, a third record's in the other
        own_third = np.outer(first, counties) - np.diag(first) - here_there
        third_own = np.outer(counties, second) - np.diag(second) - here_there
        taken_third = np.outer(second, counties) - np.diag(second) - crossed
        third_taken = np.outer(counties, first) - np.diag(first) - crossed
        result += law.one_fixed * (own_third + third_own) / (n - 2)
        result += law.one_arrow * (taken_third + third_taken) / (n - 2)
    if n > 3:
        both = first + second
        thirds = pairs * np.outer(counties, counties) - np.outer(both, counties)
        thirds += -np.outer(counties, both) + here_there + crossed + np.diag(both)
        thirds -= np.diag(pairs * counties - both)
        result += law.apart * thirds / ((n - 2) * (n - 3))
    return result


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
        moved, n = _shares(counts[0], rate)
        bias, sd = np.zeros(sd.shape), sd / abs(1 - moved * n / (n - 1))
    return mape(before, before + expected_absolute_error(bias, sd))
