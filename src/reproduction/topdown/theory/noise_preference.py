"""Which of Gaussian and Laplace noise is smaller at equal epsilon, and up to which epsilon.

One person shifts `count` independent measurements by 1 each: 12 on the slides, two cells at each
of six levels. The Laplace noise spends epsilon as pure differential privacy, the Gaussian noise
epsilon and delta by one of the conversions.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from isdp.accounting.conversions import rho_for
from isdp.accounting.exact_composition import scale_laplace

SEARCHED = (1e-3, 1e3)  # epsilon
STEPS = 61


def variance_gaussian(conversion: str, epsilon: float, delta: float, count: int) -> float:
    """Variance of each Gaussian measurement: count / (2 rho), rho by `conversion`."""
    return count / (2 * rho_for(conversion, epsilon, delta))


def variance_laplace(epsilon: float, count: int, delta: float = 0.0) -> float:
    """Variance of each Laplace measurement: 2 count^2 / epsilon^2, less with a delta."""
    scale = scale_laplace(epsilon, delta, count) if delta else count / epsilon
    return 2 * scale**2


def crossings(conversion: str, delta: float, count: int) -> list[float]:
    """Epsilons, increasing, at which the smaller variance passes from one law to the other.

    Parameters
    ----------
    conversion : str
        One of `isdp.accounting.conversions.CONVERSIONS`.

    Returns
    -------
    list of float
        Those between 0.001 and 1000; empty where one law is better throughout.
    """

    def advantage(log_epsilon):
        epsilon = math.exp(log_epsilon)
        gaussian = variance_gaussian(conversion, epsilon, delta, count)
        return math.log(gaussian / variance_laplace(epsilon, count))

    grid = np.linspace(*np.log(SEARCHED), STEPS)
    found = np.array([advantage(x) for x in grid])
    turns = np.flatnonzero(np.sign(found[:-1]) != np.sign(found[1:]))
    return [
        math.exp(scipy.optimize.brentq(advantage, grid[i], grid[i + 1], xtol=1e-12)) for i in turns
    ]
