"""Variances of Gaussian and Laplace noise, by the conversion of the slides (TDA) and by others.

One person changes 12 measurements by 1 each: two cells at each of six levels. The Laplace noise
satisfies pure differential privacy. The Gaussian noise satisfies zCDP, which is converted to
approximate differential privacy.

TDA is *The TopDown algorithm and invariants* (slides).
"""

import math
from itertools import product

import numpy as np
import pandas as pd
import scipy

from isdp.accounting.conversions import CONVERSIONS, rho_for
from isdp.accounting.exact_composition import scale_laplace

N_CHANGED = 12  # The number of measurements that one person changes.
DELTAS = (1e-14, 1e-9, 1e-6)
EPSILONS = (1, 2, 3, 4, 5)
EPSILON_RANGE = (1e-3, 1e3)
N_STEPS = 61  # The number of grid points of epsilon in the search for crossings.
N_CELLS = 12e9  # The number of cells of the slides' six levels.
# Variances that the slides print for epsilon = 1 to 5 (TDA, "zCDP/RDP vs Pure DP").
PRINTED_LAPLACE = (288.0, 72.0, 32.0, 18.0, 11.5)
PRINTED_GAUSSIAN = {
    1e-14: (785.6, 199.4, 89.9, 51.3, 33.3),
    1e-9: (509.3, 130.3, 59.2, 34.0, 22.2),
    1e-6: (343.5, 88.8, 40.7, 23.6, 15.6),
}


def variance_gaussian(conversion: str, epsilon: float, delta: float) -> float:
    """Compute the variance of each measurement with Gaussian noise."""
    return N_CHANGED / (2 * rho_for(conversion, epsilon, delta))


def variance_laplace(epsilon: float, delta: float = 0.0) -> float:
    """Compute the variance of each measurement with Laplace noise.

    The composition is pure if delta is 0, and otherwise exact.
    """
    scale = scale_laplace(epsilon, delta, N_CHANGED) if delta else N_CHANGED / epsilon
    return 2 * scale**2


def crossings(conversion: str, delta: float) -> list[float]:
    """Find the values of epsilon in `EPSILON_RANGE` at which the two variances are equal."""

    def advantage(log_epsilon):
        epsilon = math.exp(log_epsilon)
        gaussian = variance_gaussian(conversion, epsilon, delta)
        return math.log(gaussian / variance_laplace(epsilon))

    grid = np.linspace(*np.log(EPSILON_RANGE), N_STEPS)
    signs = np.sign([advantage(x) for x in grid])
    return [
        math.exp(scipy.optimize.brentq(advantage, grid[i], grid[i + 1], xtol=1e-12))
        for i in np.flatnonzero(signs[:-1] != signs[1:])
    ]


def tabulate_noise() -> pd.DataFrame:
    """Compute the variances of an identity query, by delta and epsilon."""
    pairs = list(product(DELTAS, EPSILONS))
    table = pd.DataFrame(pairs, columns=["delta", "epsilon"])
    table["laplace"] = [variance_laplace(epsilon) for _, epsilon in pairs]
    table["laplace_at_delta"] = [variance_laplace(epsilon, delta) for delta, epsilon in pairs]
    for name in CONVERSIONS:
        table[name] = [variance_gaussian(name, epsilon, delta) for delta, epsilon in pairs]
    table["printed_laplace"] = PRINTED_LAPLACE * len(DELTAS)
    table["printed_gaussian"] = [PRINTED_GAUSSIAN[delta][epsilon - 1] for delta, epsilon in pairs]
    table["off_laplace"] = table["laplace"].round(1) - table["printed_laplace"]
    table["off_gaussian"] = table["slides"].round(1) - table["printed_gaussian"]
    return table


def tabulate_conversions() -> pd.DataFrame:
    """Find the largest epsilon at which the Gaussian variance is smaller, for each conversion."""
    rows = [
        (delta, name, max(crossings(name, delta)[-1:], default=0.0))
        for delta, name in product(DELTAS, CONVERSIONS)
    ]
    return pd.DataFrame(rows, columns=["delta", "conversion", "smaller_up_to"])


def tabulate_tails() -> pd.DataFrame:
    """Compare the tails of Gaussian and Laplace noise at epsilon = 1."""
    scale = np.sqrt(variance_laplace(1) / 2)
    rows = []
    for delta in DELTAS:
        sigma = np.sqrt(variance_gaussian("slides", 1, delta))
        steps = np.linspace(0.01, 20 * sigma, 200_001)
        lighter = scipy.stats.norm.logsf(steps / sigma) < scipy.stats.laplace.logsf(steps / scale)
        crossing = steps[np.flatnonzero(~lighter)[-1] + 1]
        probability = 2 * scipy.stats.laplace.sf(crossing / scale)
        gaussian = scipy.stats.norm.isf(0.5 / N_CELLS) * sigma
        laplace = scipy.stats.laplace.isf(0.5 / N_CELLS) * scale
        rows.append((delta, crossing, probability, gaussian, laplace))
    columns = ["delta", "crossing", "probability", "largest_gaussian", "largest_laplace"]
    return pd.DataFrame(rows, columns=columns)


def tabulate_arithmetic() -> pd.DataFrame:
    """Compute three numbers that the slides derive from other printed numbers."""
    rows = [
        ("cells", 12e9, 6e6 * 2 * 63 * 2 * 8),
        ("queries", 3.6e9, 641 * 6e6),
        ("failures", 1e-6, 1e-14 / 4 * 4e8),
    ]
    return pd.DataFrame(rows, columns=["quantity", "printed", "computed"])


def compute_noise_tables() -> dict[str, pd.DataFrame]:
    """Compute all tables of noise, and the data of the figure."""
    tables = {
        "noise": tabulate_noise(),
        "conversions": tabulate_conversions(),
        "tails": tabulate_tails(),
        "arithmetic": tabulate_arithmetic(),
    }
    return tables | {"noise_points": tables["noise"]}
