"""Run a command as a node of the tests' Slurm: all that comes of it ends with this process.

A slurmd lets go of the processes of its jobs. Here they stay children of this process, by which
they are found, and nobody else's are touched.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys

import psutil

CHILD_SUBREAPER = 36  # of prctl


def living(pid):
    """What a process has started, directly or through others, and is not over."""
    found = []
    with contextlib.suppress(psutil.NoSuchProcess):
        for each in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if each.status() != psutil.STATUS_ZOMBIE:
                    found.append(each)
    return found


def kill_descendants(pid):
    """Kill all that a process has started, but not the process."""
    while found := living(pid):
        for each in found:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        psutil.wait_procs(found, timeout=0.2)


def end(number, frame):
    kill_descendants(os.getpid())
    sys.exit()


if __name__ == "__main__":
    ctypes.CDLL(None).prctl(CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, end)
    subprocess.Popen(sys.argv[1:])
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
