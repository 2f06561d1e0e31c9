"""Version, commit and configuration from which a page was made.

They are never parameters of a rule, so that a new commit alone reruns nothing.
"""

import hashlib
import os
import subprocess
from pathlib import Path

from isdp import __version__

HASH_LENGTH = 12  # characters of a hash that identify it


def find_origin(checkout, config) -> dict[str, str | int | None]:
    """Return the version, the commit, its number of changed files, and the hash of the config.

    `checkout` is the folder of the workflow. The commit is None without git, or if the folder is
    not the top of its own repository, so that the commit of another project is never named.
    """
    checkout = Path(checkout)
    top = _git(checkout, "rev-parse", "--show-toplevel")
    commit = _git(checkout, "rev-parse", "--verify", "--quiet", "HEAD")
    status = _git(checkout, "status", "--porcelain")
    known = bool(top and commit and status is not None and Path(top).samefile(checkout))
    return {
        "version": __version__,
        "commit": commit if known else None,
        "changed_files": len(status.splitlines()) if known else None,
        "config_sha256": hashlib.sha256(Path(config).read_bytes()).hexdigest(),
    }


def describe_origin(checkout, config) -> str:
    """State the version, the commit and the configuration from which a page was made."""
    found = find_origin(checkout, config)
    name, changed = "commit not known (not a git checkout)", found["changed_files"]
    if found["commit"]:
        name = f"commit {found['commit'][:HASH_LENGTH]} from a clean checkout"
    if changed:
        files = f"{changed} file{'s' * (changed > 1)}"
        name = (
            f"commit {found['commit'][:HASH_LENGTH]} with changes that are not committed ({files})"
        )
    digest = found["config_sha256"][:HASH_LENGTH]
    return f"Made by version {found['version']}, {name}; SHA-256 of {Path(config).name}: {digest}."


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
