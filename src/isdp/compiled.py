"""Compilation by Numba with a cache that is never out of date.

Numba compiles a cached function again only if its own file changes. Numba ignores changes in files
of functions that the function calls. The name of the cache folder therefore contains a digest of
all source files with compiled functions.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import numba

P = ParamSpec("P")
R = TypeVar("R")

SOURCES = Path(__file__).parent


def cache_folder() -> Path:
    """Return the cache folder for code that is compiled from the current sources.

    The parent of this folder is `numba.config.CACHE_DIR` (environment variable NUMBA_CACHE_DIR) if
    that is set, and otherwise ``~/.cache/isdp``. Raise `RuntimeError` if the user has no home
    folder.
    """
    digest = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*.py")):
        content = path.read_bytes()
        if b"njit" in content:
            digest.update(f"{path.relative_to(SOURCES)}\0".encode() + content + b"\0")
    parent = Path(numba.config.CACHE_DIR or Path.home() / ".cache" / "isdp")
    return parent / f"compiled-{digest.hexdigest()[:16]}"


def _writable_cache_folder() -> str:
    try:
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return ""
    return str(folder)


_FOLDER = _writable_cache_folder()


def njit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function by `numba.njit`, and cache the code.

    If no cache folder is writable, each process compiles the function again. The function may use
    functions and constants of files that contain compiled functions. The digest of the cache
    covers no other files.
    """
    given = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _FOLDER
    try:
        compiled: Callable[P, R] = numba.njit(cache=bool(_FOLDER))(function)
    finally:
        numba.config.CACHE_DIR = given
    return compiled
