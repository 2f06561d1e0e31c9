"""Distances between datasets, which are multisets of records."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from isdp.checks import check_integer_array


def symmetric_difference(first: Iterable[Hashable], second: Iterable[Hashable]) -> int:
    """Return the minimum number of added and removed records between two datasets.

    The slides *Can Swapping be Differentially Private?* call this distance d_SymDiff.
    """
    one, other = Counter(first), Counter(second)
    return (one - other).total() + (other - one).total()


def hamming(first: Iterable[Hashable], second: Iterable[Hashable]) -> float:
    """Return the minimum number of replaced records between two datasets.

    The slides *Can Swapping be Differentially Private?* call this distance d_HAM. It is infinite
    for datasets of different sizes, and otherwise half of the symmetric difference.
    """
    first, second = list(first), list(second)
    return symmetric_difference(first, second) // 2 if len(first) == len(second) else math.inf


def hamming_of_tables(first: ArrayLike, second: ArrayLike) -> float:
    """Return the Hamming distance of two tables of counts.

    The distance is half of the l1 distance if the totals are equal, and otherwise infinite.
    """
    one = check_integer_array("distances: first", first, np.shape(first))
    other = check_integer_array("distances: second", second, one.shape)
    return int(abs(one - other).sum()) // 2 if one.sum() == other.sum() else math.inf


def steps_between(
    first: Hashable, second: Hashable, neighbours: Callable[[Hashable], Iterable[Hashable]]
) -> float:
    """Find the length of the shortest path between two datasets by breadth-first search.

    The function `neighbours` returns the datasets at distance 1 from a dataset. The result is
    infinite if there is no path.
    """
    steps: dict[Hashable, int] = {first: 0}
    waiting = deque([first])
    while waiting and second not in steps:
        dataset = waiting.popleft()
        for neighbour in neighbours(dataset):
            if neighbour not in steps:
                steps[neighbour] = steps[dataset] + 1
                waiting.append(neighbour)
    return steps.get(second, math.inf)
