"""Reading of files up to a maximum size, and atomic writing of files."""

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
    """Yield a temporary path in the folder of `path`, and rename it to `path` at the end.

    After an error or an interrupt, the temporary file is removed and `path` is unchanged.
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
    """Write indented JSON atomically, with the keys in the order of `content`."""
    with write_atomically(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")


def sha256_of(path) -> str:
    """Return the SHA-256 digest of a file as hexadecimal digits."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_json(path):
    """Read the content of a JSON file."""
    return json.loads(Path(path).read_text("utf-8"))


def write_csv(table: pd.DataFrame, path) -> None:
    """Write a table atomically as CSV without its index."""
    with write_atomically(path) as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n")


def read_bytes(path, limit: int = MAX_BYTES) -> bytes:
    """Read a file that has at most `limit` bytes and is not empty.

    Raise `InputError` if the file is missing, unreadable, empty or too large.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file. Give the path of a file") from None
    except OSError as error:
        raise InputError(
            f"{path}: the file cannot be read ({error.strerror}). Give another file"
        ) from None
    if len(content) > limit:
        raise InputError(
            f"{path.name}: the file is larger than {limit:,} bytes. Give the correct file"
        )
    if not content.strip():
        raise InputError(f"{path.name}: the file is empty. Replace it by the complete file")
    return content
