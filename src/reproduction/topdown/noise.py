"""The slides' noise tables (TDA, last part), and what other conversions make of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import laplace, norm

from isdp.accounting.conversions import CONVERSIONS
from isdp.accounting.preference import crossings, variance_gaussian, variance_laplace

COUNT = 12  # cells that one person changes: two at each of six levels
DELTAS = (1e-14, 1e-9, 1e-6)
EPSILONS = (1, 2, 3, 4, 5)
CELLS = 12e9  # of the slides' six levels


def noise_table() -> pd.DataFrame:
    """Variance of an identity query by delta and epsilon, under each law and conversion.

    Returns
    -------
    DataFrame
        Columns delta, epsilon, laplace, laplace_at_delta (exact composition at that delta) and
        one Gaussian a conversion, by its name.
    """
    rows = []
    for delta in DELTAS:
        for epsilon in EPSILONS:
            row = {
                "delta": delta,
                "epsilon": epsilon,
                "laplace": variance_laplace(epsilon, COUNT),
                "laplace_at_delta": variance_laplace(epsilon, COUNT, delta),
            }
            row |= {name: variance_gaussian(name, epsilon, delta, COUNT) for name in CONVERSIONS}
            rows.append(row)
    return pd.DataFrame(rows)


def conversion_table(deltas=DELTAS) -> pd.DataFrame:
    """Up to which epsilon the Gaussian variance is the smaller one, under each conversion.

    Returns
    -------
    DataFrame
        Columns delta, conversion and smaller_up_to (epsilon; 0 where the Laplace law is better
        from 0.001 on).
    """
    rows = []
    for delta in deltas:
        for name in CONVERSIONS:
            found = crossings(name, delta, COUNT)
            rows.append((delta, name, found[-1] if found else 0.0))
    return pd.DataFrame(rows, columns=["delta", "conversion", "smaller_up_to"])


def tail_table(epsilon: float = 1) -> pd.DataFrame:
    """Where the tails of the slides' two laws cross, and their largest values over all cells.

    Returns
    -------
    DataFrame
        Columns delta, crossing (persons beyond which the Gaussian is the rarer), probability (of
        the two-sided tail there), largest_gaussian and largest_laplace (size that one
        cell of 12e9 is expected to exceed, persons).
    """
    scale = np.sqrt(variance_laplace(epsilon, COUNT) / 2)
    rows = []
    for delta in DELTAS:
        sigma = np.sqrt(variance_gaussian("slides", epsilon, delta, COUNT))
        steps = np.linspace(0.01, 20 * sigma, 200_001)
        lighter = norm.logsf(steps / sigma) < laplace.logsf(steps / scale)
        crossing = steps[np.flatnonzero(~lighter)[-1] + 1]
        rows.append(
            (
                delta,
                crossing,
                2 * laplace.sf(crossing / scale),
                norm.isf(0.5 / CELLS) * sigma,
                laplace.isf(0.5 / CELLS) * scale,
            )
        )
    names = ["delta", "crossing", "probability", "largest_gaussian", "largest_laplace"]
    return pd.DataFrame(rows, columns=names)
