"""The exact privacy loss of swapping in the worst case, for every size of stratum.

In the worst universe all records and all values of the swapping variable differ, so that the
output shows the permutation. Its chance depends on the number m of records moved alone: with
f(m) = o^m / d_m, P is proportional to f(m). Two datasets that differ in d >= 2 records, and one
output, stand for two permutations that move a and a' records, |a - a'| <= d; the loss for each
unit of distance is |ln f(a) - ln f(a')| / max(2, |a - a'|) at most, and that is attained.

Variants of the listing have weights of their own, and the same argument.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, logsumexp

from isdp.checks import check_choice
from isdp.errors import InputError
from isdp.swapping.mechanism.derangements import log_subfactorial, subfactorial_ratio
from isdp.swapping.privacy.bound import check_size, log_odds

VARIANTS = ("listing", "no redraw", "plain permutation")
LARGEST_ENUMERATED = 3000


def worst_case_loss(rate, largest: int) -> float:
    """Largest privacy loss in any universe whose largest stratum has b records, exactly.

    Parameters
    ----------
    largest : int
        Records b of the largest stratum.

    Returns
    -------
    float
        In nats for each unit of d_HAM, to rounding: for b >= 4,
        max(ln o, (1/2) ln(d_b / d_{b-2}) - ln o). It falls short of the published bound by
        3 / (2 b), to order 1 / b^2, where the second term is the larger.
    """
    size, odds = check_size(largest), log_odds(rate)
    if size == 1:
        return 0.0
    if size == 2:
        return abs(odds)
    if size == 3:
        return max(abs(odds), math.log(2) / 3 - odds, abs(math.log(2) - odds) / 2)
    return max(odds, math.log(subfactorial_ratio(size - 2, 2)) / 2 - odds)


def min_worst_case_loss(largest: int) -> float:
    """Least exact worst-case loss over all rates: (1/4) ln(d_b / d_{b-2}) for b >= 4.

    It is 0 for b = 2, where at p = 1/2 both orders of two records are equally likely.
    """
    size = check_size(largest)
    if size <= 2:
        return 0.0
    if size == 3:  # with x = ln o, where x meets (ln 2 - x) / 2
        return math.log(2) / 3
    return math.log(subfactorial_ratio(size - 2, 2)) / 4


def log_weights(rate, size: int, variant: str = "listing") -> np.ndarray:
    """Logarithm of the chance of one permutation that moves m of the records of a stratum.

    Parameters
    ----------
    size : int
        Records n of the stratum.
    variant : str
        "listing"; "no redraw", where a selection of one record leaves the stratum as it is; or
        "plain permutation", where the selected are permuted uniformly, fixed points allowed, and
        no selection is drawn again.

    Returns
    -------
    float64 array, shape (n + 1,)
        By the number m moved; NaN at m = 1, which no permutation moves.

    Raises
    ------
    InputError
        If the rate or the size is out of range, or there is no such variant.
    """
    n, odds = check_size(size), log_odds(rate)
    check_choice("swapping: the variant", variant, VARIANTS)
    none = -n * np.logaddexp(0.0, odds)  # n ln(1 - p)
    m = np.arange(n + 1)
    if variant == "plain permutation":
        weights = np.array([_log_plain(odds, n, moved) for moved in m]) + none
    else:
        weights = m * odds - np.where(m == 1, 0.0, log_subfactorial(m)) + none
        lone = math.log(n) + odds + none  # ln of the chance to select just one
        if variant == "no redraw":
            weights[0] = np.logaddexp(weights[0], lone)
        else:
            weights -= math.log(-math.expm1(lone))
    if n >= 1:
        weights[1] = math.nan
    return weights


def _log_plain(odds: float, n: int, moved: int) -> float:
    """Sum over the numbers s selected, which hold the points moved: C(n - m, s - m) o^s / s!."""
    s = np.arange(moved, n + 1)
    choose = gammaln(n - moved + 1) - gammaln(s - moved + 1) - gammaln(n - s + 1)
    return float(logsumexp(choose + s * odds - gammaln(s + 1)))


def worst_case_loss_of_weights(weights: np.ndarray) -> float:
    """Worst-case loss of a stratum from the weights of its permutations, by trying all pairs.

    Parameters
    ----------
    weights : float64 array, shape (n + 1,)
        As `log_weights` returns them.

    Returns
    -------
    float
        In nats for each unit of d_HAM.

    Raises
    ------
    InputError
        If there are more than 3000 records.
    """
    if len(weights) > LARGEST_ENUMERATED + 1:
        raise InputError(f"swapping: too many records to try all pairs: {len(weights) - 1}")
    m = np.delete(np.arange(len(weights)), 1)
    if len(m) < 2:
        return 0.0
    distance = np.maximum(2, abs(m[:, None] - m))
    return float((abs(weights[m][:, None] - weights[m]) / distance).max())
