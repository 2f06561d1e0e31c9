"""The slides' noise tables (TDA, last part), and what other conversions make of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy

from isdp.accounting.conversions import CONVERSIONS
from isdp.accounting.preference import crossings, variance_gaussian, variance_laplace

COUNT = 12  # cells that one person changes: two at each of six levels
DELTAS = (1e-14, 1e-9, 1e-6)
EPSILONS = (1, 2, 3, 4, 5)
CELLS = 12e9  # of the slides' six levels
# variances that the slides print, by delta, for epsilon = 1 to 5 (TDA, "zCDP/RDP vs. Pure DP")
PRINTED_LAPLACE = (288.0, 72.0, 32.0, 18.0, 11.5)
PRINTED_GAUSSIAN = {
    1e-14: (785.6, 199.4, 89.9, 51.3, 33.3),
    1e-9: (509.3, 130.3, 59.2, 34.0, 22.2),
    1e-6: (343.5, 88.8, 40.7, 23.6, 15.6),
}


def noise_table() -> pd.DataFrame:
    """Variance of an identity query by delta and epsilon, under each law and conversion.

    Returns
    -------
    DataFrame
        Columns delta, epsilon, laplace, laplace_at_delta (exact composition at that delta), one
        Gaussian a conversion, by its name, printed_laplace and printed_gaussian (the slides'
        numbers), and off_laplace and off_gaussian (ours, rounded as theirs, less the printed).
    """
    rows = []
    for delta in DELTAS:
        for place, epsilon in enumerate(EPSILONS):
            row = {
                "delta": delta,
                "epsilon": epsilon,
                "laplace": variance_laplace(epsilon, COUNT),
                "laplace_at_delta": variance_laplace(epsilon, COUNT, delta),
            }
            row |= {name: variance_gaussian(name, epsilon, delta, COUNT) for name in CONVERSIONS}
            row["printed_laplace"] = PRINTED_LAPLACE[place]
            row["printed_gaussian"] = PRINTED_GAUSSIAN[delta][place]
            row["off_laplace"] = round(row["laplace"], 1) - row["printed_laplace"]
            row["off_gaussian"] = round(row["slides"], 1) - row["printed_gaussian"]
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
        lighter = scipy.stats.norm.logsf(steps / sigma) < scipy.stats.laplace.logsf(steps / scale)
        crossing = steps[np.flatnonzero(~lighter)[-1] + 1]
        rows.append(
            (
                delta,
                crossing,
                2 * scipy.stats.laplace.sf(crossing / scale),
                scipy.stats.norm.isf(0.5 / CELLS) * sigma,
                scipy.stats.laplace.isf(0.5 / CELLS) * scale,
            )
        )
    names = ["delta", "crossing", "probability", "largest_gaussian", "largest_laplace"]
    return pd.DataFrame(rows, columns=names)


def noise_tables() -> dict[str, pd.DataFrame]:
    """Compute all tables of noise, and the points of its figure, by name."""
    variances = noise_table()
    return {
        "noise": variances,
        "conversions": conversion_table(),
        "tails": tail_table(),
        "noise_points": variances,
    }
