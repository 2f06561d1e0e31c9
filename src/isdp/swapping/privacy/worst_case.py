"""The exact worst-case privacy loss of swapping, for every size of stratum.

In the worst universe all records and all values of the swapping variable differ, so that the
output shows the permutation. The probability of a permutation is proportional to f(m) = o^m / d_m,
where m is the number of moved records. Consider two datasets that differ in d >= 2 records, and
one output. They determine two permutations that move a and a' records with |a - a'| <= d. The loss
per unit of distance is at most |ln f(a) - ln f(a')| / max(2, |a - a'|), and this bound is attained.

The same argument holds for the variants of the listing, with other weights.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from scipy.special import gammaln, logsumexp

from isdp.arrays import FloatArray
from isdp.checks import check_choice
from isdp.errors import InputError
from isdp.swapping.mechanism.derangements import log_subfactorial, subfactorial_ratio
from isdp.swapping.privacy.bound import Rate, check_size, log_odds

Variant = Literal["listing", "no redraw", "plain permutation"]
VARIANTS = get_args(Variant)
MAX_ENUMERATED = 3000  # records


def worst_case_loss(rate: Fraction | float | Rate, largest: int) -> float:
    """Compute the exact maximum privacy loss over all universes.

    Parameters
    ----------
    largest : int
        Records b of the largest stratum.

    Returns
    -------
    float
        In nats per unit of d_HAM. For b >= 4 it is max(ln o, (1/2) ln(d_b / d_{b-2}) - ln o). If
        the second term is the maximum, it is below the published bound by 3 / (2 b) + O(1 / b^2).
    """
    size, odds = check_size(largest), log_odds(rate)
    if size == 1:
        return 0.0
    if size == 2:
        return abs(odds)
    if size == 3:
        return max(abs(odds), math.log(2) / 3 - odds, abs(math.log(2) - odds) / 2)
    return max(odds, math.log(float(subfactorial_ratio(size - 2, 2))) / 2 - odds)


def min_worst_case_loss(largest: int) -> float:
    """Compute the minimum of `worst_case_loss` over all rates: (1/4) ln(d_b / d_{b-2}) for b >= 4.

    It is 0 for b = 2, because p = 1/2 makes both orders of two records equally likely.
    """
    size = check_size(largest)
    if size <= 2:
        return 0.0
    if size == 3:  # at x = ln o with x = (ln 2 - x) / 2
        return math.log(2) / 3
    return math.log(float(subfactorial_ratio(size - 2, 2))) / 4


def log_weights(
    rate: Fraction | float | Rate, size: int, variant: Variant = "listing"
) -> FloatArray:
    """Compute the log probability of one permutation that moves m records of a stratum.

    Parameters
    ----------
    size : int
        Records n of the stratum.
    variant : {"listing", "no redraw", "plain permutation"}
        With "no redraw" a selection of one record does not change the stratum. With "plain
        permutation" a uniform permutation, which may have fixed points, replaces the derangement,
        and no selection is repeated.

    Returns
    -------
    float64 array, shape (n + 1,)
        Indexed by m; NaN for m = 1, which is impossible.

    Raises
    ------
    InputError
        If the rate or the size is out of range, or the variant is unknown.
    """
    n, odds = check_size(size), log_odds(rate)
    check_choice("swapping: the variant", variant, VARIANTS)
    none = -n * np.logaddexp(0.0, odds)  # n ln(1 - p)
    m = np.arange(n + 1)
    weights: FloatArray
    if variant == "plain permutation":
        weights = np.array([_log_plain(odds, n, moved) for moved in range(n + 1)]) + none
    else:
        weights = m * odds - np.where(m == 1, 0.0, log_subfactorial(m)) + none
        lone = math.log(n) + odds + none  # log probability of selecting exactly one record
        if variant == "no redraw":
            weights[0] = np.logaddexp(weights[0], lone)
        else:
            weights -= math.log(-math.expm1(lone))
    if n >= 1:
        weights[1] = math.nan
    return weights


def _log_plain(odds: float, n: int, moved: int) -> float:
    """Compute the log of the sum over s selected records of C(n - m, s - m) o^s / s!."""
    s = np.arange(moved, n + 1)
    choose = gammaln(n - moved + 1) - gammaln(s - moved + 1) - gammaln(n - s + 1)
    return float(logsumexp(choose + s * odds - gammaln(s + 1)))


def worst_case_loss_of_weights(weights: FloatArray) -> float:
    """Compute the worst-case loss from the weights of the permutations, over all pairs.

    Parameters
    ----------
    weights : float64 array, shape (n + 1,)
        From `log_weights`.

    Returns
    -------
    float
        In nats per unit of d_HAM.

    Raises
    ------
    InputError
        If there are more than 3000 records.
    """
    if len(weights) > MAX_ENUMERATED + 1:
        raise InputError(
            f"swapping: {len(weights) - 1} records are too many for all pairs; up to "
            f"{MAX_ENUMERATED} are possible"
        )
    m = np.delete(np.arange(len(weights)), 1)
    if len(m) < 2:
        return 0.0
    distance = np.maximum(2, abs(m[:, None] - m))
    return float((abs(weights[m][:, None] - weights[m]) / distance).max())
