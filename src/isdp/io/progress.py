"""How far a long step has come: on a terminal alone, in shares and time, never in counts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SHOWN_AFTER = 1.0  # seconds
FORMAT = "{desc}: {percentage:3.0f} % |{bar:30}| {remaining} left"


@contextmanager
def progress(what: str, total: float) -> Iterator[Callable[[float], None]]:
    """Show the progress of a block on the standard error output, where that is a terminal.

    Uses tqdm where it is installed (the extra `progress`), else a plain line. What is shown is
    taken away at the end, also at an error or Ctrl-C.

    Parameters
    ----------
    what : str
        Such as "reading".
    total : float
        All that there is to do; 0 where that is not known, and nothing is shown.

    Yields
    ------
    callable
        ``at(done)`` tells how much of the total is done.
    """
    if total <= 0 or not sys.stderr.isatty():
        yield lambda done: None
        return
    try:
        from tqdm import tqdm
    except ModuleNotFoundError:
        line = _Line(what, total)
        try:
            yield line.at
        finally:
            line.clear()
        return
    shown = {"desc": what, "total": total, "bar_format": FORMAT, "leave": False}
    when = {"delay": SHOWN_AFTER, "mininterval": SHOWN_AFTER / 4, "miniters": 0}
    with tqdm(**shown, **when, file=sys.stderr) as bar:
        yield lambda done: bar.update(min(done, total) - bar.n)


class _Line:
    """One line that is written over itself."""

    def __init__(self, what: str, total: float):
        self.what, self.total = what, total
        self.started = self.last = time.monotonic()
        self.written = 0

    def at(self, done: float) -> None:
        now = time.monotonic()
        if now - self.started < SHOWN_AFTER or now - self.last < SHOWN_AFTER / 4 or done <= 0:
            return
        self.last, share = now, min(1.0, done / self.total)
        left = (now - self.started) * (1 - share) / share
        text = f"{self.what}: {share:.0%}, {left:.0f} s left"
        sys.stderr.write(f"\r{text:<{self.written}}")
        sys.stderr.flush()
        self.written = len(text)

    def clear(self) -> None:
        if self.written:
            sys.stderr.write(f"\r{'':<{self.written}}\r")
            sys.stderr.flush()
