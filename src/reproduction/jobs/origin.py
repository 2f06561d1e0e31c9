"""Describe the version, the commit and the configuration from which a page was made.

This description is not a parameter of a rule, because then every new commit would rerun the rule.
"""

import hashlib
import os
import subprocess
from pathlib import Path

from isdp import __version__

HASH_LENGTH = 12  # number of characters of a hash that a page shows


def find_origin(checkout, config) -> dict[str, str | int | None]:
    """Return the version, the commit, the number of changed files, and the config's hash.

    The commit is None if git is not installed, or if the folder `checkout` is not the top of a git
    repository. In this case git could return the commit of another project.
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
    """Describe the version, the commit and the configuration in one sentence."""
    found = find_origin(checkout, config)
    name, changed = "commit not known (not a git checkout)", found["changed_files"]
    if found["commit"]:
        state = "from a clean checkout"
        if changed:
            files = f"{changed} file{'s' * (changed > 1)}"
            state = f"with changes that are not committed ({files})"
        name = f"commit {found['commit'][:HASH_LENGTH]} {state}"
    digest = found["config_sha256"][:HASH_LENGTH]
    return f"Made by version {found['version']}, {name}; SHA-256 of {Path(config).name}: {digest}."


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
