"""Exact distributions of permutation swapping by enumeration, for strata of a few records.

Closed forms are compared with these distributions. Probabilities are rational numbers.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import permutations

from isdp.checks import ExactNumber
from isdp.swapping.mechanism.derangements import subfactorial
from isdp.swapping.mechanism.exact_permutation import exact_rate


def permutation_distribution(size: int, rate: ExactNumber) -> dict[tuple[int, ...], Fraction]:
    """Compute the exact probability of every permutation of a stratum."""
    p = exact_rate(rate)
    no_redraw = 1 - size * p * (1 - p) ** (size - 1)
    by_moved = {
        m: p**m * (1 - p) ** (size - m) / (subfactorial(m) * no_redraw)
        for m in range(size + 1)
        if m != 1  # no permutation moves a single record
    }
    return {
        sigma: by_moved[sum(i != j for i, j in enumerate(sigma))]
        for sigma in permutations(range(size))
    }


def output_distribution(
    swapped: Sequence, held: Sequence, rate: ExactNumber, *, table: bool = False
) -> dict[Hashable, Fraction]:
    """Compute the distribution of the release for a dataset of one stratum.

    `swapped` gives the value of the swapping variable of each record, and `held` its other values.
    If `table` is True, the release is the multiset of records. Otherwise it is the tuple of new
    values of the swapping variable.
    """
    distribution: dict[Hashable, Fraction] = {}
    for sigma, probability in permutation_distribution(len(swapped), rate).items():
        output: Hashable = tuple(swapped[source] for source in sigma)
        if table:
            output = tuple(sorted(Counter(zip(output, held, strict=True)).items()))
        distribution[output] = distribution.get(output, Fraction(0)) + probability
    return distribution


def distance(first: Sequence, second: Sequence, held: Sequence) -> int:
    """Compute d_HAM, the number of records in which two datasets differ, whatever their order."""
    one, other = (Counter(zip(values, held, strict=True)) for values in (first, second))
    return (one - other).total()
