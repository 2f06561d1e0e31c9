"""Version, commit and configuration from which a page was made.

They are never parameters of a rule, so that a new commit alone reruns nothing.
"""

import hashlib
import os
import subprocess
from pathlib import Path

from isdp import __version__

HASH_LENGTH = 12  # characters of a hash that identify it


def describe_origin(checkout, config) -> str:
    """State the version, the commit and the configuration from which a page was made.

    `checkout` is the folder of the workflow. The commit is unknown without git, or if the folder is
    not the top of its own repository, so that the commit of another project is never named.
    """
    digest = hashlib.sha256(Path(config).read_bytes()).hexdigest()
    return (
        f"Made by version {__version__}, {_commit(Path(checkout))}; "
        f"SHA-256 of {Path(config).name}: {digest[:HASH_LENGTH]}."
    )


def _commit(checkout: Path) -> str:
    top = _git(checkout, "rev-parse", "--show-toplevel")
    commit = _git(checkout, "rev-parse", "--verify", "--quiet", "HEAD")
    status = _git(checkout, "status", "--porcelain")
    if not (top and commit and status is not None and Path(top).samefile(checkout)):
        return "commit not known (not a git checkout)"
    if not status:
        return f"commit {commit[:HASH_LENGTH]} from a clean checkout"
    changed = len(status.splitlines())
    files = f"{changed} file{'s' * (changed > 1)}"
    return f"commit {commit[:HASH_LENGTH]} with changes that are not committed ({files})"


def _git(checkout: Path, *arguments: str) -> str | None:
    """Run a git command in a folder; return None without git or without an answer."""
    # the variables of a git hook would select another repository
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    # a lock could disturb the user's own git commands
    command = ["git", "--no-optional-locks", "-C", str(checkout), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=kept, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.rstrip("\n")
