"""Probabilities of the permutations of swapping and of its variants, and their worst-case loss.

The proof in `isdp.swapping.privacy.worst_case` also holds for the variants, with other weights.
"""

import math
from typing import Literal, get_args

import numpy as np
from scipy.special import gammaln, logsumexp

from isdp.swapping.mechanism.derangements import MAX_TABULATED, subfactorial
from isdp.swapping.privacy.bound import check_size, log_odds

Variant = Literal["listing", "no redraw", "plain permutation"]
VARIANTS = get_args(Variant)


def log_subfactorial(m) -> np.ndarray:
    """Compute the logarithm of d_m, the number of derangements, with a relative error of 1e-15."""
    m = np.asarray(m, dtype=np.int64)
    table = [subfactorial(k) for k in range(MAX_TABULATED + 1)]
    exact = np.array([math.log(d) if d else -math.inf for d in table])
    return np.where(m <= MAX_TABULATED, exact[np.minimum(m, MAX_TABULATED)], gammaln(m + 1.0) - 1)


def log_weights(rate, size: int, variant: Variant = "listing") -> np.ndarray:
    """Compute the log probability of one permutation that moves m of n records, indexed by m.

    The entry for m = 1 is NaN, because no permutation moves one record. In the variant "no redraw"
    a selection of one record leaves the stratum unchanged. In the variant "plain permutation" a
    uniform permutation, which may have fixed points, replaces the derangement.
    """
    n, odds = check_size(size), log_odds(rate)
    none = -n * np.logaddexp(0.0, odds)  # n ln(1 - p)
    m = np.arange(n + 1)
    if variant == "plain permutation":
        weights = np.array([_log_plain(odds, n, moved) for moved in range(n + 1)]) + none
    else:
        weights = m * odds - np.where(m == 1, 0.0, log_subfactorial(m)) + none
        lone = math.log(n) + odds + none  # log probability of selecting exactly one record
        if variant == "no redraw":
            weights[0] = np.logaddexp(weights[0], lone)
        else:
            weights -= math.log(-math.expm1(lone))
    weights[1] = math.nan
    return weights


def _log_plain(odds: float, n: int, moved: int) -> float:
    """Compute the log of the sum over s selected records of C(n - m, s - m) o^s / s!."""
    s = np.arange(moved, n + 1)
    choose = gammaln(n - moved + 1) - gammaln(s - moved + 1) - gammaln(n - s + 1)
    return float(logsumexp(choose + s * odds - gammaln(s + 1)))


def worst_case_loss_of_weights(weights: np.ndarray) -> float:
    """Compute the worst-case loss from `log_weights` over all pairs, in nats per unit of d_HAM."""
    m = np.delete(np.arange(len(weights)), 1)
    if len(m) < 2:
        return 0.0
    distance = np.maximum(2, abs(m[:, None] - m))
    return float((abs(weights[m][:, None] - weights[m]) / distance).max())
