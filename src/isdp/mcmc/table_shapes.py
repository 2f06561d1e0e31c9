"""Tables with all their margins held, found in the totals, with a sum of cells in each place.

Cells that stand in the same totals count as one place of the table, whose noise is their sum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from isdp.constraints.invariants import Invariants, cell_types
from isdp.errors import InputError

MOST_PLACES = 20_000


class Shape(NamedTuple):
    """A complete table under all margins of one category less than it has.

    Attributes
    ----------
    shape : tuple of int
        Two or three numbers of categories, the least first.
    kind : int64 array, shape (cells,)
        Place of each cell, in C order.
    sizes : int64 array, shape (places,)
        Cells in each place.
    """

    shape: tuple[int, ...]
    kind: np.ndarray
    sizes: np.ndarray


def shape_of(invariants: Invariants) -> Shape:
    """Find the table whose row and column totals, or two-way margins, are held.

    The totals fall into sets, in the order in which they stand, each of which takes every cell
    once. Two sets are the two sides of a table; of three, each two share one category.

    Parameters
    ----------
    invariants : Invariants

    Raises
    ------
    InputError
        If the totals are none of a complete table with both margins, or all two-way ones of three
        categories.

    Examples
    --------
    >>> shape_of(Invariants.margins((5, 3))).shape
    (3, 5)
    """
    kind, first = cell_types(invariants)
    if len(first) > MOST_PLACES:
        raise InputError(
            f"paired rows: the totals overlap in {len(first)} ways, more than {MOST_PLACES}"
        )
    sets = _sets(invariants.sparse[:, first])
    if len(sets) == 3:
        pairs = [(0, 1), (0, 2), (1, 2)]
        axes = [_shared(sets[one], sets[other]) for one, other in pairs]
    else:
        axes = sets
    if len(axes) not in (2, 3):
        raise _no_table(f"{len(axes)} sets of totals that take every cell once")
    axes = sorted(axes, key=lambda axis: axis.max(initial=0))
    shape = tuple(int(axis.max(initial=0)) + 1 for axis in axes)
    place = np.ravel_multi_index(axes, shape)
    if np.prod(shape) != len(place) or len(np.unique(place)) != len(place):
        raise _no_table(f"{len(place)} kinds of cells, which do not fill a table of shape {shape}")
    # the sets are those of the margins, not of something finer or coarser
    for held in sets:
        if not any(_same(held, np.delete(np.array(axes), i, axis=0)) for i in range(len(axes))):
            raise _no_table("a set of totals that is no margin of it")
    return Shape(shape, place[kind], np.bincount(place[kind], minlength=len(place)))


def _no_table(found: str) -> InputError:
    return InputError(
        f"paired rows: takes complete tables with both margins held, or all two-way margins of "
        f"three categories; here are {found}"
    )


def _sets(matrix: csr_array) -> list[np.ndarray]:
    """Split the rows into runs in which every column has a single one; the run's row of each."""
    if (matrix.data != 1).any():
        raise _no_table("weights other than one")
    sets, labels, row_in_set = [], np.full(matrix.shape[1], -1, dtype=np.int64), 0
    for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        cells = matrix.indices[start:stop]
        if (labels[cells] >= 0).any():
            raise _no_table("totals that overlap within a set")
        labels[cells] = row_in_set
        row_in_set += 1
        if (labels >= 0).all():
            sets.append(labels)
            labels, row_in_set = np.full(matrix.shape[1], -1, dtype=np.int64), 0
    if row_in_set:
        raise _no_table("totals that leave cells out")
    return sets


def _shared(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Find the category of two margins: cells are linked if they share a total of either."""
    n, m = one.max() + 1, other.max() + 1
    links = csr_array((np.ones(len(one), np.int8), (one, n + other)), shape=(n + m, n + m))
    parts = connected_components(links, directed=False)[1][one]
    return np.unique(parts, return_inverse=True)[1].astype(np.int64)


def _same(labels: np.ndarray, axes: np.ndarray) -> bool:
    """Whether labels and the axes together group the cells in the same way."""
    other = np.unique(axes, axis=1, return_inverse=True)[1].ravel()
    pairs = np.unique(np.stack([labels, other]), axis=1).shape[1]
    return bool(pairs == labels.max() + 1 == other.max() + 1)
