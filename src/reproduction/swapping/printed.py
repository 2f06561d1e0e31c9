"""Printed tables of the slides, with the dwellings of Massachusetts in 1940 and the budgets."""

import numpy as np
import pandas as pd

from isdp.errors import InputError

N_COUNTIES = 14
TENURES = ("owned", "rented")
PRINTED_COLUMNS = (
    "owned",
    "rented",
    "total",
    "owned_after",
    "rented_after",
    "total_after",
    "persons",
)
PRINTED_RATE = 0.5  # of the printed swap


def read_massachusetts(path) -> pd.DataFrame:
    """Read the printed table of dwellings by county, before and after the swap.

    Raises InputError if a county or a column is missing, or if a printed sum is wrong.
    """
    table = pd.read_csv(path, index_col="county")
    if not set(PRINTED_COLUMNS) <= set(table.columns) or len(table) != N_COUNTIES:
        raise InputError(
            f"{path}: must have {N_COUNTIES} counties and the columns {', '.join(PRINTED_COLUMNS)}"
        )
    failing = find_failing_sums(table)
    if failing:
        raise InputError(f"{path}: wrong sums: {', '.join(failing)}. Correct the table.")
    return table


def find_failing_sums(table: pd.DataFrame) -> list[str]:
    """List the rows with a wrong sum, and the columns whose sum the swap changes."""
    before = table["owned"] + table["rented"] == table["total"]
    after = table["owned_after"] + table["rented_after"] == table["total_after"]
    kept = table["total"] == table["total_after"]
    rows = [f"row {name}" for name in table.index[~(before & after & kept)]]
    columns = [
        f"column {name}" for name in TENURES if table[name].sum() != table[f"{name}_after"].sum()
    ]
    return rows + columns


def counts_before(table: pd.DataFrame) -> np.ndarray:
    """Return the counts before the swap as one stratum; int64, shape (1, 14, 2)."""
    return table[["owned", "rented"]].to_numpy(np.int64)[None]


def counts_after(table: pd.DataFrame) -> np.ndarray:
    """Return the counts after the swap; int64, shape (14, 2)."""
    return table[["owned_after", "rented_after"]].to_numpy(np.int64)


def read_budgets(path) -> pd.DataFrame:
    """Read the printed budgets, with one row for each printed number."""
    return pd.read_csv(path, dtype={"census": str})
