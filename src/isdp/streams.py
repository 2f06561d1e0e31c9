"""Sources of random numbers: a seeded stream for each job, and the operating system."""

import hashlib
import os
from typing import Final

import numpy as np

from isdp.checks import check_integer


class SystemRandomness:
    """Source of the operating system's random bytes, for noise in a release."""

    def bytes(self, length: int) -> bytes:
        """Return `length` random bytes from `os.urandom`."""
        return os.urandom(length)

    def __repr__(self) -> str:
        return "isdp.SYSTEM_RANDOMNESS"


SYSTEM_RANDOMNESS: Final = SystemRandomness()


def stream(root: int, experiment: str, unit: str = "", replicate: int = 0) -> np.random.Generator:
    """Return the random generator of one job, which is independent of those of other jobs.

    The seed is ``SeedSequence((root, experiment, unit, replicate))``, with hashes of the names.
    Raise `InputError` if `root` or `replicate` is negative or not an integer.

    Parameters
    ----------
    root : int
        The seed of the run, 0 or more.
    experiment, unit : str
        Names, such as "counties" and "IL".
    replicate : int
        Number of the repetition, 0 or more.
    """
    root = check_integer("seed", "root", root)
    replicate = check_integer("seed", "replicate", replicate)
    words = (root, _number(experiment), _number(unit), replicate)
    return np.random.default_rng(np.random.SeedSequence(words))


def _number(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
