"""Run tests in copies of the checkout, each in a fork of a process that has imported the rest.

Nothing of the packages or the tests is kept from before the fork, and each run has a copy, a folder
for compiled code and one for temporary files of its own, all gone afterwards. A copy whose fault is
in no compiled file is given the code that was compiled for the whole checkout.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a process with threads does not fork well

import contextlib
import gc
import resource
import shutil
import signal
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import flint  # noqa: F401
import hypothesis  # noqa: F401
import IPython.display  # noqa: F401
import jsonschema  # noqa: F401
import matplotlib.pyplot  # noqa: F401
import nbclient  # noqa: F401
import nbconvert  # noqa: F401
import numba
import pandas  # noqa: F401
import pytest
import scipy.integrate
import scipy.linalg
import scipy.optimize
import scipy.sparse.linalg
import scipy.spatial
import scipy.special
import scipy.stats  # noqa: F401

from tests import ROOT
from tests.compiled_code import give_compiled

CPU_LIMIT = 240  # seconds of processor time; a busy machine does not use them up
LIMIT = 4 * CPU_LIMIT  # seconds on the clock, for what waits and never ends
MEMORY = 6 << 30  # bytes of a trial's addresses: a loop that grows what it holds fails, and alone
OURS = ("isdp", "reproduction", "tests")
COMPILED = ".compiled"  # folder for compiled code, in each checkout
BROKEN = 99  # the exit code of a fork that did not come to run tests
PASSED, FAILED, TIMEOUT = "passed", "failed", "timeout"


@dataclass(frozen=True)
class Trial:
    """Tests to be run in a checkout, or in a copy of it with one file changed.

    Attributes
    ----------
    checkout : Path
    tests : tuple of str
        Files, from the checkout's folder.
    path : str
        File to be changed, from the checkout's folder; none if empty.
    text : str
        What the file holds instead.
    subject : object
        Whatever the caller knows the trial by.
    """

    checkout: Path
    tests: tuple[str, ...]
    path: str = ""
    text: str = ""
    subject: object = None


@dataclass(frozen=True)
class Result:
    """What came of a trial.

    Attributes
    ----------
    trial : Trial
    outcome : str
        PASSED, FAILED or TIMEOUT.
    took : float
        Seconds of processor time.
    log : str
        What pytest printed.
    """

    trial: Trial
    outcome: str
    took: float
    log: str


def run(trials: Iterable[Trial], folder: Path, number: int) -> Iterator[Result]:
    """Run trials side by side; yield each result as it comes.

    Parameters
    ----------
    trials : iterable of Trial
    folder : Path
        For copies and temporary files.
    number : int
        Of trials at a time.

    Raises
    ------
    RuntimeError
        If a trial could not be set up.
    """
    gc.freeze()  # pytest collects garbage at its end: not what all forks share
    running: dict[int, tuple[Trial, Path]] = {}
    try:
        for count, trial in enumerate(trials):
            if len(running) == number:
                yield _first_done(running)
            place = folder / f"trial-{count}"
            place.mkdir()
            pid = os.fork()
            if pid == 0:
                _child(trial, place)
            running[pid] = trial, place
        while running:
            yield _first_done(running)
    finally:
        for pid in running:
            _end(pid)


def _first_done(running: dict[int, tuple[Trial, Path]]) -> Result:
    pid, status, usage = os.wait4(-1, 0)
    _end(pid)
    trial, place = running.pop(pid)
    code, log = os.waitstatus_to_exitcode(status), (place / "log").read_text(errors="replace")
    shutil.rmtree(place, ignore_errors=True)
    if code == BROKEN:
        raise RuntimeError(f"{trial.path or trial.tests}: {log}")
    outcome = TIMEOUT if code in (-signal.SIGXCPU, -signal.SIGALRM) else FAILED
    took = usage.ru_utime + usage.ru_stime
    return Result(trial, PASSED if code == 0 else outcome, took, log)


def _end(pid: int) -> None:
    """End what is left of a trial: it leads a group of processes of its own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _child(trial: Trial, place: Path) -> None:
    """Run the tests of a trial in the process that was forked for it, which ends here."""
    code = BROKEN
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT + 10))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.alarm(LIMIT)
        log = os.open(place / "log", os.O_WRONLY | os.O_CREAT)
        os.dup2(log, 1)
        os.dup2(log, 2)
        checkout = trial.checkout
        if trial.path:
            checkout = place / "checkout"
            shutil.copytree(trial.checkout, checkout, ignore=shutil.ignore_patterns(COMPILED))
            (checkout / trial.path).write_text(trial.text)
            if "njit" not in trial.text:
                for kept in (trial.checkout / COMPILED).glob("*"):
                    given = checkout / COMPILED / kept.name
                    give_compiled(trial.checkout / "src", kept, checkout / "src", given)
        _leave_for(checkout)
        os.environ["NUMBA_CACHE_DIR"] = numba.config.CACHE_DIR = str(checkout / COMPILED)
        os.environ["XDG_CACHE_HOME"] = str(place / "cache")
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # no test needs one, and they cost time
        options = ["-x", "-q", "-p", "no:cacheprovider", f"--basetemp={place / 'tmp'}"]
        code = pytest.main([*options, *trial.tests])
        astray = [name for name, file in _ours() if not file.startswith(str(checkout))]
        if astray:
            print("imported from elsewhere:", *astray)
            code = BROKEN
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(int(code))


def _leave_for(checkout: Path) -> None:
    """Forget our own modules, and find them in another checkout from now on."""
    for name in list(sys.modules):
        if name.split(".")[0] in OURS:
            del sys.modules[name]
    others = [entry for entry in sys.path if Path(entry).resolve() not in (ROOT, ROOT / "src")]
    sys.path[:] = [str(checkout), str(checkout / "src"), *others]
    os.environ["PYTHONPATH"] = str(checkout / "src")  # of processes that tests start
    os.chdir(checkout)


def _ours() -> Iterator[tuple[str, str]]:
    """Modules of ours that are imported, and their files."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in OURS and getattr(module, "__file__", None):
            yield name, module.__file__
