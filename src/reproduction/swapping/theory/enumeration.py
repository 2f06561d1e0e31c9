"""Swapping by enumeration, in exact rational numbers, for strata of a few records.

The slow and plain way, by which the closed forms are judged: every permutation, every assignment
of the swapping variable that agrees on the invariants, every output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import permutations

from isdp.errors import InputError
from isdp.swapping.mechanism.derangements import subfactorial
from isdp.swapping.mechanism.exact_permutation import RateLike, exact_rate

MOST_RECORDS = 8
Law = dict[Hashable, Fraction]


def permutation_distribution(size: int, rate: RateLike) -> dict[tuple[int, ...], Fraction]:
    """Probability of every permutation of a stratum, exactly.

    Parameters
    ----------
    size : int
        Records n of the stratum, at most 8.

    Raises
    ------
    InputError
        If there are more than 8 records, or the rate is no number between 0 and 1.
    """
    if not 1 <= size <= MOST_RECORDS:
        raise InputError(f"swapping: enumeration takes 1 to {MOST_RECORDS} records, got {size}")
    p = exact_rate(rate)
    if size == 1:
        return {(0,): Fraction(1)}
    no_redraw = 1 - size * p * (1 - p) ** (size - 1)
    chance = {
        m: p**m * (1 - p) ** (size - m) / (subfactorial(m) * no_redraw)
        for m in range(size + 1)
        if m != 1  # as nobody moves alone
    }
    return {
        sigma: chance[sum(i != j for i, j in enumerate(sigma))]
        for sigma in permutations(range(size))
    }


def output_distribution(
    swapped: Sequence, held: Sequence, rate: RateLike, *, table: bool = False
) -> Law:
    """Law of what is released for one dataset of one stratum.

    Parameters
    ----------
    swapped : sequence
        Value of the swapping variable of each record.
    held : sequence
        What is held of each record; records are told apart by it, as far as it goes.
    table : bool
        Whether the release is the table, or multiset of records, in place of the list of new
        values record by record.

    Returns
    -------
    dict
        Probability of each output.
    """
    law: Law = {}
    for sigma, chance in permutation_distribution(len(swapped), rate).items():
        output: Hashable = tuple(swapped[source] for source in sigma)
        if table:
            output = tuple(sorted(Counter(zip(output, held, strict=True)).items()))
        law[output] = law.get(output, Fraction(0)) + chance
    return law


def distance(first: Sequence, second: Sequence, held: Sequence) -> int:
    """Count the records in which two datasets differ, order apart: d_HAM."""
    one, other = (Counter(zip(values, held, strict=True)) for values in (first, second))
    return (one - other).total()
