"""Comparison of the variances of Gaussian and Laplace noise at equal epsilon.

One person changes `count` independent measurements by 1 each: 12 on the slides, two cells at each
of six levels. The Laplace noise has epsilon as pure differential privacy, and the Gaussian noise
has epsilon and delta by one of the conversions.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from isdp.accounting.conversions import rho_for
from isdp.accounting.exact_composition import scale_laplace

EPSILON_RANGE = (1e-3, 1e3)  # epsilon
N_STEPS = 61


def variance_gaussian(conversion: str, epsilon: float, delta: float, count: int) -> float:
    """Compute the variance of a Gaussian measurement: count / (2 rho), rho by `conversion`."""
    return count / (2 * rho_for(conversion, epsilon, delta))


def variance_laplace(epsilon: float, count: int, delta: float = 0.0) -> float:
    """Compute the variance of a Laplace measurement: 2 count^2 / epsilon^2, less with a delta."""
    scale = scale_laplace(epsilon, delta, count) if delta else count / epsilon
    return 2 * scale**2


def crossings(conversion: str, delta: float, count: int) -> list[float]:
    """Find the epsilons from 0.001 to 1000 at which the two variances are equal, ascending."""

    def advantage(log_epsilon):
        epsilon = math.exp(log_epsilon)
        gaussian = variance_gaussian(conversion, epsilon, delta, count)
        return math.log(gaussian / variance_laplace(epsilon, count))

    grid = np.linspace(*np.log(EPSILON_RANGE), N_STEPS)
    found = np.array([advantage(x) for x in grid])
    turns = np.flatnonzero(np.sign(found[:-1]) != np.sign(found[1:]))
    return [
        math.exp(scipy.optimize.brentq(advantage, grid[i], grid[i + 1], xtol=1e-12)) for i in turns
    ]
