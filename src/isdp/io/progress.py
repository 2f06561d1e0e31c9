"""Progress of long steps on a terminal: a percentage and the remaining time, without counts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from shutil import get_terminal_size
from threading import RLock
from typing import TypeVar

from tqdm import tqdm

SHOWN_AFTER = 1.0  # seconds until the progress of a step is shown
FORMAT = "{desc}: {percentage:3.0f} % |{bar:30}| {remaining} left"

_Item = TypeVar("_Item")


class _Bar(tqdm):
    monitor_interval = 0  # start no thread, so that the process can fork


_Bar.set_lock(RLock())  # the default lock is shared by the processes of a fork

_depth = 0  # number of nested steps


@contextmanager
def progress(task: str, total: float) -> Iterator[Callable[[float], None]]:
    """Show the progress of a block on the standard error output if it is a terminal.

    The block receives a function that sets the completed amount of work, of which `total` is the
    maximum. Nothing is shown in the first second, if the total is 0 (unknown), or if the step is
    part of another step.
    """
    global _depth
    _depth += 1
    disable = None if total > 0 and _depth == 1 else True  # with None, tqdm tests for a terminal
    look = {"bar_format": FORMAT, "leave": False, "file": sys.stderr}
    when = {"delay": SHOWN_AFTER, "mininterval": SHOWN_AFTER / 4, "miniters": 0}
    try:
        with _Bar(desc=task, total=total, disable=disable, **look, **when) as bar:
            try:
                yield lambda done: bar.update(min(done, total) - bar.n)
            except BaseException:
                if not bar.disable:  # tqdm does not remove an incomplete line
                    print(f"\r{'':<{get_terminal_size().columns - 1}}\r", end="", file=sys.stderr)
                raise
    finally:
        _depth -= 1


def tracked(task: str, items: Sequence[_Item]) -> Iterable[_Item]:
    """Iterate over items and show the progress of the loop with `progress`."""
    with progress(task, len(items)) as update:
        for done, item in enumerate(items, start=1):
            yield item
            update(done)


def announce(task: str, seconds: float) -> None:
    """Print the expected duration of a step, such as one call of a library, on a terminal.

    Nothing is printed if the task takes less than one second. The task is a noun phrase, such as
    "reducing a basis".
    """
    if seconds >= SHOWN_AFTER and _depth == 0 and sys.stderr.isatty():
        ends = time.strftime("%H:%M:%S", time.localtime(time.time() + seconds))
        print(f"{task}: about {seconds:.0f} s, until about {ends}", file=sys.stderr)
