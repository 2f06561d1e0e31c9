"""Write and read the CSV files of results."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from isdp.io.files import write_csv


def write_tables(tables: Mapping[str, pd.DataFrame], outputs) -> None:
    """Write each table as CSV to the output file that has its name."""
    for name, table in tables.items():
        write_csv(table, outputs[name])


def read_csv(path, **options) -> pd.DataFrame:
    """Read a table that `write_csv` wrote, with FIPS codes and names as strings."""
    text = {"fips": str, "name": str}
    return pd.read_csv(path, dtype=text, keep_default_na=False, na_values=[""], **options)


def read_csvs(paths) -> pd.DataFrame:
    """Read one table, or concatenate several tables with the same columns."""
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    return pd.concat([read_csv(path) for path in paths], ignore_index=True)


def read_tables(paths: Iterable) -> dict[str, pd.DataFrame]:
    """Read several tables by the names of their files."""
    return {Path(path).stem: read_csv(path) for path in paths}


def read_text(path) -> pd.DataFrame:
    """Read a table with all values as strings."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)
