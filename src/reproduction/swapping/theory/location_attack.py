"""What a reader of swapped records learns, who knows the swap rate and all that is held.

The swap rate is public, as any other fact of the law. A record is *uniquely described* if what is
held of it is shared by no other record of its stratum; where it lives is then seen as one value.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from isdp.errors import InputError
from isdp.swapping.accuracy import covariance
from isdp.swapping.mechanism.permutation import check_table
from isdp.swapping.privacy.record_pairs import exchange_log_likelihood_ratio, moved_probability
from reproduction.swapping.theory.fixed_totals_loss import Loss, check_totals


def location_posterior(totals, rate: float) -> np.ndarray:
    """Chance that a uniquely described record truly is in the county in which it is seen.

    1 - q1 + q1 (n_c - 1) / (n - 1), exactly, for a prior that spreads the record over the county's
    places; the chance given the true county is the same number.

    Parameters
    ----------
    totals : sequence of int
        Records n_c of the stratum in each county, all positive; at least 2 records.

    Returns
    -------
    float64 array, shape (counties,)
    """
    totals, n, moved = _read(totals, rate)
    return 1 - moved + moved * (totals - 1) / (n - 1)


def _read(totals, rate: float) -> tuple[np.ndarray, int, float]:
    given = check_totals(totals)
    n = sum(given)
    if len(given) != len(np.asarray(totals)) or n < 2:
        raise InputError("swapping: every county needs a record here, and the stratum two")
    return np.array(given), n, moved_probability(n, rate)


def log_odds_gain(totals, rate: float) -> np.ndarray:
    """Logarithm of the posterior odds of the county seen over the prior odds n_c / (n - n_c).

    ln(1 + n / (n_c o)) up to terms of order 1/n.

    Returns
    -------
    float64 array, shape (counties,)
    """
    totals, n, moved = _read(totals, rate)
    return np.log(location_posterior(totals, rate)) + np.log((n - 1) / (moved * totals))


def accuracy(totals, rate: float) -> float:
    """Share of uniquely described records placed rightly by who believes what is seen."""
    totals, n, _ = _read(totals, rate)
    return float((totals * location_posterior(totals, rate)).sum() / n)


def bayes_factor_loss(totals, rate: float) -> Loss:
    """Loss that an observer of two uniquely described records realises, where they are seen.

    One is seen in the smallest county and one in the next: half the logarithm of how much likelier
    that is if they live there than if they live in each other's. It has a chance of about
    (1 - p)^2, whereas the worst case of all is a rare output. Half the sum of the two records'
    `log_odds_gain` is near it where many records of both counties move, and too large otherwise.

    Parameters
    ----------
    totals : sequence of int
        Records of the stratum in each county, at least two counties.

    Returns
    -------
    Loss
        For each unit of d_HAM; a lower bound of the loss in the universe of these totals.

    Raises
    ------
    InputError
        If there is one county only, or the totals or the rate are not as they should be.
    """
    totals = sorted(check_totals(totals))
    if len(totals) < 2:
        raise InputError("swapping: an exchange takes two counties")
    return Loss(
        abs(exchange_log_likelihood_ratio(sum(totals), *totals[:2], rate)) / 2, "lower bound"
    )


def distinguishing_advantage(counts, rate: float, first: int, second: int) -> float:
    """Total variation between the tables released for a dataset and for one exchange in it.

    A record of one category in the first county changes places with one of the other category in
    the second. By the normal approximation of the released table of county x two categories.

    Parameters
    ----------
    counts : int array, shape (1, K, 2)
        One stratum.
    first, second : int
        Numbers of the counties.

    Returns
    -------
    float
        Between 0, nothing to tell, and 1.

    Raises
    ------
    InputError
        If the table is not of one stratum and two categories, or the counties are one.
    """
    counts = check_table(counts)
    if counts.shape[0] != 1 or counts.shape[2] != 2 or first == second:
        raise InputError(
            "swapping: this takes one stratum, two categories and two different counties"
        )
    n = int(counts.sum())
    shift = np.zeros(counts.shape[1])
    shift[[first, second]] = np.array([-1.0, 1.0]) * (1 - moved_probability(n, rate) * n / (n - 1))
    kept = slice(0, -1)  # the counts of the last county follow from the others'
    spread = covariance(counts, rate)[kept, kept]
    distance = np.sqrt(shift[kept] @ np.linalg.solve(spread, shift[kept]))
    return float(2 * ndtr(distance / 2) - 1)
