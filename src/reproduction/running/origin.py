"""The code and the config that made a page.

They are never a rule's parameter: a new commit alone reruns nothing.
"""

import hashlib
import os
import subprocess
from pathlib import Path

from isdp import __version__

HASH_LENGTH = 12  # characters of a hash: enough to name one


def describe_origin(checkout, config) -> str:
    """Name the version and commit that made a page, and the config, in a sentence.

    The checkout is the folder of the workflow. Without git, or in a folder that is not its
    repository's own top, the commit is not known: another project's commit is never named.
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
    """Ask git about a folder; None where there is no git or no answer."""
    # a hook's own variables would point it at another repository
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    # no lock, which could disturb what the user does at the same time
    command = ["git", "--no-optional-locks", "-C", str(checkout), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=kept, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.rstrip("\n")
