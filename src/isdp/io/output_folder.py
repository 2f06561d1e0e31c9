"""Output folders whose files appear together or not at all.

The files are written into a new folder next to the output folder, which only its owner can read.
Two renames then put it in place of the old one. If the process is killed, the output folder is the
old one, the new one, or not there, and the folder `NAME.partial-...` stays for the user to remove:
between the renames it holds the old files and the new ones. Nothing in it is reused or removed by
another run.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from isdp.errors import InputError
from isdp.io.csv_files import write_columns
from isdp.io.files import sha256_of, write_json

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class OutputFolder:
    """The output folder of a command, which is refused at once if it cannot be written.

    Attributes
    ----------
    path : Path
    names : collection of str
        All names that may be written.
    inputs : collection of path
        All files that are read; none of them may be overwritten.
    force : bool
        Whether to replace files that exist.
    cost : str
        The cost of each further release, for the message.

    Raises
    ------
    InputError
        If an input does not exist, or files cannot be written into the folder.
    """

    path: Path
    names: Collection[str]
    inputs: Collection
    force: bool
    cost: str

    def __post_init__(self):
        self._check()

    def write(
        self,
        tables: Mapping[str, Mapping],
        documents: Callable[[dict[str, str]], Mapping[str, str | Mapping]],
        save_picture: Callable[..., None] | None = None,
        pictures: Collection[str] = (),
    ) -> None:
        """Write all files of a command, or none; the folder is checked again before it changes.

        Parameters
        ----------
        tables : mapping from file name to columns
            Data frames, or what `isdp.io.csv_files.write_columns` takes.
        documents : callable
            ``documents(digests)`` gives the other files by name, from the SHA-256 of each table:
            texts, and mappings, which are written as JSON.
        save_picture : callable, optional
            ``save_picture(*paths)`` writes the files named in `pictures`.
        """

        def write(folder: Path) -> None:
            for name, columns in tables.items():
                write_columns(folder / name, dict(columns))
            digests = {name: sha256_of(folder / name) for name in tables}
            for name, content in documents(digests).items():
                if isinstance(content, str):
                    (folder / name).write_text(content, encoding="utf-8")
                else:
                    write_json(folder / name, content)
            if save_picture is not None:
                save_picture(*(folder / name for name in pictures))
            self._check()

        write_together(self.path, self.names, write)

    def _check(self) -> None:
        for path in map(Path, self.inputs):
            if not path.exists():
                raise InputError(f"{path}: there is no such file; give the path of one")
        for name in self.names:
            path = self.path / name
            if path.exists() and any(path.samefile(given) for given in self.inputs):
                raise InputError(f"{path}: this input would be overwritten; choose another --out")
        _refuse_unfit(self.path, self.names)
        for name in self.names:
            if os.path.lexists(self.path / name) and not self.force:
                raise InputError(
                    f"{self.path / name}: this file exists; --force replaces it, but each further "
                    f"release of the {self.cost}"
                )


def write_together(folder, names: Collection[str], write: Callable[[Path], None]) -> None:
    """Replace an output folder by one with new files.

    Signals that end the process do so before the first rename or after the last.

    Parameters
    ----------
    folder : path
        Made if it does not exist.
    names : collection of str
        All names that may be written, the only ones that the folder may have.
    write : callable
        ``write(path)`` writes the files into the folder `path`.

    Raises
    ------
    InputError
        If the folder has other files.
    OSError
        If a file cannot be written; nothing has changed then.
    """
    folder = Path(os.path.realpath(folder))
    _refuse_unfit(folder, names)
    folder.parent.mkdir(parents=True, exist_ok=True)
    came: list[int] = []
    with _signals_taken_by(lambda number, _: came.append(number)):
        partial = Path(tempfile.mkdtemp(prefix=f"{folder.name}.partial-", dir=folder.parent))
        new, old = partial / "new", partial / "old"
        try:
            new.mkdir()
            with _signals_taken_by(_end):
                write(new)
            _refuse_unfit(folder, names)
            _replace(folder, new, old)
            for name in names:
                (old / name).unlink(missing_ok=True)
        except OSError as error:
            if error.filename is None and error.errno is not None:  # as of a full disk
                raise OSError(error.errno, error.strerror, str(folder)) from error
            raise
        finally:
            shutil.rmtree(new, ignore_errors=True)
            for emptied in (old, partial):
                with suppress(OSError):
                    emptied.rmdir()
    if came:
        signal.raise_signal(came[0])


def _refuse_unfit(folder: Path, names: Collection[str]) -> None:
    """Refuse a file, a mount point, a folder with other files, and one next to which none fits."""
    parents = Path(os.path.realpath(folder)).parents
    parent = next((path for path in parents if path.exists()), Path("/"))
    if not parent.is_dir():
        raise InputError(f"{parent}: this is a file; --out needs a folder there")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"{parent}: no permission to write into this folder; choose another --out")
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: this is a file; --out names a folder")
    for name in sorted(os.listdir(folder)):
        path = folder / name
        if name not in names:
            raise InputError(f"{path}: this folder has other files; choose another --out")
        if path.is_dir():
            raise InputError(f"{path}: this is a folder; choose another --out")
    if os.path.ismount(folder):
        raise InputError(f"{folder}: a mount point cannot be replaced; choose a folder in it")


def _replace(folder: Path, new: Path, old: Path) -> None:
    """Rename a folder to `old`, if it exists, and `new` to it; both or none."""
    existed = folder.exists()
    if existed:
        shutil.copymode(folder, new)
        os.rename(folder, old)
    try:
        os.rename(new, folder)
    except OSError:
        if existed:
            os.rename(old, folder)
        raise


def _end(number: int, _frame) -> None:
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


@contextmanager
def _signals_taken_by(handler: Callable) -> Iterator[None]:
    """Handle the signals that are not ignored, in the main thread, where Python runs handlers."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
