"""Output folders whose files appear all together or not at all.

A command writes its files into a new folder ``NAME.partial-...`` next to the output folder. Only
the owner can read the new folder. Two renames then replace the output folder. If the process is
killed, the output folder is the old folder, the new folder, or missing. In this case the partial
folder remains and contains the other files. No run uses or removes the partial folder of another
run.
"""

from __future__ import annotations

import logging
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
from isdp.io.files import sha256_of, write_json
from isdp.io.tables import write_columns

LOG = logging.getLogger(__name__)
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class OutputFolder:
    """Output folder of a command, which is checked at the start and again before it changes.

    Attributes
    ----------
    path : Path
    names : collection of str
        The names of all files that the command may write.
    inputs : collection of path
        The files that the command reads and must not overwrite.
    force : bool
        Replace existing files.
    cost : str
        The privacy cost of another release, for the message about existing files.

    Raises
    ------
    InputError
        If an input does not exist, or the folder cannot be written.
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
        source: Path | str | None = None,
    ) -> None:
        """Write all files of a command or none.

        Parameters
        ----------
        tables : mapping from file name to columns
            Columns as for `isdp.io.tables.write_columns`, or a data frame.
        documents : callable
            ``documents(digests)`` returns the other files by name. A file is a string, or a mapping
            that is written as JSON. ``digests`` contains the SHA-256 digest of each table.
        save_picture : callable, optional
            ``save_picture(*paths)`` writes the files whose names are in `pictures`.
        source : path, optional
            The input table. A Parquet table keeps the column types of the input.
        """

        def write(folder: Path) -> None:
            for name, columns in tables.items():
                write_columns(folder / name, dict(columns), source)
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
                raise InputError(f"{path}: there is no such file. Give the path of a file")
        for name in self.names:
            path = self.path / name
            if path.exists() and any(path.samefile(given) for given in self.inputs):
                raise InputError(f"{path}: this input would be overwritten. Choose another --out")
        _refuse_unusable(self.path, self.names)
        for name in self.names:
            if os.path.lexists(self.path / name) and not self.force:
                raise InputError(
                    f"{self.path / name}: this file exists. The option --force replaces it, but "
                    f"each further release of the {self.cost}"
                )


def write_together(folder, names: Collection[str], write: Callable[[Path], None]) -> None:
    """Replace an output folder by a folder with new files, or create it.

    A signal ends the process before the first rename or after the second, and not between them.

    Parameters
    ----------
    folder : path
    names : collection of str
        The names of all files that may be written. The old folder must have no other files.
    write : callable
        ``write(path)`` writes the files into the folder `path`.

    Raises
    ------
    InputError
        If the folder has other files, or cannot be written.
    OSError
        If a file cannot be written. The output folder is unchanged in this case.
    """
    folder = Path(os.path.realpath(folder))
    _refuse_unusable(folder, names)
    folder.parent.mkdir(parents=True, exist_ok=True)
    received: list[int] = []
    with _handle_signals(lambda number, _: received.append(number)):
        partial = Path(tempfile.mkdtemp(prefix=f"{folder.name}.partial-", dir=folder.parent))
        new, old = partial / "new", partial / "old"
        try:
            new.mkdir()
            with _handle_signals(_end):
                write(new)
            _refuse_unusable(folder, names)
            _replace(folder, new, old)
            for name in names:
                (old / name).unlink(missing_ok=True)
        except OSError as error:
            if error.filename is None and error.errno is not None:  # for example, the disk is full
                raise OSError(error.errno, error.strerror, str(folder)) from error
            raise
        finally:
            shutil.rmtree(new, ignore_errors=True)
            for emptied in (old, partial):
                with suppress(OSError):
                    emptied.rmdir()
            if partial.exists():
                LOG.warning("%s: this folder could not be removed. Delete it", partial)
    if received:
        signal.raise_signal(received[0])


def _refuse_unusable(folder: Path, names: Collection[str]) -> None:
    parents = Path(os.path.realpath(folder)).parents
    parent = next((path for path in parents if path.exists()), Path("/"))
    if not parent.is_dir():
        raise InputError(f"{parent}: this is a file. Choose an --out in a folder")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"{parent}: you may not write into this folder. Choose another --out")
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: this is a file. Choose a folder as --out")
    for name in sorted(os.listdir(folder)):
        path = folder / name
        if name not in names:
            raise InputError(f"{path}: the folder --out has other files. Choose another --out")
        if path.is_dir():
            raise InputError(f"{path}: this is a folder. Choose another --out")
    if os.path.ismount(folder):
        raise InputError(f"{folder}: a mount point cannot be replaced. Choose a folder in it")


def _replace(folder: Path, new: Path, old: Path) -> None:
    """Replace `folder` by `new`, and keep an existing folder as `old`. An error changes nothing."""
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
def _handle_signals(handler: Callable) -> Iterator[None]:
    """Install a handler for the signals that are not ignored, if this is the main thread."""
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
