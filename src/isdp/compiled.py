"""Compilation with a cache that an edit of the sources never leaves stale.

Numba keys cached code by the file of the function that was called. It misses a change in another
file whose functions were compiled in. The cache folder is therefore named by a digest of every
source file that holds compiled functions.
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
    """Name the folder for code compiled from the present sources.

    It lies in `numba.config.CACHE_DIR` (set by the environment variable NUMBA_CACHE_DIR), or else
    in the user's cache folder.

    Raises
    ------
    RuntimeError
        If the user has no home folder.
    """
    digest = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*.py")):
        content = path.read_bytes()
        if b"njit" in content:
            digest.update(f"{path.relative_to(SOURCES)}\0".encode() + content + b"\0")
    parent = Path(numba.config.CACHE_DIR or Path.home() / ".cache" / "isdp")
    return parent / f"compiled-{digest.hexdigest()[:16]}"


def _writable_cache_folder() -> str:
    """Create the cache folder; "" if that is not possible."""
    try:
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return ""
    return str(folder)


_FOLDER = _writable_cache_folder()


def njit(**options: bool | str | dict[str, object]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function as `numba.njit` does, and cache the code for the present sources.

    Without a writable cache folder the function is compiled once in each process.

    Parameters
    ----------
    **options
        Options of `numba.njit`. The function may use functions and constants of files that
        contain compiled functions. The digest covers no other file of the library.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        given = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = _FOLDER
        try:
            compiled: Callable[P, R] = numba.njit(**options | {"cache": bool(_FOLDER)})(function)
        finally:
            numba.config.CACHE_DIR = given
        return compiled

    return decorate
