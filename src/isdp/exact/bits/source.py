"""Random bits: 64-bit words and 16-bit words from a source of bytes, and bounded integers.

The source is the operating system for a release, and a seeded generator for experiments.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from isdp.errors import InputError

MIN_WORDS_PER_READ = 256  # a read costs more than the words that it returns
MAX_UINT64 = 2**64 - 1

Source = Callable[[int], bytes]


class BitSource:
    """Random 64-bit words from a source of bytes.

    Parameters
    ----------
    source : callable
        ``source(k)`` returns k random bytes.
    """

    def __init__(self, source: Source):
        self.source = source
        self._unused: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)

    def take(self, count: int) -> NDArray[np.uint64]:
        """Return `count` fresh 64-bit words."""
        if count > len(self._unused):
            wanted = max(count - len(self._unused), MIN_WORDS_PER_READ)
            raw = self.source(8 * wanted)
            if len(raw) != 8 * wanted:
                raise InputError(
                    f"release: the source of randomness returned {len(raw)} bytes, and "
                    f"{8 * wanted} were requested"
                )
            fresh = np.frombuffer(raw, dtype="<u8").astype(np.uint64)
            self._unused = np.concatenate([self._unused, fresh]) if len(self._unused) else fresh
        words, self._unused = self._unused[:count], self._unused[count:]
        return words

    def take_16_bit(self, count: int) -> NDArray[np.uint16]:
        """Return `count` fresh 16-bit words."""
        return self.take(-(-count // 4)).view(np.uint16)[:count]

    def take_one(self) -> int:
        """Return one fresh 64-bit word."""
        return int(self.take(1)[0])


def draw_bounded_integers(bits: BitSource, limits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draw uniform integers from 0 to limit - 1, by the remainder of a word with rejection.

    Parameters
    ----------
    limits : int64 array, shape (n,)
        Positive.

    Returns
    -------
    int64 array, shape (n,)
    """
    unsigned = limits.astype(np.uint64)
    # 2^64 mod limit in 64-bit arithmetic; words beyond the last whole multiple of the limit are
    # rejected
    rest = (np.uint64(MAX_UINT64) % unsigned + np.uint64(1)) % unsigned
    drawn = bits.take(len(unsigned)).copy()
    rejected = np.flatnonzero(drawn > np.uint64(MAX_UINT64) - rest)
    while len(rejected):
        drawn[rejected] = bits.take(len(rejected))
        rejected = rejected[drawn[rejected] > np.uint64(MAX_UINT64) - rest[rejected]]
    return (drawn % unsigned).astype(np.int64)
