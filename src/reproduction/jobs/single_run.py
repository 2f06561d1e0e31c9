"""A lock that allows one run per folder at a time.

The operating system releases the lock when the process ends. A killed run therefore does not block
the next one. Snakemake's own lock would block it.
"""

import fcntl
import sys
from pathlib import Path

LOCK = Path(".snakemake/isdp-run.lock")
_handles = []  # the lock exists while its file is open


def claim_folder() -> None:
    """Acquire the lock of the working directory for this process, or exit with a message."""
    LOCK.parent.mkdir(exist_ok=True)
    handle = open(LOCK, "w")  # noqa: SIM115 (it stays open until the process ends)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        handle.close()
        sys.exit(f"error: {Path.cwd()}: another run uses this folder. Wait until it ends.")
    _handles.append(handle)
