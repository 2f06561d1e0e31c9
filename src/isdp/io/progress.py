"""How far a long step has come: on a terminal alone, in shares and time, never in counts."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TypeVar

SHOWN_AFTER = 1.0  # seconds
FORMAT = "{desc}: {percentage:3.0f} % |{bar:30}| {remaining} left"

_Item = TypeVar("_Item")
_shown = False  # whether a step is under way whose progress is shown


@contextmanager
def progress(what: str, total: float) -> Iterator[Callable[[float], None]]:
    """Show the progress of a block on the standard error output, where that is a terminal.

    Uses tqdm where it is installed (the extra `progress`), else a plain line. What is shown is
    taken away at the end, also at an error or Ctrl-C. Steps within a step show nothing of their
    own.

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
    with (
        _first(total > 0) as first,
        _bar(what, total) if first else nullcontext(lambda done: None) as at,
    ):
        yield at


def tracked(what: str, items: Sequence[_Item]) -> Iterable[_Item]:
    """Go through items, and show the progress of what is done with each; see `progress`."""
    with progress(what, len(items)) as at:
        for done, item in enumerate(items, start=1):
            yield item
            at(done)


@contextmanager
def announced(what: str, seconds: float) -> Iterator[None]:
    """Say about how long a step takes whose share cannot be told on the way; see `progress`.

    Such as one call of a library, which comes back when all is done. The line stands still, so
    it gives the time of the clock as well.

    Parameters
    ----------
    what : str
        Such as "reducing a basis".
    seconds : float
        A forecast; nothing is shown of what takes less than `SHOWN_AFTER`.
    """
    line = _Line(what, 1)
    with _first(seconds >= SHOWN_AFTER) as first:
        try:
            if first:
                ends = time.strftime("%H:%M:%S", time.localtime(time.time() + seconds))
                line.write(f"{what}: about {seconds:.0f} s, until about {ends}")
            yield
        finally:
            line.clear()


@contextmanager
def _first(show: bool) -> Iterator[bool]:
    """Give whether a step is shown: on a terminal, and within no other that is."""
    global _shown
    first = show and not _shown and sys.stderr.isatty()
    _shown = _shown or first
    try:
        yield first
    finally:
        _shown = _shown and not first


@contextmanager
def _bar(what: str, total: float) -> Iterator[Callable[[float], None]]:
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
        try:
            yield lambda done: bar.update(min(done, total) - bar.n)
        except BaseException:
            # tqdm leaves a line that an interrupt came in the middle of
            if bar.format_dict["elapsed"] >= SHOWN_AFTER:
                sys.stderr.write(f"\r{'':<{shutil.get_terminal_size().columns - 1}}\r")
            raise


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
        self.write(f"{self.what}: {share:.0%}, {left:.0f} s left")

    def write(self, text: str) -> None:
        before, self.written = self.written, max(self.written, len(text))
        sys.stderr.write(f"\r{text:<{before}}")
        sys.stderr.flush()

    def clear(self) -> None:
        if self.written:
            sys.stderr.write(f"\r{'':<{self.written}}\r")
            sys.stderr.flush()
