"""Writing files so that nothing half-written ever carries a result's name."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd


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


def sha256_of(path) -> str:
    """SHA-256 of a file of any length, as hexadecimal digits."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_json(path):
    """Read a JSON file."""
    return json.loads(Path(path).read_text())


def write_csv(table: pd.DataFrame, path) -> None:
    """Write a table as CSV, without its index."""
    with whole(path) as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n")
