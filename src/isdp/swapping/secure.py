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

from isdp.checks import exact_number
from isdp.errors import InputError
from isdp.swapping.derangements import CHUNK, Words
from isdp.swapping.kernels import toss_exactly
from isdp.swapping.permutation import Strata, check_rate, check_values, permute

LARGEST_DENOMINATOR = 1 << 32
LARGEST_STRATUM = 1 << 32


def exact_rate(rate) -> Fraction:
    """Read a swap rate as the rational number that it is written as.

    Parameters
    ----------
    rate : Fraction, int, str or float
        A float stands for its shortest decimal form, 0.05 for 1/20.

    Raises
    ------
    InputError
        If it is no number between 0 and 1, or has a denominator above 2^32.
    """
    exact = exact_number("swapping: the swap rate", rate)
    check_rate(exact)
    if exact.denominator > LARGEST_DENOMINATOR:
        raise InputError(
            f"swapping: the swap rate {rate} has too many digits to be tossed exactly; use at "
            f"most nine decimals"
        )
    return exact


def operating_system(source: Callable[[int], bytes] | None = None) -> Words:
    """Words from the operating system, or from another source of bytes for tests.

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

    return Words(words)


def permutation_for_release(strata: Strata, rate, source=None) -> np.ndarray:
    """Draw the permutation that swaps the records, exactly; arguments as `swap_for_release`.

    Returns
    -------
    int64 array, shape (records,)
        The record that each record takes its new value from. Confidential.
    """
    rate, words = exact_rate(rate), operating_system(source)
    if strata.largest >= LARGEST_STRATUM:
        raise InputError(f"swapping: a stratum of {strata.largest:,} records is too large")
    return permute(strata, lambda count: _toss(words, rate, count), words, exact=True)


def _toss(words: Words, rate: Fraction, count: int) -> np.ndarray:
    tosses, done = np.empty(count, dtype=np.bool_), 0
    while done < count:
        ahead = words.ahead(min(CHUNK, count - done))
        done, used = toss_exactly(ahead, tosses, done, rate.numerator, rate.denominator)
        words.use(used)
    return tosses


def swap_for_release(
    strata: Strata, values, rate, source: Callable[[int], bytes] | None = None
) -> np.ndarray:
    """Swap the values of records within strata once, exactly, from the operating system's bits.

    Parameters
    ----------
    values : array, shape (records, ...)
        The swapping variable, or several that go together, a row a record.
    rate : Fraction, int, str or float
        Swap rate; a float stands for its shortest decimal form. Denominators up to 2^32.
    source : callable, optional
        ``source(k)`` returns k random bytes; `os.urandom` by default. Another one is for tests.

    Returns
    -------
    array like `values`
        In the order of the records, which must not be published: it tells where a record was.

    Raises
    ------
    InputError
        If the rate, the values or the source are not as they should be.
    """
    values = check_values(strata, values)
    return values[permutation_for_release(strata, rate, source)]
