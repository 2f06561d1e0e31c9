"""Sources of randomness: a random stream for each job, and the operating system.

The streams of an experiment do not depend on the number of cores.
"""

from __future__ import annotations

import hashlib
import os
from typing import Final

import numpy as np

from isdp.checks import check_integer


class SystemRandomness:
    """The random bytes of the operating system, for noise that is released."""

    def bytes(self, length: int) -> bytes:
        """Return `length` random bytes from `os.urandom`."""
        return os.urandom(length)

    def __repr__(self) -> str:
        return "isdp.SYSTEM_RANDOMNESS"


SYSTEM_RANDOMNESS: Final = SystemRandomness()


def stream(root: int, experiment: str, unit: str = "", replicate: int = 0) -> np.random.Generator:
    """Random generator of one job, from ``SeedSequence((root, experiment, unit, replicate))``.

    Parameters
    ----------
    root : int
        The seed of the whole run, not negative.
    experiment, unit : str
        Names, such as "counties" and "IL". They are hashed, so that a new name never shifts the
        stream of another.
    replicate : int
        Number of the repetition, not negative.

    Raises
    ------
    InputError
        If `root` or `replicate` is negative or not a whole number.
    """
    root = check_integer("seed", "root", root)
    replicate = check_integer("seed", "replicate", replicate)
    words = (root, _number(experiment), _number(unit), replicate)
    return np.random.default_rng(np.random.SeedSequence(words))


def _number(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
