"""Reading and writing of tables in CSV or Parquet files, by the extension of the file name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal

import numpy as np

from isdp.checks import check_choice
from isdp.io import csv_files, parquet_files
from isdp.io.csv_files import Column

FORMATS = ("csv", "parquet")
ROW_PER_CELL = "a CSV or Parquet file with one row per cell"
ROW_PER_RECORD = "a CSV or Parquet file with one row per record"
TableFormat = Literal["csv", "parquet"]


def check_format(out_format: str) -> None:
    """Raise `InputError` if the format is unknown, or the package that writes it is missing."""
    check_choice("out_format", out_format, FORMATS)
    if out_format == "parquet":
        parquet_files.import_pyarrow("--out-format")


def is_parquet(path) -> bool:
    """Return True if the name of a file ends in .parquet."""
    return Path(path).suffix.lower() == ".parquet"


def read_columns(path, expected: str, skipped: Collection[str] = ()) -> dict[str, Column]:
    """Read the columns of a table, as `isdp.io.csv_files.read_columns` does."""
    read = parquet_files.read_columns if is_parquet(path) else csv_files.read_columns
    return read(path, expected, skipped)


def write_columns(path, columns: Mapping[str, Column | np.ndarray], source=None) -> None:
    """Write columns of equal length.

    If both files are Parquet files, columns of strings have the same types as in `source`.
    """
    if is_parquet(path):
        given = source if source is not None and is_parquet(source) else None
        parquet_files.write_columns(path, columns, given)
    else:
        csv_files.write_columns(path, columns)
