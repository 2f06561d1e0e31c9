"""Noise tables of the slides (TDA, last part), and the same by other conversions."""

from itertools import product

import numpy as np
import pandas as pd
import scipy

from isdp.accounting.conversions import CONVERSIONS
from reproduction.topdown.theory.noise_preference import (
    crossings,
    variance_gaussian,
    variance_laplace,
)

N_CHANGED = 12  # answers that one person changes, two at each of six levels
DELTAS = (1e-14, 1e-9, 1e-6)
EPSILONS = (1, 2, 3, 4, 5)
N_CELLS = 12e9  # of the slides' six levels
# variances that the slides print, by delta, for epsilon = 1 to 5 (TDA, "zCDP/RDP vs. Pure DP")
PRINTED_LAPLACE = (288.0, 72.0, 32.0, 18.0, 11.5)
PRINTED_GAUSSIAN = {
    1e-14: (785.6, 199.4, 89.9, 51.3, 33.3),
    1e-9: (509.3, 130.3, 59.2, 34.0, 22.2),
    1e-6: (343.5, 88.8, 40.7, 23.6, 15.6),
}


def tabulate_noise() -> pd.DataFrame:
    """Compute the variance of an identity query by delta, epsilon, distribution and conversion."""
    pairs = list(product(DELTAS, EPSILONS))
    table = pd.DataFrame(pairs, columns=["delta", "epsilon"])
    table["laplace"] = [variance_laplace(epsilon, N_CHANGED) for _, epsilon in pairs]
    table["laplace_at_delta"] = [variance_laplace(each, N_CHANGED, delta) for delta, each in pairs]
    for name in CONVERSIONS:
        table[name] = [
            variance_gaussian(name, epsilon, delta, N_CHANGED) for delta, epsilon in pairs
        ]
    table["printed_laplace"] = PRINTED_LAPLACE * len(DELTAS)
    table["printed_gaussian"] = [PRINTED_GAUSSIAN[delta][epsilon - 1] for delta, epsilon in pairs]
    table["off_laplace"] = table["laplace"].round(1) - table["printed_laplace"]
    table["off_gaussian"] = table["slides"].round(1) - table["printed_gaussian"]
    return table


def tabulate_conversions() -> pd.DataFrame:
    """Find the largest epsilon at which the Gaussian variance is smaller, by conversion."""
    rows = [
        (delta, name, max(crossings(name, delta, N_CHANGED)[-1:], default=0.0))
        for delta, name in product(DELTAS, CONVERSIONS)
    ]
    return pd.DataFrame(rows, columns=["delta", "conversion", "smaller_up_to"])


def tabulate_tails(epsilon: float = 1) -> pd.DataFrame:
    """Find the crossing of the two tails, and the largest values of both distributions."""
    scale = np.sqrt(variance_laplace(epsilon, N_CHANGED) / 2)
    rows = []
    for delta in DELTAS:
        sigma = np.sqrt(variance_gaussian("slides", epsilon, delta, N_CHANGED))
        steps = np.linspace(0.01, 20 * sigma, 200_001)
        lighter = scipy.stats.norm.logsf(steps / sigma) < scipy.stats.laplace.logsf(steps / scale)
        crossing = steps[np.flatnonzero(~lighter)[-1] + 1]
        probability = 2 * scipy.stats.laplace.sf(crossing / scale)
        gaussian = scipy.stats.norm.isf(0.5 / N_CELLS) * sigma
        laplace = scipy.stats.laplace.isf(0.5 / N_CELLS) * scale
        rows.append((delta, crossing, probability, gaussian, laplace))
    columns = ["delta", "crossing", "probability", "largest_gaussian", "largest_laplace"]
    return pd.DataFrame(rows, columns=columns)


def compute_noise_tables() -> dict[str, pd.DataFrame]:
    """Compute all tables of noise, and the points of its figure, by name."""
    tables = {
        "noise": tabulate_noise(),
        "conversions": tabulate_conversions(),
        "tails": tabulate_tails(),
    }
    return tables | {"noise_points": tables["noise"]}
