"""Files that appear together or not at all.

They are written into a hidden folder that only its owner can read, and take their places by
renames at the end. A folder that holds nothing else is replaced as a whole, by one rename, so that
nobody ever sees some of the files; where others lie beside them, they are moved one by one. If a
rename fails, all moves are undone; Ctrl-C and SIGTERM are taken before the first or after the last.
Nothing can be done at SIGKILL: the hidden folder then stays, with a list of its moves, and the next
run undoes them and removes it.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import shutil
import signal
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from isdp.errors import InputError

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOG = logging.getLogger(__name__)
Moves = list[tuple[Path, Path]]


def write_together(folder, names: Collection[str], write: Callable[[Path], None]) -> None:
    """Write several files of a folder so that all of them appear, or none.

    Files of these names that are there already are replaced, also those that are not written anew.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    names : collection of str
        All names that may be written.
    write : callable
        ``write(path)`` writes the files into the folder `path`.

    Raises
    ------
    InputError
        If another run is writing there, or a folder has one of the names.
    OSError
        If a file cannot be written; nothing has changed then.
    """
    folder = Path(os.path.realpath(folder))
    clear_leftovers(folder)
    with _Signals() as signals:
        hidden, lock = _start(folder, names)
        try:
            with signals.allowed():
                write(hidden / "new")
            _move(_moves(folder, hidden, names), hidden)
        finally:
            shutil.rmtree(hidden, ignore_errors=True)
            os.close(lock)


def check_out(
    out: Path, names: Collection[str], inputs: Collection, force: bool, cost: str
) -> None:
    """Refuse a folder in which files of these names cannot be written, or would replace others.

    Parameters
    ----------
    out : Path
    names : collection of str
    inputs : collection of path
        What is read, and must not be overwritten.
    force : bool
        Whether to replace files that are there.
    cost : str
        What each further release costs, for the message.

    Raises
    ------
    InputError
    """
    if os.path.lexists(out) and not out.is_dir():
        raise InputError(f"{out}: this is a file; --out names a folder")
    for name in names:
        path = out / name
        if any(path.exists() and Path(given).exists() and path.samefile(given) for given in inputs):
            raise InputError(f"{path}: this input would be overwritten; choose another --out")
        if path.is_dir():
            raise InputError(f"{path}: this is a folder; choose another --out")
        if os.path.lexists(path) and not force:
            raise InputError(
                f"{path}: is there already; --force replaces it, but each further release of the "
                f"{cost}"
            )


def clear_leftovers(folder) -> None:
    """Undo and remove what a run left that was killed while it wrote into a folder.

    Raises
    ------
    InputError
        If a run is writing there just now, or what lies there is not ours to remove.
    """
    folder = Path(os.path.realpath(folder))
    for hidden in (_beside(folder), _within(folder)):
        if os.path.lexists(hidden):
            _clear(hidden)


def _beside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.unfinished")


def _within(folder: Path) -> Path:
    return folder / ".unfinished"


def _clear(hidden: Path) -> None:
    status = os.lstat(hidden)
    if not hidden.is_dir() or hidden.is_symlink() or status.st_uid != os.geteuid():
        raise InputError(f"{hidden}: this name is needed for unfinished files; remove it")
    lock = _lock(hidden)
    try:
        moves = _read_moves(hidden)
        if moves and os.path.lexists(moves[-1][0]):  # else all of them were done
            _undo(moves)
        shutil.rmtree(hidden)
    finally:
        os.close(lock)
    LOG.warning("%s: left behind by a run that was killed; it has been removed", hidden)


def _lock(hidden: Path) -> int:
    """Lock a folder until the descriptor returned is closed, or this process ends in any way."""
    lock = os.open(hidden, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        if not isinstance(error, BlockingIOError):
            raise
        raise InputError(f"{hidden}: another run is writing there; wait for its end") from None
    return lock


def _start(folder: Path, names: Collection[str]) -> tuple[Path, int]:
    """Make the hidden folder on the file system of `folder`; return it and its lock."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    hidden = _beside(folder) if _replaceable(folder, names) else _within(folder)
    try:
        hidden.mkdir(mode=0o700)
    except FileExistsError:
        raise InputError(f"{hidden}: another run is writing there; wait for its end") from None
    try:
        for inner in ("new", "old"):
            (hidden / inner).mkdir()
        return hidden, _lock(hidden)
    except BaseException:
        shutil.rmtree(hidden, ignore_errors=True)
        raise


def _replaceable(folder: Path, names: Collection[str]) -> bool:
    """Whether a folder can be replaced as a whole: nothing else is in it, and it can be moved."""
    if not folder.exists():
        return True
    movable = not os.path.ismount(folder) and os.access(folder.parent, os.W_OK)
    return movable and set(os.listdir(folder)) <= set(names)


def _moves(folder: Path, hidden: Path, names: Collection[str]) -> Moves:
    """List what has to be renamed to what, in this order."""
    new, old = hidden / "new", hidden / "old"
    for name in names:
        if (folder / name).is_dir() and not (folder / name).is_symlink():
            raise InputError(f"{folder / name}: this is a folder, and not replaced by a file")
    if hidden == _beside(folder):
        if not folder.exists():
            return [(new, folder)]
        shutil.copymode(folder, new)
        return [(folder, old / folder.name), (new, folder)]
    there = [name for name in names if os.path.lexists(folder / name)]
    return [
        *((folder / name, old / name) for name in there),
        *((new / name, folder / name) for name in sorted(os.listdir(new))),
    ]


def _move(moves: Moves, hidden: Path) -> None:
    """Do all moves or none; they are noted first, for the case that this process is killed."""
    names = [[os.path.relpath(path, hidden) for path in pair] for pair in moves]
    (hidden / "moves.json").write_text(json.dumps(names))
    try:
        for source, target in moves:
            os.rename(source, target)
    except BaseException:
        _undo(moves)
        raise


def _read_moves(hidden: Path) -> Moves:
    try:
        names = json.loads((hidden / "moves.json").read_text())
    except (FileNotFoundError, json.JSONDecodeError):  # killed before the first move
        return []
    return [tuple(Path(os.path.normpath(hidden / name)) for name in pair) for pair in names]


def _undo(moves: Moves) -> None:
    for source, target in reversed(moves):
        if not os.path.lexists(source) and os.path.lexists(target):
            os.rename(target, source)


class _Signals:
    """Take Ctrl-C, SIGTERM and SIGHUP only where nothing is half done, and only once.

    Elsewhere than within `allowed` they are put off. One that is still put off at the end is sent
    again then. Handlers run in the main thread alone, so that other threads have nothing to fear.
    """

    def __enter__(self) -> _Signals:
        self.came, self.open, self.before = None, False, {}
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self.before[number] = signal.signal(number, self._take)
        return self

    def __exit__(self, kind, *_) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)
        if self.came is not None and kind is None:
            signal.raise_signal(self.came)

    def _take(self, number: int, _frame) -> None:
        self.came = self.came or number
        if self.open:
            self.open = False
            self._stop()

    def _stop(self) -> None:
        if self.came == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + self.came)

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let signals end the block."""
        self.open = True
        try:
            if self.came is not None:
                self._stop()
            yield
        finally:
            self.open = False
