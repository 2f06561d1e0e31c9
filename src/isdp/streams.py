"""One independent random stream for each job, whatever the number of cores."""

from __future__ import annotations

import hashlib

import numpy as np

from isdp.checks import check_integer


def stream(root: int, experiment: str, unit: str = "", replicate: int = 0) -> np.random.Generator:
    """Random generator of one job, from ``SeedSequence((root, experiment, unit, replicate))``.

    Parameters
    ----------
    root : int
        The seed of the whole run, not negative.
    experiment, unit : str
        Names, such as "counties" and "IL"; hashed, so that a new name never shifts another's
        stream.
    replicate : int
        Number of the repetition, not negative.

    Raises
    ------
    InputError
        If `root` or `replicate` is negative or not a whole number.
    """
    root, replicate = (
        check_integer("seed", "root", root),
        check_integer("seed", "replicate", replicate),
    )
    words = (root, _number(experiment), _number(unit), replicate)
    return np.random.default_rng(np.random.SeedSequence(words))


def _number(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
