"""Code that numba compiled for one copy of the packages, given to another copy to save time."""

import shutil
from pathlib import Path

from numba.core.caching import _CacheLocator


def give_compiled(sources: Path, kept: Path, copies: Path, given: Path) -> None:
    """Copy cached code; numba keeps it by the name of the folder of the sources.

    Parameters
    ----------
    sources, copies : Path
        Folders of the packages, and of equal packages that have compiled nothing yet.
    kept, given : Path
        The cache folders of both.
    """
    unfinished = shutil.ignore_patterns("*.tmp.*")  # another process may be at it
    for init in sources.rglob("__init__.py"):
        theirs = copies / init.relative_to(sources)
        before, after = map(_CacheLocator.get_suitable_cache_subpath, (init, theirs))
        if (kept / before).is_dir():
            shutil.copytree(kept / before, given / after, ignore=unfinished)
