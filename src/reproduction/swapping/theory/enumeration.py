"""Swapping by enumeration, in exact rational numbers, for strata of a few records.

This is the reference for the closed forms. It enumerates every permutation, every assignment of the
swapping variable that agrees on the invariants, and every output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import permutations

from isdp.errors import InputError
from isdp.swapping.mechanism.derangements import subfactorial
from isdp.swapping.mechanism.exact_permutation import RateLike, exact_rate

MAX_RECORDS = 8
Law = dict[Hashable, Fraction]


def permutation_distribution(size: int, rate: RateLike) -> dict[tuple[int, ...], Fraction]:
    """Compute the exact probability of every permutation of a stratum of 1 to 8 records.

    Raises InputError if there are more than 8 records, or if the rate is not between 0 and 1.
    """
    if not 1 <= size <= MAX_RECORDS:
        raise InputError(f"swapping: size: must be 1 to {MAX_RECORDS} for enumeration, got {size}")
    p = exact_rate(rate)
    if size == 1:
        return {(0,): Fraction(1)}
    no_redraw = 1 - size * p * (1 - p) ** (size - 1)
    chance = {
        m: p**m * (1 - p) ** (size - m) / (subfactorial(m) * no_redraw)
        for m in range(size + 1)
        if m != 1  # no permutation moves one record
    }
    return {
        sigma: chance[sum(i != j for i, j in enumerate(sigma))]
        for sigma in permutations(range(size))
    }


def output_distribution(
    swapped: Sequence, held: Sequence, rate: RateLike, *, table: bool = False
) -> Law:
    """Compute the distribution of the release for one dataset of one stratum.

    `swapped` has the value of the swapping variable of each record, and `held` its other values.
    With `table` the release is the multiset of records, otherwise the list of new values by record.
    """
    law: Law = {}
    for sigma, chance in permutation_distribution(len(swapped), rate).items():
        output: Hashable = tuple(swapped[source] for source in sigma)
        if table:
            output = tuple(sorted(Counter(zip(output, held, strict=True)).items()))
        law[output] = law.get(output, Fraction(0)) + chance
    return law


def distance(first: Sequence, second: Sequence, held: Sequence) -> int:
    """Count the records in which two datasets differ, irrespective of order: d_HAM."""
    one, other = (Counter(zip(values, held, strict=True)) for values in (first, second))
    return (one - other).total()
