"""Summaries of the noise in each cell, and the statistics of its box plot."""

import numpy as np
import pandas as pd

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
WHISKER = 1.5  # maximum length of a whisker in interquartile ranges


def describe_cells(noise: np.ndarray, diagnostics: pd.DataFrame) -> pd.DataFrame:
    """Compute summary statistics of the noise in each cell, with one row per cell.

    The noise has shape (chain, draw, cell), and `diagnostics` is from `convergence`. The columns
    are mean, sd, q01 to q99, min, max, mcse and z. The column mcse has the Monte Carlo standard
    error of the mean, and z has the mean divided by mcse.
    """
    flat = noise.reshape(-1, noise.shape[-1])
    table = pd.DataFrame({"mean": flat.mean(axis=0), "sd": flat.std(axis=0, ddof=1)})
    for q, values in zip(QUANTILES, np.quantile(flat, QUANTILES, axis=0), strict=True):
        table[f"q{round(100 * q):02d}"] = values
    table["min"] = flat.min(axis=0)
    table["max"] = flat.max(axis=0)
    table["mcse"] = diagnostics["mcse_mean"].to_numpy()
    table["z"] = table["mean"] / table["mcse"]
    return table


def boxes(noise: np.ndarray) -> pd.DataFrame:
    """List the values that a box plot of each cell of an array (chain, draw, cell) shows.

    The columns are cell, series and value. The series are q1, median, q3, whisker_low,
    whisker_high, extreme and one_draw. The series extreme has each distinct value beyond the
    whiskers, and one_draw has the last draw of the first chain.
    """
    flat = noise.reshape(-1, noise.shape[-1])
    quartiles = np.quantile(flat, (0.25, 0.5, 0.75), axis=0)
    rows: list[tuple[int, str, float]] = []
    for cell, (q1, median, q3) in enumerate(quartiles.T):
        values = np.unique(flat[:, cell])
        max_length = WHISKER * (q3 - q1)
        inside = values[(values >= q1 - max_length) & (values <= q3 + max_length)]
        low, high = inside[0], inside[-1]
        rows += [(cell, "q1", q1), (cell, "median", median), (cell, "q3", q3)]
        rows += [(cell, "whisker_low", low), (cell, "whisker_high", high)]
        rows += [(cell, "extreme", value) for value in values if not low <= value <= high]
        rows.append((cell, "one_draw", noise[0, -1, cell]))
    return pd.DataFrame(rows, columns=["cell", "series", "value"]).astype({"value": float})
