"""Swapping against exact integer noise on the same table, with the same totals held.

The table has counties in rows and two categories in columns; county totals and category totals are
held, and swapping works on one stratum. Noise that keeps both is (v_c, -v_c) in the rows, with
sum v = 0, so that its l1 norm is 2 sum |v_c|, and the l1 mechanism at epsilon is the law of n_c
double geometric counts at 2 epsilon given their sum. An exchange of two households is two units for
swapping and l1 distance 4 for noise: in both cases the loss is counted for each household,
epsilon_h = 2 epsilon_l1.

What makes the comparison fair stands in `reproduction.swapping.fairness`, and belongs beside every
figure of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import pandas as pd
import scipy

from isdp import exact
from isdp.swapping.attack import bayes_factor_loss, distinguishing_advantage
from isdp.swapping.budget import epsilon_bound
from isdp.swapping.loss import worst_loss
from isdp.swapping.moments import covariance, expected_absolute_error, expected_mape, expected_table
from isdp.swapping.released_table import two_counties_bound

SMALLEST, LARGEST = 1e-4, 20.0  # epsilon for each household between which equal errors are sought


def noise_law(counties: int, epsilon: float, strata: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Law of the noise in one county, summed over strata that are each held.

    Parameters
    ----------
    counties : int
    epsilon : float
        For each household.
    strata : int

    Returns
    -------
    tuple of int64 array and float64 array
        Values and their probabilities.
    """
    law = exact.total_law(counties, epsilon)
    if strata == 1:
        return law.support, law.pmf
    reach = int(law.support[-1]) * strata
    long = scipy.fft.next_fast_len(2 * reach + 1, real=True)
    pmf = scipy.fft.irfft(scipy.fft.rfft(law.pmf, long) ** strata, long)[: 2 * reach + 1]
    return np.arange(-reach, reach + 1), np.clip(pmf, 0, None)


@lru_cache(maxsize=256)  # all searches begin at the same two ends, and the smallest takes longest
def noise_error(counties: int, epsilon: float, strata: int = 1) -> float:
    """Mean absolute noise in a county, in households."""
    values, pmf = noise_law(counties, epsilon, strata)
    return float((abs(values) * pmf).sum())


def inverse_count(before: np.ndarray) -> float:
    """Mean of 1 / count over all cells of the table; int array (counties, categories)."""
    return float(np.mean(1 / before))


def noise_mape(before: np.ndarray, epsilon: float, strata: int = 1) -> float:
    """Compute the expected percentage error of the noisy table, as `isdp.swapping.moments.mape`."""
    return 100 * inverse_count(before) * noise_error(len(before), epsilon, strata)


def epsilon_of_equal_error(before: np.ndarray, error: float) -> float:
    """Find epsilon, for each household, at which noise has a given percentage error."""

    def over(log_epsilon: float) -> float:
        return math.log(noise_mape(before, math.exp(log_epsilon))) - math.log(error)

    return math.exp(scipy.optimize.brentq(over, math.log(SMALLEST), math.log(LARGEST), xtol=1e-12))


def unchanged(counties: int, epsilon: float) -> float:
    """Chance that the noise is 0 in all counties at once.

    Given that the last counties are 0, the others have the law of fewer counties, so the chance is
    the product of those of one county being 0 among n, n - 1, ..., 2.
    """
    at_zero = [exact.total_law(n, epsilon).within(0) for n in range(2, counties + 1)]
    return float(np.prod(at_zero))


def noise_advantage(counties: int, epsilon: float) -> float:
    """Total variation between the noisy tables of two datasets that differ by one exchange.

    With a = e^(-epsilon) it is (1 - a) / (1 + a) q_{n-1}(0) / q_n(0) for q_m the law of the sum of
    m counts: the chance that the noise in one county is 0.
    """
    return exact.total_law(counties, epsilon).within(0)


def equal_error(stratum: np.ndarray, rates: Iterable[float]) -> pd.DataFrame:
    """At equal error: epsilon of noise beside three readings of swapping's loss.

    Parameters
    ----------
    stratum : int64 array, shape (1, counties, 2)
    rates : iterable of float

    Returns
    -------
    DataFrame with a row a rate
        `nominal`, `exact`, `bayes_factor` and `table_only` (a lower bound) for swapping; its
        `mape` and `mape_unmixed`; `epsilon_noise` and `epsilon_noise_unmixed` of noise with the
        same error; `break_even` and `break_even_unmixed` tables, nominal over noise; `l1` errors
        of both.
    """
    before, n = stratum[0], int(stratum.sum())
    totals = before.sum(axis=1)
    rows = []
    for rate in rates:
        error, undone = (expected_mape(stratum, rate, unmixed=way) for way in (False, True))
        noise, noise_undone = (epsilon_of_equal_error(before, e) for e in (error, undone))
        nominal = epsilon_bound(rate, n)
        rows.append(
            {
                "rate": rate,
                "nominal": nominal,
                "exact": worst_loss(rate, n),
                "bayes_factor": bayes_factor_loss(totals, rate).value,
                "table_only": two_counties_bound(n, int(before[:, 0].sum()), rate).value,
                "mape": error,
                "mape_unmixed": undone,
                "epsilon_noise": noise,
                "epsilon_noise_unmixed": noise_undone,
                "break_even": nominal / noise,
                "break_even_unmixed": nominal / noise_undone,
                "l1": expected_l1(stratum, rate),
                "l1_noise": 2 * len(before) * noise_error(len(before), noise),
            }
        )
    return pd.DataFrame(rows)


def expected_l1(stratum: np.ndarray, rate: float) -> float:
    """Compute the expected l1 error of the swapped table, by normal approximation."""
    bias = (expected_table(stratum, rate) - stratum)[0, :, 0]
    sd = np.sqrt(np.diag(covariance(stratum, rate)))
    return float(2 * expected_absolute_error(bias, sd).sum())


def equal_epsilon(before: np.ndarray, epsilons: Iterable[float]) -> pd.DataFrame:
    """At equal epsilon: the error of noise, and how often it leaves the table as it is.

    Returns
    -------
    DataFrame: `epsilon`, `mape`, `mean_error` in households, `unchanged`, the chance of no noise
    """
    rows = [
        (
            epsilon,
            noise_mape(before, epsilon),
            noise_error(len(before), epsilon),
            unchanged(len(before), epsilon),
        )
        for epsilon in epsilons
    ]
    return pd.DataFrame(rows, columns=["epsilon", "mape", "mean_error", "unchanged"])


def by_strata(before: np.ndarray, epsilons: Iterable[float], strata: int) -> pd.DataFrame:
    """Error of noise if the totals of each of several strata are held as well.

    Returns
    -------
    DataFrame: `epsilon`, `mape`, `mape_strata`
    """
    rows = [(e, noise_mape(before, e), noise_mape(before, e, strata)) for e in epsilons]
    return pd.DataFrame(rows, columns=["epsilon", "mape", "mape_strata"])


def error_curves(
    before: np.ndarray, swapped: pd.DataFrame, epsilons: Iterable[float]
) -> pd.DataFrame:
    """Error against epsilon, for both: a row a point of a curve.

    Parameters
    ----------
    before : int64 array, shape (counties, 2)
    swapped : DataFrame
        From `equal_error`.
    epsilons : iterable of float
        Of integer noise.

    Returns
    -------
    DataFrame: `curve`, `epsilon`, `mape`
        Swapping by its three readings, each also unmixed; noise.
    """
    parts = [
        pd.DataFrame(
            {
                "curve": f"swapping, {reading}{', unmixed' if way else ''}",
                "epsilon": swapped[reading],
                "mape": swapped[f"mape{way}"],
            }
        )
        for reading in ("nominal", "bayes_factor", "table_only")
        for way in ("", "_unmixed")
    ]
    noise = [("integer noise", e, noise_mape(before, e)) for e in epsilons]
    return pd.concat(
        [*parts, pd.DataFrame(noise, columns=["curve", "epsilon", "mape"])], ignore_index=True
    )


def advantages(
    stratum: np.ndarray, first: int, second: int, compared: pd.DataFrame
) -> pd.DataFrame:
    """Chance to tell a dataset from one with an exchange of two counties, at equal errors.

    Parameters
    ----------
    stratum : int64 array, shape (1, counties, 2)
    first, second : int
        Numbers of the counties.
    compared : DataFrame
        From `equal_error`.

    Returns
    -------
    DataFrame: `rate`, `swapping` (normal approximation), `noise` and `noise_unmixed` (exact)
        Total variation between the two released tables.
    """
    counties = stratum.shape[1]
    return pd.DataFrame(
        {
            "rate": compared["rate"],
            "swapping": [
                distinguishing_advantage(stratum, rate, first, second) for rate in compared["rate"]
            ],
            "noise": [noise_advantage(counties, e) for e in compared["epsilon_noise"]],
            "noise_unmixed": [
                noise_advantage(counties, e) for e in compared["epsilon_noise_unmixed"]
            ],
        }
    )
