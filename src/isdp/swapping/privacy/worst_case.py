"""The exact worst-case privacy loss of swapping, for every size of stratum.

In the worst universe all records and all values of the swapping variable differ, so that the
output shows the permutation. The probability of a permutation is proportional to f(m) = o^m / d_m,
where m is the number of moved records. Consider two datasets that differ in d >= 2 records, and
one output. They determine two permutations that move a and a' records with |a - a'| <= d. The loss
per unit of distance is at most |ln f(a) - ln f(a')| / max(2, |a - a'|), and this bound is attained.
"""

from __future__ import annotations

import math
from fractions import Fraction

from isdp.swapping.mechanism.derangements import subfactorial_ratio
from isdp.swapping.privacy.bound import Rate, check_size, log_odds


def worst_case_loss(rate: Fraction | float | Rate, max_size: int) -> float:
    """Compute the exact maximum privacy loss over all universes.

    Parameters
    ----------
    max_size : int
        Records b of the largest stratum.

    Returns
    -------
    float
        In nats per unit of d_HAM. For b >= 4 it is max(ln o, (1/2) ln(d_b / d_{b-2}) - ln o). If
        the second term is the maximum, it is below the published bound by 3 / (2 b) + O(1 / b^2).
    """
    size, odds = check_size(max_size), log_odds(rate)
    if size == 1:
        return 0.0
    if size == 2:
        return abs(odds)
    if size == 3:
        return max(abs(odds), math.log(2) / 3 - odds, abs(math.log(2) - odds) / 2)
    return max(odds, math.log(float(subfactorial_ratio(size - 2, 2))) / 2 - odds)


def min_worst_case_loss(max_size: int) -> float:
    """Compute the minimum of `worst_case_loss` over all rates: (1/4) ln(d_b / d_{b-2}) for b >= 4.

    It is 0 for b = 2, because p = 1/2 makes both orders of two records equally likely.
    """
    size = check_size(max_size)
    if size <= 2:
        return 0.0
    if size == 3:  # at x = ln o with x = (ln 2 - x) / 2
        return math.log(2) / 3
    return math.log(float(subfactorial_ratio(size - 2, 2))) / 4
