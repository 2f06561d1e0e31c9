"""Chi-square test and maximum-likelihood estimate of a swap rate, from two tables."""

from typing import NamedTuple

import numpy as np
import scipy
from scipy.special import chdtrc

from isdp.swapping.accuracy import covariance, expected_table

STEP = 1e-4  # difference of rates in the second difference of the log-likelihood


class Fit(NamedTuple):
    """Test of a table after a swap against its exact mean and covariance.

    `z` is the deviation of each count in standard deviations, with shape (K, L). `p` is the p-value
    of `chi_square` with `degrees` degrees of freedom.
    """

    z: np.ndarray
    chi_square: float
    degrees: int
    p: float


def fit(before: np.ndarray, after: np.ndarray, rate: float) -> Fit:
    """Compare a swapped table with its exact mean and covariance under a swap rate.

    `before` has shape (J, K, L), with one table for each stratum. `after` has shape (K, L) and is
    the sum over strata.
    """
    sd = [np.sqrt(np.diag(covariance(before, rate, one))) for one in range(before.shape[2])]
    z = (after - expected_table(before, rate).sum(axis=0)) / np.stack(sd, axis=1)
    statistic = chi_square(before, after, rate)
    degrees = (after.shape[0] - 1) * (after.shape[1] - 1)
    return Fit(z, statistic, degrees, float(chdtrc(degrees, statistic)))


def chi_square(before: np.ndarray, after: np.ndarray, rate: float) -> float:
    """Compute the chi-square statistic of `fit`."""
    residual, spread = _free(before, after, rate)
    return float(residual @ np.linalg.solve(spread, residual))


def _free(before: np.ndarray, after: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute the deviation and covariance of all counts except the last county and category."""
    categories = range(before.shape[2] - 1)
    off = (after - expected_table(before, rate).sum(axis=0))[:-1, :-1]
    blocks = [[covariance(before, rate, a, b)[:-1, :-1] for b in categories] for a in categories]
    return off.T.ravel(), np.block(blocks)


class LikelyRate(NamedTuple):
    """Maximum-likelihood estimate of a swap rate, with its standard error."""

    rate: float
    error: float


def likely_rate(before: np.ndarray, after: np.ndarray) -> LikelyRate:
    """Estimate the swap rate from the tables of `fit`, by maximum likelihood.

    The likelihood is the density of a normal distribution with the exact mean and covariance.
    """

    def cost(rate: float) -> float:
        residual, spread = _free(before, after, rate)
        return (np.linalg.slogdet(spread)[1] + residual @ np.linalg.solve(spread, residual)) / 2

    best = float(scipy.optimize.minimize_scalar(cost, bounds=(1e-4, 1 - 1e-4), method="bounded").x)
    curvature = (cost(best + STEP) - 2 * cost(best) + cost(best - STEP)) / STEP**2
    return LikelyRate(best, float(curvature**-0.5))
