"""Where the demonstration data lie that have been obtained."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit


def file_obtained(provenance: Mapping, local_file, cache) -> Path | None:
    """Path of the demonstration data behind a provenance, or None where there are none."""
    if local_file is not None:
        return Path(local_file)
    return Path(cache) / cached(provenance["address"]) if provenance["address"] else None


def file_of(url: str) -> str:
    """Name of the file at an address, in letters that any disk bears."""
    name = PurePosixPath(unquote(urlsplit(url).path)).name.lstrip(".")
    return re.sub(r"[^A-Za-z0-9._-]", "-", name)


def cached(url: str) -> str:
    """Name that the cache gives to what it keeps of an address."""
    # two mirrors may call their file the same, but each has its own address
    return f"{hashlib.sha256(url.encode()).hexdigest()[:8]}-{file_of(url)[-100:]}"
