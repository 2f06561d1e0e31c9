"""Distances between datasets: the units of protection.

A dataset is a collection of records without an order; two are equal if they hold the same records
equally often.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from isdp.errors import InputError


def symmetric_difference(first: Iterable[Hashable], second: Iterable[Hashable]) -> int:
    """Count the records that are in one dataset and not in the other: d_SymDiff.

    One unit is a record that comes or goes.
    """
    one, other = Counter(first), Counter(second)
    return (one - other).total() + (other - one).total()


def hamming(first: Iterable[Hashable], second: Iterable[Hashable]) -> float:
    """Count the records to change for one dataset to become the other: d_HAM.

    It is half of the symmetric difference, and infinite between datasets of different sizes. One
    unit is a record that changes.
    """
    first, second = list(first), list(second)
    return symmetric_difference(first, second) // 2 if len(first) == len(second) else math.inf


def hamming_of_tables(first: ArrayLike, second: ArrayLike) -> float:
    """Return `hamming` of two tables of counts: half their l1 distance, if their totals agree."""
    first, second = np.asarray(first), np.asarray(second)
    whole = first.dtype.kind in "iu" and second.dtype.kind in "iu"
    if first.shape != second.shape or not whole:
        raise InputError("distances: give two tables of whole numbers with the same shape")
    if first.sum() != second.sum():
        return math.inf
    return int(abs(first.astype(np.int64) - second.astype(np.int64)).sum()) // 2


def steps_between(
    first: Hashable, second: Hashable, neighbours: Callable[[Hashable], Iterable[Hashable]]
) -> float:
    """Length of the shortest path between two datasets in the graph of a neighbour relation.

    Parameters
    ----------
    neighbours : callable
        Gives the datasets that are one unit away; of a graph small enough to search.

    Returns
    -------
    float
        Infinite if no path joins them.
    """
    steps: dict[Hashable, int] = {first: 0}
    waiting = deque([first])
    while waiting and second not in steps:
        here = waiting.popleft()
        for there in neighbours(here):
            if there not in steps:
                steps[there] = steps[here] + 1
                waiting.append(there)
    return steps.get(second, math.inf)
