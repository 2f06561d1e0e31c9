"""Privacy profile of an exchange: epsilon if a small delta is allowed.

Two datasets of one stratum with different records differ by an exchange of two records. The output
shows the permutation, whose probability depends on the number m of records moved. After the
exchange it moves m + 2, m + 1, m, m - 1 or m - 2 records.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy

from isdp.checks import check_in_range
from isdp.swapping.mechanism.derangements import subfactorial_ratio
from isdp.swapping.mechanism.permutation import check_rate
from isdp.swapping.privacy.bound import check_size, log_odds

REACH = 45  # standard deviations of the number moved; the tail is below 1e-300


class LossDistribution(NamedTuple):
    """Distribution of the privacy loss of an exchange.

    `loss` is ln P(output) - ln P'(output), float64 (values,), and `chance` the probability under P,
    which sums to 1 up to rounding.
    """

    loss: np.ndarray
    chance: np.ndarray


def exchange_loss_distribution(size: int, rate: float) -> LossDistribution:
    """Compute the distribution of the loss of an exchange, for 2 or more different records."""
    n, p, odds = check_size(size, 2), check_rate(rate), log_odds(rate)
    spread = REACH * (math.sqrt(n * p * (1 - p)) + 1)
    m = np.arange(max(0, math.floor(n * p - spread)), min(n, math.ceil(n * p + spread)) + 1)
    chances = _binomial(m, n, p)[m != 1]
    m = m[m != 1]
    moved = chances / chances.sum()  # a selection of one record is redrawn
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
    possible = [chance > 0 for _, chance in classes]
    return LossDistribution(
        np.concatenate([loss[ok] for (loss, _), ok in zip(classes, possible, strict=True)]),
        np.concatenate([chance[ok] for (_, chance), ok in zip(classes, possible, strict=True)]),
    )


def _binomial(m: np.ndarray, n: int, p: float) -> np.ndarray:
    """Compute binomial probabilities of consecutive numbers m of n, by recursion from the mode.

    They are scaled to sum to 1, so that m must include all numbers with relevant probability.
    """
    # ratios of consecutive probabilities
    ratio = (n - m[:-1]) / (m[:-1] + 1.0) * (p / (1 - p))
    mode = int((ratio >= 1).sum())
    below = np.cumprod(1 / ratio[:mode][::-1])[::-1]
    chances = np.concatenate([below, [1.0], np.cumprod(ratio[mode:])])
    return chances / chances.sum()


def _log_ratio(m: np.ndarray, step: int) -> np.ndarray:
    """Compute ln(d_{m + step} / d_m); NaN where it is undefined and has no probability."""
    possible = (m >= 0) & (m != 1) & (m + step != 1)
    logs = np.full(len(m), math.nan)
    logs[possible] = np.log(subfactorial_ratio(m[possible], step))
    return logs


def _given_both(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute probabilities of an exchange and of one given arrow only, if both records move."""
    exchange, arrow = np.zeros(len(m)), np.zeros(len(m))
    some = (m >= 2) & (m != 3)  # three records cannot be deranged with two of them exchanged
    exchange[some] = 1 / subfactorial_ratio(m[some] - 2, 2)
    arrow[m > 2] = 1 / (m[m > 2] - 1.0) - exchange[m > 2]
    return exchange, arrow


def delta_at_epsilon(law: LossDistribution, epsilon: float) -> float:
    """Compute the smallest delta for which the exchange is (epsilon, delta)-indistinguishable.

    Epsilon is that of the exchange, which is two units of d_HAM.
    """
    over = law.loss > epsilon
    return float((law.chance[over] * -np.expm1(epsilon - law.loss[over])).sum())


def exchange_epsilon(size: int, rate: float, delta: float) -> float:
    """Compute the loss per unit of d_HAM that an exchange exceeds with weight delta only.

    `size` is the number of records of the stratum. `delta`, from 0 (the largest loss) to 1, is for
    the exchange as a whole. The result is half the epsilon of the exchange, in nats.
    """
    return epsilon_at_delta(exchange_loss_distribution(size, rate), delta)


def epsilon_at_delta(law: LossDistribution, delta: float) -> float:
    """Compute `exchange_epsilon` from the distribution of the loss, for repeated use."""
    check_in_range("swapping: delta", delta, 0, 1)
    top = float(law.loss.max())
    gained = law.loss > 0  # only positive losses exceed an epsilon
    law = LossDistribution(law.loss[gained], law.chance[gained])
    if delta_at_epsilon(law, 0.0) <= delta:
        return 0.0
    if delta == 0:
        return top / 2
    return (
        scipy.optimize.brentq(
            lambda epsilon: delta_at_epsilon(law, epsilon) - delta, 0.0, top, xtol=1e-12
        )
        / 2
    )
