"""Privacy profile of an exchange of two records: epsilon as a function of delta.

All records of a stratum are different, and two datasets differ by an exchange of two records. The
output shows the permutation. The probability of the permutation depends on the number m of records
that it moves. For the second dataset, the permutation with the same output moves between m - 2 and
m + 2 records.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy
from scipy.stats import binom

from isdp.swapping.mechanism.derangements import subfactorial_ratio
from isdp.swapping.mechanism.permutation import check_rate
from isdp.swapping.privacy.bound import check_size, log_odds

MAX_DEVIATIONS = 45  # standard deviations of the number of moved records; the tail is below 1e-300


class LossDistribution(NamedTuple):
    """Distribution of the privacy loss ln P(output) - ln P'(output) of an exchange.

    `probability` is the probability of each value of `loss` under P. It sums to 1 up to rounding.
    """

    loss: np.ndarray
    probability: np.ndarray


def exchange_loss_distribution(size: int, rate: float) -> LossDistribution:
    """Compute the distribution of the loss for a stratum of `size` >= 2 different records."""
    n, p, odds = check_size(size, 2), check_rate(rate), log_odds(rate)
    spread = MAX_DEVIATIONS * (math.sqrt(n * p * (1 - p)) + 1)
    m = np.arange(max(0, math.floor(n * p - spread)), min(n, math.ceil(n * p + spread)) + 1)
    m = m[m != 1]  # a selection of one record is drawn again
    selected = binom.pmf(m, n, p)
    moved = selected / selected.sum()
    pairs = n * (n - 1.0)
    both = moved * m * (m - 1.0) / pairs
    exchange, arrow = _given_both(m)
    classes = (
        (_log_ratio(m, 2) - 2 * odds, moved * (n - m) * (n - m - 1.0) / pairs),
        (2 * odds - _log_ratio(m - 2, 2), both * exchange),
        (_log_ratio(m, 1) - odds, moved * 2.0 * m * (n - m) / pairs),
        (odds - _log_ratio(m - 1, 1), both * 2 * arrow),
        (np.zeros(len(m)), both * (1 - exchange - 2 * arrow)),
    )
    loss, probability = map(np.concatenate, zip(*classes, strict=True))
    possible = probability > 0
    return LossDistribution(loss[possible], probability[possible])


def _log_ratio(m: np.ndarray, step: int) -> np.ndarray:
    """Compute ln(d_{m + step} / d_m), and NaN where the output has probability 0."""
    possible = (m >= 0) & (m != 1) & (m + step != 1)
    logs = np.full(len(m), math.nan)
    logs[possible] = np.log(subfactorial_ratio(m[possible], step))
    return logs


def _given_both(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute two probabilities for a derangement of m records, given two of the records.

    The first is the probability that the two records exchange their places. The second is the
    probability that the first record takes the place of the second, and not the reverse.
    """
    exchange, arrow = np.zeros(len(m)), np.zeros(len(m))
    possible = (m >= 2) & (m != 3)  # an exchange leaves m - 2 records, and one record cannot move
    exchange[possible] = 1 / subfactorial_ratio(m[possible] - 2, 2)
    arrow[m > 2] = 1 / (m[m > 2] - 1.0) - exchange[m > 2]
    return exchange, arrow


def delta_at_epsilon(losses: LossDistribution, epsilon: float) -> float:
    """Compute the smallest delta for which the two datasets are (epsilon, delta)-indistinguishable.

    The exchange is two units of d_HAM, and `epsilon` is for both units together.
    """
    larger = losses.loss > epsilon
    return float((losses.probability[larger] * -np.expm1(epsilon - losses.loss[larger])).sum())


def exchange_epsilon(size: int, rate: float, delta: float) -> float:
    """Compute the epsilon per unit of d_HAM that an exchange has at delta, in nats.

    `size` is the number of records of the stratum. The exchange is two units of d_HAM, and `delta`
    is for both units together. At delta 0, epsilon is the largest loss.
    """
    return epsilon_at_delta(exchange_loss_distribution(size, rate), delta)


def epsilon_at_delta(losses: LossDistribution, delta: float) -> float:
    """Compute `exchange_epsilon` from the distribution of the loss."""
    max_loss = float(losses.loss.max())
    positive = losses.loss > 0  # other losses do not contribute to delta
    losses = LossDistribution(losses.loss[positive], losses.probability[positive])
    if delta_at_epsilon(losses, 0.0) <= delta:
        return 0.0
    if delta == 0:
        return max_loss / 2
    return (
        scipy.optimize.brentq(
            lambda epsilon: delta_at_epsilon(losses, epsilon) - delta, 0.0, max_loss, xtol=1e-12
        )
        / 2
    )
