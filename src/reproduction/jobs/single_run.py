"""A lock that allows one run per folder at a time.

The operating system releases the lock when the process ends. A killed run therefore never blocks
the next one, as Snakemake's own lock would.
"""

import fcntl
import sys
from pathlib import Path

LOCK = Path(".snakemake/isdp-run.lock")
_held = []  # open handles keep the lock


def claim_folder(folder: Path = Path()) -> None:
    """Take the lock of a working directory for this process, or exit with a message."""
    path = folder / LOCK
    path.parent.mkdir(exist_ok=True)
    handle = open(path, "w")  # noqa: SIM115 (held until the process ends)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        handle.close()
        here = folder.resolve()
        sys.exit(f"error: {here}: another run uses this folder; wait until it ends")
    _held.append(handle)
