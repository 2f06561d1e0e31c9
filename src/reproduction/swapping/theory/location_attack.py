"""Information of swapped records about the county of a record, if the swap rate is public.

A record is *uniquely described* if no other record of its stratum has the same held values. The
release then shows one county for this record.
"""

import math

import numpy as np
from scipy.special import ndtr

from isdp.swapping.accuracy import covariance
from isdp.swapping.mechanism.permutation import check_rate
from isdp.swapping.privacy.bound import check_size
from isdp.swapping.privacy.record_pairs import (
    PairDistribution,
    exact_pair_distribution,
    moved_probability,
)
from reproduction.swapping.theory.fixed_totals_loss import Loss


def location_posterior(totals, rate: float) -> np.ndarray:
    """Compute the probability that a uniquely described record is in the observed county.

    The probability is 1 - q1 + q1 (n_c - 1) / (n - 1), where q1 is the probability of a move. The
    prior probability of a county is its share of the records. `totals` are the positive numbers n_c
    of records by county, with the sum n of at least 2.
    """
    totals = np.asarray(totals)
    n = int(totals.sum())
    moved = moved_probability(n, rate)
    return 1 - moved + moved * (totals - 1) / (n - 1)


def log_odds_gain(totals, rate: float) -> np.ndarray:
    """Compute the log posterior odds of the observed county minus its log prior odds.

    The prior odds are n_c / (n - n_c). For odds o of the swap rate, the gain is ln(1 + n / (n_c o))
    up to terms of order 1/n.
    """
    totals = np.asarray(totals)
    n = int(totals.sum())
    moved = moved_probability(n, rate)
    return np.log(location_posterior(totals, rate)) + np.log((n - 1) / (moved * totals))


def accuracy(totals, rate: float) -> float:
    """Compute the share of uniquely described records whose observed county is the true one."""
    return float(np.average(location_posterior(totals, rate), weights=totals))


def bayes_factor_loss(totals, rate: float) -> Loss:
    """Compute the loss from the observed counties of two uniquely described records.

    One record is observed in the smallest county, and the other in the second-smallest county. The
    loss is half of the log-likelihood ratio of two hypotheses: the records live in these counties,
    or each lives in the county of the other. The output has a probability of about (1 - p)^2,
    whereas the output with the largest loss is rare. The result is a lower bound of the loss for
    the given totals of two or more counties.
    """
    totals = sorted(map(int, totals))
    return Loss(
        abs(exchange_log_likelihood_ratio(sum(totals), *totals[:2], rate)) / 2, "lower bound"
    )


def pair_distribution(size: int, rate: float) -> PairDistribution:
    """Compute `exact_pair_distribution` for a stratum of at least 2 records, as floats."""
    exact = exact_pair_distribution(check_size(size), check_rate(rate))
    return PairDistribution(*(max(float(probability), 0.0) for probability in exact))


def exchange_log_likelihood_ratio(size: int, first: int, second: int, rate: float) -> float:
    """Compute the log likelihood ratio of two records that are observed in counties a and b.

    The hypotheses are that the records are from a and b in this order, or in the other order. The
    stratum has `size` records, of which `first` are in county a and `second` in county b. If many
    records of both counties move, the ratio is close to ln[(1 + n / (n_a o)) (1 + n / (n_b o))],
    twice the value for one record. It is smaller if p n_a or p n_b is small, because the two
    records may have exchanged their values.
    """
    n, pair = check_size(size), pair_distribution(size, rate)
    third = (first + second - 2) / max(n - 2, 1)  # a third record is from a or b
    fourth = (first - 1) * (second - 1) / max((n - 2) * (n - 3), 1)
    same = pair.both_fixed + pair.one_fixed * third + pair.both_elsewhere * fourth
    exchanged = pair.exchanged + pair.one_arrow * third + pair.both_elsewhere * fourth
    return math.log(same / exchanged)


def distinguishing_advantage(counts: np.ndarray, rate: float, first: int, second: int) -> float:
    """Compute the total variation distance between the releases of two datasets.

    In the second dataset, a record of one category in county `first` is exchanged with a record of
    the other category in county `second`. The distribution of the released table of county by two
    categories is approximated by a normal distribution. `counts` have shape (1, K, 2).
    """
    n = int(counts.sum())
    shift = np.zeros(counts.shape[1])
    shift[[first, second]] = np.array([-1.0, 1.0]) * (1 - moved_probability(n, rate) * n / (n - 1))
    kept = slice(0, -1)  # the other counties determine the last one
    spread = covariance(counts, rate)[kept, kept]
    distance = np.sqrt(shift[kept] @ np.linalg.solve(spread, shift[kept]))
    return float(2 * ndtr(distance / 2) - 1)
