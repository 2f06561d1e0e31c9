"""Describe the version, the commit and the configuration from which a page was made.

This description is never a parameter of a rule, because every new commit would rerun the rule.
"""

import hashlib
import os
import subprocess
from pathlib import Path

from isdp import __version__

HASH_LENGTH = 12  # number of characters of a hash that a page shows


def describe_origin(checkout, config) -> str:
    """Describe the version, the commit and the configuration in one sentence.

    The commit is given only if the folder `checkout` is the top of a git repository. Otherwise the
    sentence could name the commit of another project that contains this folder.
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
    """Return the output of a git command in a folder, or None if git fails or is not installed."""
    # a git hook sets variables that would select another repository
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    # without this option, `git status` takes a lock that makes concurrent git commands fail
    command = ["git", "--no-optional-locks", "-C", str(checkout), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=kept, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.rstrip("\n")
