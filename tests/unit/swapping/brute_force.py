"""The loss of swapping over all pairs of datasets with equal values, as an oracle."""

from collections import Counter
from itertools import combinations, permutations
from math import log

from reproduction.swapping.theory.enumeration import distance, output_distribution


def largest_loss(swapped, held, rate):
    """Loss of the table for each unit of d_HAM, among all orders of the values `swapped`."""
    datasets = {
        tuple(sorted(Counter(zip(values, held, strict=True)).items())): values
        for values in set(permutations(swapped))
    }
    laws = [(x, output_distribution(x, held, rate, table=True)) for x in datasets.values()]
    return max(
        (
            abs(log(one[table] / other[table])) / distance(x, y, held)
            for (x, one), (y, other) in combinations(laws, 2)
            for table in datasets
        ),
        default=0.0,
    )
