"""Random words of 64 and 16 bits from a source of bytes, and bounded integers.

The source of bytes is the operating system for releases, and a seeded generator for experiments.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from isdp.errors import InputError

MIN_WORDS_PER_READ = 256  # number of 64-bit words; smaller reads are mostly overhead
MAX_UINT64 = 2**64 - 1

Source = Callable[[int], bytes]


def bytes_of(rng: np.random.Generator) -> Source:
    """Return a source with the bytes of ``rng.bytes``, in multiples of 8.

    `Generator.bytes` joins halves of 64-bit words, which takes several times as long as drawing
    whole words. It is called only if the generator has kept half of a word.
    """

    def source(count: int) -> bytes:
        if rng.bit_generator.state.get("has_uint32", 1):
            return rng.bytes(count)
        words = rng.integers(0, MAX_UINT64, count // 8, np.uint64, endpoint=True)
        return words.astype("<u8", copy=False).tobytes()

    return source


class BitSource:
    """Random 64-bit words from a source of bytes, of which ``source(k)`` returns k random bytes."""

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
                    f"source: {8 * wanted} random bytes were requested, and {len(raw)} were "
                    f"returned. Use a source that returns the requested number of bytes."
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
    """Draw a uniform integer from 0 to limit - 1 for each positive limit, as int64 of shape (n,).

    The integer is the remainder of a random word. Words beyond the last full multiple of the limit
    are rejected, so that all remainders are equally likely.
    """
    unsigned = limits.astype(np.uint64)
    # 2^64 mod limit, in 64-bit arithmetic
    rest = (np.uint64(MAX_UINT64) % unsigned + np.uint64(1)) % unsigned
    drawn = bits.take(len(unsigned)).copy()
    rejected = np.flatnonzero(drawn > np.uint64(MAX_UINT64) - rest)
    while len(rejected):
        drawn[rejected] = bits.take(len(rejected))
        rejected = rejected[drawn[rejected] > np.uint64(MAX_UINT64) - rest[rejected]]
    return (drawn % unsigned).astype(np.int64)
