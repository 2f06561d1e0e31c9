"""Random 64-bit words for compiled loops: SFC64, as in `numpy.random.SFC64`, inlined.

A call of a NumPy generator from compiled code takes several times as long as a word of this one.
The seed comes from a NumPy generator, so equal seeds of that one give equal words.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

ROUNDS_TO_MIX_A_SEED = 12
UNIT = 2.0**-53


@njit(cache=True)
def words_from(rng):
    """State of a stream of words, seeded by a NumPy generator.

    Parameters
    ----------
    rng : numpy.random.Generator
        Gives 192 bits.

    Returns
    -------
    uint64 array, shape (4,)
    """
    state = np.empty(4, dtype=np.uint64)
    for i in range(3):
        high, low = rng.integers(0, 1 << 32), rng.integers(0, 1 << 32)
        state[i] = (np.uint64(high) << np.uint64(32)) | np.uint64(low)
    state[3] = 1
    for _ in range(ROUNDS_TO_MIX_A_SEED):
        next_word(state)
    return state


@njit(cache=True, inline="always")
def mixed(a, b, c, count):
    """One round: the word that comes out, and the state after it."""
    word = a + b + count
    turned = (c << np.uint64(24)) | (c >> np.uint64(40))
    return (
        word,
        b ^ (b >> np.uint64(11)),
        c + (c << np.uint64(3)),
        turned + word,
        count + np.uint64(1),
    )


@njit(cache=True)
def next_word(state):
    """Take the next word of the stream, uint64."""
    word, state[0], state[1], state[2], state[3] = mixed(state[0], state[1], state[2], state[3])
    return word


@njit(cache=True)
def uniform(state):
    """Draw from [0, 1), in multiples of 2^-53."""
    return np.float64(np.int64(next_word(state) >> np.uint64(11))) * UNIT


@njit(cache=True)
def below(state, limit):
    """Draw an integer from 0 to limit - 1, all equally likely; 0 < limit <= 2^53."""
    if limit < 1 << 32:
        # a product's upper half, after the few lower halves that would favour some are refused
        size = np.uint64(limit)
        while True:
            product = (next_word(state) >> np.uint64(32)) * size
            low = product & np.uint64(0xFFFFFFFF)
            if low >= size or low >= np.uint64(1 << 32) % size:
                return np.int64(product >> np.uint64(32))
    while True:
        drawn = np.int64(next_word(state) >> np.uint64(11))
        if drawn < (1 << 53) - (1 << 53) % limit:
            return drawn % limit


@intrinsic
def lowest_bit(typing_context, word):
    """Position of the lowest one of a word that is not zero."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def ones(typing_context, word):
    """Count the ones of a word."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate
