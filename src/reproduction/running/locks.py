"""Telling a run that was killed from one that is alive."""

import fcntl
import shutil
from pathlib import Path


def clear_stale_locks(folder: Path):
    """Remove the locks that a killed run left in Snakemake's folder.

    Snakemake cannot tell a killed run from a live one. The operating system can: it takes back
    the lock on a file when the process ends, however it ends. The returned handle holds that lock
    for this process; None means that another run is alive, whose locks stay.

    Parameters
    ----------
    folder : Path
        Snakemake's own folder, ".snakemake".
    """
    folder.mkdir(exist_ok=True)
    handle = open(folder / "isdp-run.lock", "w")  # noqa: SIM115 (held until the process ends)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        handle.close()
        return None
    shutil.rmtree(folder / "locks", ignore_errors=True)
    return handle
