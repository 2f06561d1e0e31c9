"""Random words that a test gives."""

import numpy as np

from isdp.exact.coins import BitSource


def script(*words):
    """A source of the given words, then of zeros."""
    left = list(words)

    def source(count):
        taken = [left.pop(0) if left else 0 for _ in range(count // 8)]
        return np.array(taken, dtype="<u8").tobytes()

    return BitSource(source)


def packed(*shorts):
    """Words of four numbers of 16 bits each, the last one filled with zeros."""
    numbers = np.zeros(-(-len(shorts) // 4) * 4, dtype="<u2")
    numbers[: len(shorts)] = shorts
    return numbers.view("<u8").tolist()
