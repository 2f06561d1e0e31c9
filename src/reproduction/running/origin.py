"""Which code and which config made a page, so that a picture can be traced.

Asked when a page is built, and never a rule's parameter: a new commit alone reruns nothing.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

from isdp import __version__

SHOWN = 12  # characters of a hash: enough to name one


def made_by(checkout, config) -> str:
    """Say which version and commit made a page, whether the checkout was clean, and the config.

    Parameters
    ----------
    checkout : path
        Folder of the workflow, at the top of its git repository if it has one.
    config : path
        The config that made the results, of whose bytes the SHA-256 is named.

    Returns
    -------
    str
        A sentence. Without git, or in a folder that is not its repository's own top, it says that
        the commit is not known: another project's commit is never named.
    """
    digest = hashlib.sha256(Path(config).read_bytes()).hexdigest()
    return (
        f"Made by version {__version__}, {_commit(Path(checkout))}; "
        f"SHA-256 of {Path(config).name}: {digest[:SHOWN]}."
    )


def _commit(checkout: Path) -> str:
    top = _git(checkout, "rev-parse", "--show-toplevel")
    commit = _git(checkout, "rev-parse", "--verify", "--quiet", "HEAD")
    status = _git(checkout, "status", "--porcelain")
    if not (top and commit and status is not None and Path(top).samefile(checkout)):
        return "commit not known (not a git checkout)"
    changed = len(status.splitlines())
    state = "from a clean checkout" if not changed else "with changes that are not committed"
    counted = f" ({changed} file{'s' * (changed > 1)})" if changed else ""
    return f"commit {commit[:SHOWN]} {state}{counted}"


def _git(checkout: Path, *arguments: str) -> str | None:
    """Ask git of a folder; None where it is not there or does not know."""
    # a hook's own variables would point it at another repository
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    # no lock, which could disturb what the user does at the same time
    command = ["git", "--no-optional-locks", "-C", str(checkout), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=kept)
    except OSError:
        return None
    return None if done.returncode else done.stdout.rstrip("\n")
