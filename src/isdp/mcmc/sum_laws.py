"""The law of a sum of double geometric variables, in logarithms, however far out."""

from __future__ import annotations

import math

import numpy as np

from isdp.compiled import njit

BEYOND = 80  # further terms, in scales, that the ratios take to settle


def sum_log_law(cells: int, epsilon: float, reach: int) -> np.ndarray:
    """Log q(k) for k from 0 to `reach`, up to a constant; q is even.

    q is the law of a sum of m independent variables with P(k) proportional to a^|k|,
    a = exp(-epsilon). Its generating function is a constant times
    ((1 - a z)(1 - a / z))^-m, whose logarithmic derivative gives

        a (k - 1 + m) q(k - 1) = (1 + a^2) k q(k) + a (m - k - 1) q(k + 1).

    q is the solution that falls off, so that ratios are found from far out inwards, without loss.

    Parameters
    ----------
    cells : int
        m, at least 1.
    epsilon : float
    reach : int

    Returns
    -------
    float64 array, shape (reach + 1,)
        Zero at 0.
    """
    last = reach + int(BEYOND / epsilon) + 10 * cells + BEYOND
    log_ratio = _log_ratios(cells, math.exp(-epsilon), reach, last)
    return np.concatenate([[0.0], np.cumsum(log_ratio)])


@njit(cache=True)
def _log_ratios(m, a, reach, last):
    """log(q(k) / q(k - 1)) for k = 1 to `reach`."""
    log_ratio = np.empty(reach)
    ratio = a  # q(k + 1) / q(k), where it begins not to matter what it is
    for k in range(last, 0, -1):
        ratio = a * (k - 1.0 + m) / ((1.0 + a * a) * k + a * (m - k - 1.0) * ratio)
        if k <= reach:
            log_ratio[k - 1] = math.log(ratio)
    return log_ratio
