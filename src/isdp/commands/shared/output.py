"""The output folder of a command, which is checked before anything is read or drawn."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from isdp.io.output_folder import OutputFolder


def output_folder(
    out: str | Path,
    names: Collection[str],
    *inputs: str | Path | None,
    force: bool,
    cost: str = "same table costs its budget again",
) -> OutputFolder:
    """Return the output folder of a command.

    Parameters
    ----------
    names : collection of str
        All file names that the command may write.
    *inputs : path or None
        Files that the command reads, or None for an optional file that is not given.
    cost : str
        The end of the sentence "each further release of the ..." in the message about existing
        files.
    """
    given = [path for path in inputs if path is not None]
    return OutputFolder(Path(out), names, given, force, cost)
