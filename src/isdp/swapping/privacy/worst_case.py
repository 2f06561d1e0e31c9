"""The exact worst-case privacy loss of swapping, for strata of any size.

A universe is a set of datasets with equal invariants. In the worst universe all records and all
values of the swapping variable differ, so the output reveals the permutation. A permutation that
moves m records has a probability proportional to f(m) = o^m / d_m. Here o is the odds of the swap
rate, and d_m is the number of derangements of m points.

Consider one output and two datasets that differ in d >= 2 records. The output and each dataset
determine a permutation. The two permutations move a and a' records with |a - a'| <= d. The loss per
unit of distance is at most |ln f(a) - ln f(a')| / max(2, |a - a'|), and this bound is attained.
"""

import math
from fractions import Fraction

from isdp.swapping.mechanism.derangements import subfactorial_ratio
from isdp.swapping.privacy.bound import Rate, check_size, log_odds


def worst_case_loss(rate: Fraction | float | Rate, max_size: int) -> float:
    """Compute the exact maximum privacy loss over all universes, in nats per unit of d_HAM.

    The largest stratum has b = `max_size` records. For b >= 4 the loss is max(ln o, (1/2) ln(d_b /
    d_{b-2}) - ln o). If the second term is the maximum, it is below the published bound by 3 / (2
    b) + O(1 / b^2).
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
    """Compute the minimum of `worst_case_loss` over all swap rates.

    For b >= 4 it is (1/4) ln(d_b / d_{b-2}). For b = 2 it is 0, because p = 1/2 makes both orders
    of two records equally likely.
    """
    size = check_size(max_size)
    if size <= 2:
        return 0.0
    if size == 3:  # the minimum is attained at ln o = (ln 2 - ln o) / 2
        return math.log(2) / 3
    return math.log(float(subfactorial_ratio(size - 2, 2))) / 4
