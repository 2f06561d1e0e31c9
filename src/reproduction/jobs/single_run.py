"""One run in a folder at a time; a run that was killed leaves nothing behind that blocks the next.

Snakemake's own lock outlives a killed run. The operating system releases this one when the process
ends, however it ends.
"""

import fcntl
import sys
from pathlib import Path

LOCK = Path(".snakemake/isdp-run.lock")
_held = []  # the lock lasts as long as its handle


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
        sys.exit(f"error: {here}: another run uses this folder; wait until it has ended")
    _held.append(handle)
