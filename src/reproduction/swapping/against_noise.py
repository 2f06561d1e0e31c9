"""Comparison of swapping with exact integer noise on one table with the same invariants.

The table has counties in rows and two categories in columns, and its margins are the invariants.
Swapping uses one stratum. Noise that keeps the invariants is (v_c, -v_c) in the row of county c,
and the v_c sum to zero. Its l1 norm is 2 sum |v_c|. Under the l1 mechanism with epsilon, the v_c
are discrete Laplace variables with 2 epsilon, given their sum. An exchange of two households is two
units of distance for swapping, and an l1 distance of 4 for noise. Every `epsilon` here is the loss
for one household, which is twice the epsilon for a unit of l1.

An array `before` has shape (counties, 2), and an array `stratum` has shape (1, counties, 2).
"""

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import pandas as pd
import scipy

from isdp import exact
from isdp.swapping.accuracy import covariance, expected_table
from isdp.swapping.privacy.bound import epsilon_bound
from isdp.swapping.privacy.worst_case import worst_case_loss
from reproduction.swapping.percentage_errors import expected_absolute_error, expected_mape
from reproduction.swapping.theory.location_attack import bayes_factor_loss, distinguishing_advantage
from reproduction.swapping.theory.released_table import two_counties_bound

MIN_EPSILON, MAX_EPSILON = 1e-4, 20.0  # limits of epsilon in the search of `find_equal_epsilon`


def noise_distribution(
    counties: int, epsilon: float, strata: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the values and probabilities of the noise of one county, summed over strata."""
    noise = exact.total_distribution(counties, epsilon)
    if strata == 1:
        return noise.support, noise.pmf
    end = int(noise.support[-1]) * strata
    length = scipy.fft.next_fast_len(2 * end + 1, real=True)
    pmf = scipy.fft.irfft(scipy.fft.rfft(noise.pmf, length) ** strata, length)[: 2 * end + 1]
    return np.arange(-end, end + 1), np.clip(pmf, 0, None)


@lru_cache(maxsize=256)  # every search evaluates MIN_EPSILON and MAX_EPSILON
def noise_error(counties: int, epsilon: float, strata: int = 1) -> float:
    """Compute the mean absolute noise of a county, in households."""
    values, pmf = noise_distribution(counties, epsilon, strata)
    return float((abs(values) * pmf).sum())


def noise_mape(before: np.ndarray, epsilon: float, strata: int = 1) -> float:
    """Compute the expected mean absolute percentage error of the noisy table."""
    return 100 * float(np.mean(1 / before)) * noise_error(len(before), epsilon, strata)


def find_equal_epsilon(before: np.ndarray, error: float) -> float:
    """Find the epsilon at which the noisy table has the percentage error `error`."""

    def log_ratio(log_epsilon: float) -> float:
        return math.log(noise_mape(before, math.exp(log_epsilon)) / error)

    ends = math.log(MIN_EPSILON), math.log(MAX_EPSILON)
    return math.exp(scipy.optimize.brentq(log_ratio, *ends, xtol=1e-12))


def unchanged_probability(counties: int, epsilon: float) -> float:
    """Compute the probability that the noise is 0 in all counties.

    If the noise of some counties is 0, the noise of the others has the distribution for fewer
    counties. The result is therefore the product, over n = 2, ..., `counties`, of the probability
    that one county of n has noise 0.
    """
    return float(np.prod([noise_advantage(n, epsilon) for n in range(2, counties + 1)]))


def noise_advantage(counties: int, epsilon: float) -> float:
    """Compute the total variation distance between the noisy tables before and after one exchange.

    The distance equals the probability that the noise of one county is 0. It is (1 - a) / (1 + a)
    q_{n-1}(0) / q_n(0), with a = e^(-epsilon). Here q_m is the distribution of the sum of m
    discrete Laplace variables.
    """
    return exact.total_distribution(counties, epsilon).within(0)


def compare_at_equal_error(stratum: np.ndarray, rates: Iterable[float]) -> pd.DataFrame:
    """Compute three readings of the loss of swapping, and the epsilon of noise with equal error."""
    before, n = stratum[0], int(stratum.sum())
    rows = []
    for rate in rates:
        error = expected_mape(stratum, rate)
        unmixed_error = expected_mape(stratum, rate, debiased=True)
        noise, unmixed_noise = (find_equal_epsilon(before, e) for e in (error, unmixed_error))
        nominal = epsilon_bound(rate, n)
        rows.append(
            {
                "rate": rate,
                "nominal": nominal,
                "exact": worst_case_loss(rate, n),
                "bayes_factor": bayes_factor_loss(before.sum(axis=1), rate).value,
                "table_only": two_counties_bound(n, int(before[:, 0].sum()), rate).value,
                "mape": error,
                "mape_unmixed": unmixed_error,
                "epsilon_noise": noise,
                "epsilon_noise_unmixed": unmixed_noise,
                "break_even": nominal / noise,
                "break_even_unmixed": nominal / unmixed_noise,
                "l1": expected_l1(stratum, rate),
                "l1_noise": 2 * len(before) * noise_error(len(before), noise),
            }
        )
    return pd.DataFrame(rows)


def expected_l1(stratum: np.ndarray, rate: float) -> float:
    """Compute the expected l1 error of the swapped table by a normal approximation."""
    bias = (expected_table(stratum, rate) - stratum)[0, :, 0]
    sd = np.sqrt(np.diag(covariance(stratum, rate)))
    return float(2 * expected_absolute_error(bias, sd).sum())


def tabulate_noise_errors(before: np.ndarray, epsilons: Iterable[float]) -> pd.DataFrame:
    """Compute the error of noise and the probability of an unchanged table, by epsilon."""
    n = len(before)
    rows = [
        (e, noise_mape(before, e), noise_error(n, e), unchanged_probability(n, e)) for e in epsilons
    ]
    return pd.DataFrame(rows, columns=["epsilon", "mape", "mean_error", "unchanged"])


def tabulate_strata_errors(
    before: np.ndarray, epsilons: Iterable[float], strata: int
) -> pd.DataFrame:
    """Compute the error of noise, without and with separate invariants for each stratum."""
    rows = [(e, noise_mape(before, e), noise_mape(before, e, strata)) for e in epsilons]
    return pd.DataFrame(rows, columns=["epsilon", "mape", "mape_strata"])


def compare_advantages(
    stratum: np.ndarray, first: int, second: int, compared: pd.DataFrame
) -> pd.DataFrame:
    """Compute the total variation distance between the releases of two datasets, at equal errors.

    In the second dataset, a household of county `first` is exchanged with one of county `second`.
    `compared` is from `compare_at_equal_error`.
    """
    n = stratum.shape[1]
    swapping = [distinguishing_advantage(stratum, rate, first, second) for rate in compared["rate"]]
    return pd.DataFrame(
        {
            "rate": compared["rate"],
            "swapping": swapping,
            "noise": [noise_advantage(n, e) for e in compared["epsilon_noise"]],
            "noise_unmixed": [noise_advantage(n, e) for e in compared["epsilon_noise_unmixed"]],
        }
    )
