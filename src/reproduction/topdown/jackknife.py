"""Standard errors of what is computed from sums over states, by leaving each out in turn."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np


def jackknife_error(parts, statistic: Callable[[np.ndarray], float]) -> float:
    """Estimate the standard error of a statistic of sums over independent units.

    Parameters
    ----------
    parts : array, shape (units, sums)
        What each unit, such as a state, adds to each sum.
    statistic : function
        Of the sums, shape (sums,).

    Returns
    -------
    float
        Missing where there are fewer than two units.
    """
    parts = np.asarray(parts, dtype=float)
    units = len(parts)
    if units < 2:
        return math.nan
    without = np.array([statistic(each) for each in parts.sum(axis=0) - parts])
    return float(np.sqrt((units - 1) * without.var()))
