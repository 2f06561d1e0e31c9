"""Whole files: read within a limit, and written so that no partial file has a result's name."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from isdp.errors import InputError

MAX_BYTES = 200_000_000


@contextmanager
def write_atomically(path) -> Iterator[Path]:
    """Give a temporary path next to `path`, which replaces it at the end of the block.

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
    with write_atomically(path) as temporary:
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
    with write_atomically(path) as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n")


def read_bytes(path, limit: int = MAX_BYTES) -> bytes:
    """Read a file of at most `limit` bytes that is neither missing nor empty.

    Raises
    ------
    InputError
        If it is missing, no file, unreadable, empty or larger.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; give the path of one") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); give a file") from None
    if len(content) > limit:
        raise InputError(
            f"{path.name}: larger than {limit:,} bytes, so not what is wanted; check the file"
        )
    if not content.strip():
        raise InputError(f"{path.name}: the file is empty; put the whole file in its place")
    return content
