"""Mean absolute percentage error (MAPE) of swapped tables, realised and expected."""

import numpy as np
from scipy.special import erf

from isdp.swapping.accuracy import covariance, expected_table
from isdp.swapping.privacy.record_pairs import moved_probability


def expected_absolute_error(bias, sd) -> np.ndarray:
    """Compute E |X| for X normal with the given mean and standard deviation."""
    bias, sd = np.broadcast_arrays(np.asarray(bias, float), np.asarray(sd, float))
    scaled = np.divide(bias, sd, out=np.zeros(bias.shape), where=sd > 0)
    density_part = sd * np.sqrt(2 / np.pi) * np.exp(-(scaled**2) / 2)
    return np.where(sd > 0, density_part + bias * erf(scaled / np.sqrt(2)), abs(bias))


def mape(before, after) -> float:
    """Compute the mean over all cells of |after - before| / before, in percent."""
    before, after = np.asarray(before, float), np.asarray(after, float)
    return float(100 * np.mean(abs(after - before) / before))


def expected_mape(counts, rate: float, *, debiased: bool = False) -> float:
    """Compute the expected `mape` of the table of county by category, by normal approximation.

    `counts` have the shape (J, K, L). If `debiased` is true, the error is that of `debias_table`,
    and `counts` must have one stratum.
    """
    before = counts.sum(axis=0)
    bias = expected_table(counts, rate).sum(axis=0) - before
    categories = range(counts.shape[2])
    sd = np.stack([np.sqrt(np.diag(covariance(counts, rate, one))) for one in categories], axis=1)
    if debiased:
        n = int(counts.sum())
        bias, sd = np.zeros(sd.shape), sd / abs(1 - moved_probability(n, rate) * n / (n - 1))
    return mape(before, before + expected_absolute_error(bias, sd))
