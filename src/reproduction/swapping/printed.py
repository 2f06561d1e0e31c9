"""Printed tables of the slides on swapping (SWAP): Massachusetts in 1940, and the budgets.

SWAP is *Can Swapping be Differentially Private?* (slides).
"""

import numpy as np
import pandas as pd

TENURES = ("owned", "rented")
PRINTED_RATE = 0.5  # swap rate of the printed swap


def read_massachusetts(path) -> pd.DataFrame:
    """Read the printed table of dwellings by county, before and after the swap."""
    return pd.read_csv(path, index_col="county")


def counts_before(table: pd.DataFrame) -> np.ndarray:
    """Return the counts before the swap as one stratum, int64 of shape (1, 14, 2)."""
    return table[["owned", "rented"]].to_numpy(np.int64)[None]


def counts_after(table: pd.DataFrame) -> np.ndarray:
    """Return the counts after the swap, as int64 of shape (14, 2)."""
    return table[["owned_after", "rented_after"]].to_numpy(np.int64)


def read_budgets(path) -> pd.DataFrame:
    """Read the printed budgets, with one row for each printed number."""
    return pd.read_csv(path, dtype={"census": str})
