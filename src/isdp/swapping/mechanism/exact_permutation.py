"""Swapping for a real release: whole numbers and the operating system's random bits alone.

Coins of a rational chance and numbers below a bound come from uniform words by refusal, and a
derangement is a shuffle that is begun again at its first fixed point: nothing is rounded, and the
permutation has its law itself. How long it takes depends on the draw, and is not hidden.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from isdp.checks import parse_rational
from isdp.errors import InputError
from isdp.swapping.mechanism.compiled_permutations import draw_bernoulli
from isdp.swapping.mechanism.derangements import CHUNK, BitStream
from isdp.swapping.mechanism.permutation import Strata, check_rate, permute

LARGEST_DENOMINATOR = 1 << 32
LARGEST_STRATUM = 1 << 32
RateLike = Fraction | int | str | float  # of a float, the shortest decimal form


def exact_rate(rate: RateLike) -> Fraction:
    """Read a swap rate as the rational number that it is written as: 0.05 for 1/20.

    Raises
    ------
    InputError
        If it is no number between 0 and 1, or has a denominator above 2^32.
    """
    exact = parse_rational("swapping: the swap rate", rate)
    check_rate(exact)
    if exact.denominator > LARGEST_DENOMINATOR:
        raise InputError(
            f"swapping: the swap rate {rate} has too many digits to be tossed exactly; use at "
            f"most nine decimals"
        )
    return exact


def system_bits(source: Callable[[int], bytes] | None = None) -> BitStream:
    """BitStream from the operating system, or from another source of bytes for tests.

    Parameters
    ----------
    source : callable, optional
        ``source(k)`` returns k random bytes; `os.urandom` by default.

    Raises
    ------
    InputError
        When words are taken and the source gives too few bytes.
    """
    source = os.urandom if source is None else source

    def words(count: int) -> np.ndarray:
        raw = source(8 * count)
        if len(raw) != 8 * count:
            raise InputError(
                f"swapping: the source of randomness gave {len(raw)} bytes in place of {8 * count}"
            )
        return np.frombuffer(raw, dtype="<u8").astype(np.uint64)

    return BitStream(words)


def permutation_for_release(
    strata: Strata, rate: RateLike, source: Callable[[int], bytes] | None = None
) -> np.ndarray:
    """Draw the permutation that swaps the records, exactly, from the operating system's bits.

    Parameters
    ----------
    rate : Fraction, int, str or float
        Swap rate; a float stands for its shortest decimal form. Denominators up to 2^32.
    source : callable, optional
        ``source(k)`` returns k random bytes; `os.urandom` by default. Another one is for tests.

    Returns
    -------
    int64 array, shape (records,)
        The record that each record takes its new value from. Confidential.

    Raises
    ------
    InputError
        If the rate or the source is not as it should be, or a stratum is too large.
    """
    rate, words = exact_rate(rate), system_bits(source)
    if strata.max_size >= LARGEST_STRATUM:
        raise InputError(f"swapping: a stratum of {strata.max_size:,} records is too large")
    return permute(strata, lambda count: _toss(words, rate, count), words, exact=True)


def _toss(words: BitStream, rate: Fraction, count: int) -> np.ndarray:
    tosses, done = np.empty(count, dtype=np.bool_), 0
    while done < count:
        ahead = words.ahead(min(CHUNK, count - done))
        done, used = draw_bernoulli(ahead, tosses, done, rate.numerator, rate.denominator)
        words.use(used)
    return tosses
