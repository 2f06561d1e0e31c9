"""Progress of long steps: on a terminal only, in shares and time, never in counts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from shutil import get_terminal_size
from threading import RLock
from typing import TypeVar

from tqdm import tqdm

SHOWN_AFTER = 1.0  # seconds
FORMAT = "{desc}: {percentage:3.0f} % |{bar:30}| {remaining} left"

_Item = TypeVar("_Item")


class _Bar(tqdm):
    monitor_interval = 0  # no thread of its own, so that a process can still fork


_Bar.set_lock(RLock())  # in place of one that all processes of a fork share

_depth = 0  # number of steps under way, each within the one before


@contextmanager
def progress(what: str, total: float) -> Iterator[Callable[[float], None]]:
    """Show the progress of a block on the standard error output, if it is a terminal.

    A step that takes less than `SHOWN_AFTER` shows nothing, and neither does a step within another.

    Parameters
    ----------
    what : str
        Name of the step, such as "reading".
    total : float
        Total amount of work. If it is 0 (unknown), nothing is shown.

    Yields
    ------
    callable
        ``at(done)`` updates the part of the total that is done.
    """
    global _depth
    _depth += 1
    disable = None if total > 0 and _depth == 1 else True  # None: unless it is a terminal
    look = {"bar_format": FORMAT, "leave": False, "file": sys.stderr}
    when = {"delay": SHOWN_AFTER, "mininterval": SHOWN_AFTER / 4, "miniters": 0}
    try:
        with _Bar(desc=what, total=total, disable=disable, **look, **when) as bar:
            try:
                yield lambda done: bar.update(min(done, total) - bar.n)
            except BaseException:
                if not bar.disable:  # tqdm leaves a line that it was interrupted in writing
                    print(f"\r{'':<{get_terminal_size().columns - 1}}\r", end="", file=sys.stderr)
                raise
    finally:
        _depth -= 1


def tracked(what: str, items: Sequence[_Item]) -> Iterable[_Item]:
    """Iterate over items, and show the progress of what is done with each; see `progress`."""
    with progress(what, len(items)) as at:
        for done, item in enumerate(items, start=1):
            yield item
            at(done)


def announce(what: str, seconds: float) -> None:
    """Say on a terminal about how long a step takes whose progress cannot be followed.

    Such as one call of a library. Nothing is said of what takes less than `SHOWN_AFTER`.

    Parameters
    ----------
    what : str
        Such as "reducing a basis".
    seconds : float
        A forecast.
    """
    if seconds >= SHOWN_AFTER and _depth == 0 and sys.stderr.isatty():
        ends = time.strftime("%H:%M:%S", time.localtime(time.time() + seconds))
        print(f"{what}: about {seconds:.0f} s, until about {ends}", file=sys.stderr)
