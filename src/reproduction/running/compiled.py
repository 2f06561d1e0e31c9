"""Where compiled code is kept: a folder of its own for each state of the sources it comes from.

numba keys what it caches by the file of the function that was called. It misses a change in another
file whose functions or constants were compiled in, so the folder's name stands for all files that
hold compiled code; a test sees to it that such code takes nothing from any other file.
"""

import hashlib
import os
from pathlib import Path

SOURCES = Path(__file__).parents[2]


def cache_folder(sources: Path = SOURCES) -> Path:
    """Name the folder for compiled code of the sources as they are now.

    Parameters
    ----------
    sources : Path
        Folder of the packages.

    Returns
    -------
    Path
        In the user's cache folder; it need not exist yet. Equal sources share it anywhere.
    """
    digest = hashlib.sha256()
    for path in sorted((sources / "isdp").rglob("*.py")):
        content = path.read_bytes()
        if b"njit" in content:
            digest.update(f"{path.relative_to(sources)}\0".encode() + content + b"\0")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(home) / "isdp" / f"compiled-{digest.hexdigest()[:16]}"
