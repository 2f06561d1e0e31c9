"""Permutation swapping for release, in integer arithmetic with the operating system's random bits.

Bernoulli draws of rational probability and bounded integers come from uniform 64-bit integers by
rejection (Lemire 2019). A derangement is drawn by a shuffle that restarts at its first fixed point.
No step rounds, so the distribution is exact. The running time depends on the random draws, and no
measure hides this dependence.
"""

import os
from fractions import Fraction

import numpy as np

from isdp.arrays import BoolArray, IntArray
from isdp.checks import ExactNumber, parse_rational
from isdp.errors import InputError
from isdp.exact.bits.source import BitSource, Source
from isdp.swapping.mechanism.compiled_permutations import draw_bernoulli
from isdp.swapping.mechanism.derangements import MAX_READ, BitStream
from isdp.swapping.mechanism.permutation import Strata, check_rate, permute

MAX_DENOMINATOR = 1 << 32
MAX_STRATUM_SIZE = (1 << 32) - 1


def exact_rate(rate: ExactNumber) -> Fraction:
    """Convert a swap rate to a rational number, for example 0.05 to 1/20.

    Raise `InputError` if the rate is not between 0 and 1, or has a denominator above 2^32.
    """
    exact = parse_rational("swapping: the swap rate", rate)
    check_rate(exact)
    if exact.denominator > MAX_DENOMINATOR:
        raise InputError(
            f"swapping: the swap rate {rate} has too many digits for exact draws. Use at most nine "
            f"decimals."
        )
    return exact


def permutation_for_release(
    strata: Strata, rate: ExactNumber, source: Source | None = None
) -> IntArray:
    """Draw the swapping permutation exactly, with random bits of the operating system.

    The result lists, for each record, the number of the record whose value it takes. The array is
    confidential. Raise `InputError` if the rate or the source is invalid, or a stratum is too
    large.

    Parameters
    ----------
    rate : Fraction, int, str or float
        Swap rate, with a denominator of at most 2^32.
    source : callable, optional
        ``source(k)`` returns k random bytes. The default is `os.urandom`. Use another source only
        in tests.
    """
    exact, bits = exact_rate(rate), BitStream(BitSource(source or os.urandom).take)
    if strata.max_size > MAX_STRATUM_SIZE:
        raise InputError(
            f"swapping: a stratum has more than {MAX_STRATUM_SIZE:,} records. Use a finer swap key."
        )
    return permute(strata, lambda count: _draw_bernoulli(bits, exact, count), bits, exact=True)


def _draw_bernoulli(bits: BitStream, rate: Fraction, count: int) -> BoolArray:
    draws, done = np.empty(count, dtype=np.bool_), 0
    while done < count:
        ahead = bits.peek(min(MAX_READ, count - done))
        done, used = draw_bernoulli(ahead, draws, done, rate.numerator, rate.denominator)
        bits.consume(used)
    return draws
