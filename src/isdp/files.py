"""Writing files so that nothing half-written ever carries a result's name."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
from pandas.api.types import is_numeric_dtype


@contextmanager
def whole(path) -> Iterator[Path]:
    """Give a temporary path beside `path`, which takes its name once the block has ended well.

    On any error or interrupt the temporary file is removed and `path` stays as it was.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path, content) -> None:
    """Write `content` as JSON, readable and in a stable order."""
    with whole(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def read_json(path):
    """Read a JSON file."""
    return json.loads(Path(path).read_text())


def write_csv(table: pd.DataFrame, path) -> None:
    """Write a table as CSV, without its index."""
    with whole(path) as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n")


def write_table(table: pd.DataFrame, csv, markdown) -> None:
    """Write a table as CSV in full precision, and as Markdown for reading."""
    write_csv(table, csv)
    shown = table.map(_shown)
    sides = ["right" if is_numeric_dtype(kind) else "left" for kind in table.dtypes]
    with whole(markdown) as temporary:
        text = shown.to_markdown(index=False, disable_numparse=True, colalign=sides)
        temporary.write_text(text + "\n")


def _shown(value) -> str:
    if pd.isna(value):
        return ""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text.replace("|", r"\|")


def read_csv(path, **options) -> pd.DataFrame:
    """Read a table that `write_csv` wrote; FIPS codes stay text."""
    return pd.read_csv(path, dtype={"fips": str}, keep_default_na=False, na_values=[""], **options)


def read_csvs(paths) -> pd.DataFrame:
    """Read tables of the same columns and put one below the other."""
    return pd.concat([read_csv(path) for path in paths], ignore_index=True)
