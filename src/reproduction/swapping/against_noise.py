"""Swapping compared with exact integer noise on the same table with the same invariants.

The table has counties in rows and two categories in columns. County totals and category totals are
invariants, and swapping works on one stratum. Noise with both invariants is (v_c, -v_c) in the
rows, with sum v = 0, so that its l1 norm is 2 sum |v_c|. The l1 mechanism at epsilon is the
distribution of n_c double geometric variables at 2 epsilon given their sum. An exchange of two
households is two units for swapping and l1 distance 4 for noise. The loss is per household in both
cases: epsilon_h = 2 epsilon_l1. An array `before` has shape (counties, 2), an array `stratum` shape
(1, counties, 2), and every `epsilon` is per household.
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

# search range of epsilon per household
MIN_EPSILON, MAX_EPSILON = 1e-4, 20.0


def noise_distribution(
    counties: int, epsilon: float, strata: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Compute values and probabilities of the noise in one county, summed over strata."""
    law = exact.total_distribution(counties, epsilon)
    if strata == 1:
        return law.support, law.pmf
    reach = int(law.support[-1]) * strata
    long = scipy.fft.next_fast_len(2 * reach + 1, real=True)
    pmf = scipy.fft.irfft(scipy.fft.rfft(law.pmf, long) ** strata, long)[: 2 * reach + 1]
    return np.arange(-reach, reach + 1), np.clip(pmf, 0, None)


@lru_cache(maxsize=256)  # all searches begin at the same two ends
def noise_error(counties: int, epsilon: float, strata: int = 1) -> float:
    """Mean absolute noise in a county, in households."""
    values, pmf = noise_distribution(counties, epsilon, strata)
    return float((abs(values) * pmf).sum())


def noise_mape(before: np.ndarray, epsilon: float, strata: int = 1) -> float:
    """Compute the expected percentage error of the noisy table, as in `isdp.swapping.accuracy`."""
    return 100 * float(np.mean(1 / before)) * noise_error(len(before), epsilon, strata)


def find_equal_epsilon(before: np.ndarray, error: float) -> float:
    """Find the epsilon at which noise has a given percentage error."""

    def over(log_epsilon: float) -> float:
        return math.log(noise_mape(before, math.exp(log_epsilon))) - math.log(error)

    return math.exp(
        scipy.optimize.brentq(over, math.log(MIN_EPSILON), math.log(MAX_EPSILON), xtol=1e-12)
    )


def unchanged_probability(counties: int, epsilon: float) -> float:
    """Compute the probability that the noise is 0 in all counties.

    Given that the last counties have noise 0, the others have the distribution of fewer counties.
    The result is therefore the product of the probabilities that one county of n, n - 1, ..., 2 has
    noise 0.
    """
    return float(np.prod([noise_advantage(n, epsilon) for n in range(2, counties + 1)]))


def noise_advantage(counties: int, epsilon: float) -> float:
    """Compute the total variation between noisy tables of datasets that differ by one exchange.

    With a = e^(-epsilon) it is (1 - a) / (1 + a) q_{n-1}(0) / q_n(0), where q_m is the distribution
    of the sum of m double geometric variables. This is the probability that one county's noise is
    0.
    """
    return exact.total_distribution(counties, epsilon).within(0)


def compare_at_equal_error(stratum: np.ndarray, rates: Iterable[float]) -> pd.DataFrame:
    """Compute the epsilon of noise of equal error, and three readings of swapping's loss."""
    before, n = stratum[0], int(stratum.sum())
    rows = []
    for rate in rates:
        error, undone = (expected_mape(stratum, rate, debiased=way) for way in (False, True))
        noise, noise_undone = (find_equal_epsilon(before, e) for e in (error, undone))
        nominal = epsilon_bound(rate, n)
        rows.append(
            {
                "rate": rate,
                "nominal": nominal,
                "exact": worst_case_loss(rate, n),
                "bayes_factor": bayes_factor_loss(before.sum(axis=1), rate).value,
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


def tabulate_noise_errors(before: np.ndarray, epsilons: Iterable[float]) -> pd.DataFrame:
    """Compute the error of noise by epsilon, and the probability of an unchanged table."""
    n = len(before)
    rows = [
        (e, noise_mape(before, e), noise_error(n, e), unchanged_probability(n, e)) for e in epsilons
    ]
    return pd.DataFrame(rows, columns=["epsilon", "mape", "mean_error", "unchanged"])


def tabulate_strata_errors(
    before: np.ndarray, epsilons: Iterable[float], strata: int
) -> pd.DataFrame:
    """Compute the error of noise if the totals of each of several strata are invariants too."""
    rows = [(e, noise_mape(before, e), noise_mape(before, e, strata)) for e in epsilons]
    return pd.DataFrame(rows, columns=["epsilon", "mape", "mape_strata"])


def gather_error_curves(
    before: np.ndarray, swapped: pd.DataFrame, epsilons: Iterable[float]
) -> pd.DataFrame:
    """Combine error by epsilon: readings of swapping from `compare_at_equal_error`, and noise."""
    noise = [("integer noise", e, noise_mape(before, e)) for e in epsilons]
    columns = ["curve", "epsilon", "mape"]
    parts = [
        pd.DataFrame({"epsilon": swapped[reading], "mape": swapped[f"mape{way}"]}).assign(
            curve=f"swapping, {reading}{', unmixed' if way else ''}"
        )[columns]
        for reading in ("nominal", "bayes_factor", "table_only")
        for way in ("", "_unmixed")
    ]
    return pd.concat([*parts, pd.DataFrame(noise, columns=columns)], ignore_index=True)


def compare_advantages(
    stratum: np.ndarray, first: int, second: int, compared: pd.DataFrame
) -> pd.DataFrame:
    """Compute total variation between datasets that differ by an exchange, at equal errors.

    The exchanged households are of the counties `first` and `second`, by number. `compared` is from
    `compare_at_equal_error`.
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
