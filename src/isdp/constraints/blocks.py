"""Detection of totals of disjoint or nested blocks of cells."""

from __future__ import annotations

import numpy as np

from isdp.arrays import IntArray
from isdp.compiled import njit
from isdp.constraints.invariants import Invariants
from isdp.errors import MisfitError


def blocks_of(invariants: Invariants) -> IntArray | None:
    """Return the block of each cell, if the invariants are totals of disjoint blocks.

    A row is the total of its cells if its entries are equal. Rows may be nested, because the totals
    of a set and of a part of it determine the total of the rest. The function skips redundant rows,
    which are rows without cells and sums of other rows, such as a grand total.

    The result is int64 of shape (cells,). Blocks are numbered from 0 in the order of the rows, and
    -1 marks a cell in no block. The result is None if rows overlap without being nested, or have
    unequal entries.
    """
    found = _labels_and_sizes(invariants)
    return None if found is None else found[0]


def _labels_and_sizes(invariants: Invariants) -> tuple[IntArray, IntArray] | None:
    """Return the result of `blocks_of`, and the number of cells of each block."""
    a = invariants.sparse
    labels = np.full(invariants.cells, -1, dtype=np.int64)
    sizes = np.zeros(a.shape[0], dtype=np.int64)
    smallest_first = np.argsort(np.diff(a.indptr), kind="stable")  # parts precede their sum
    if not _label(a.indptr, a.indices, a.data, smallest_first, labels, sizes):
        return None
    used = sizes > 0
    if not used.all():
        labels = np.append(np.cumsum(used) - 1, -1)[labels]
    return labels, sizes[used]


def block_sizes(blocks: IntArray) -> IntArray:
    """Count the cells in no block and in each block, as int64 of shape (blocks + 1,).

    The argument is the result of `blocks_of`.
    """
    return np.bincount(blocks + 1, minlength=1)


def block_order(method: str, invariants: Invariants) -> tuple[IntArray, IntArray]:
    """Sort the cells by block for a sampler.

    Raise `MisfitError` if the invariants are not totals of disjoint blocks. The message begins with
    the name of the sampler, `method`.

    Returns
    -------
    order : int64 array, shape (cells,)
        The cells in no block come first, and then the cells of each block.
    starts : int64 array, shape (blocks + 1,)
        Block b is ``order[starts[b]:starts[b + 1]]``.
    """
    found = _labels_and_sizes(invariants)
    if found is None:
        raise MisfitError(f"{method}: the invariants must be totals of disjoint blocks")
    labels, sizes = found
    starts = np.cumsum(np.append(len(labels) - sizes.sum(), sizes))
    order = np.empty(len(labels), dtype=np.int64)
    _counting_sort(labels, np.append(0, starts[:-1]), order)
    return order, starts


@njit
def _label(
    indptr: IntArray,
    indices: IntArray,
    data: IntArray,
    rows: IntArray,
    labels: IntArray,
    sizes: IntArray,
) -> bool:
    """Write the row of each cell's block into `labels`, and return whether the rows are blocks.

    A row must contain every block of which it contains a cell. The total of its other cells then
    follows, and they form a new block. The number of cells of each block is written into `sizes`.
    """
    seen = np.zeros(len(rows), dtype=np.int64)  # number of cells of each block in the current row
    for row in rows:
        start, stop = indptr[row], indptr[row + 1]
        for entry in range(start, stop):
            if data[entry] != data[start]:
                return False
            if labels[indices[entry]] >= 0:
                seen[labels[indices[entry]]] += 1
        for entry in range(start, stop):
            label = labels[indices[entry]]
            if label < 0:
                labels[indices[entry]] = row
                sizes[row] += 1
            elif seen[label] != 0:  # this is the first cell of the block in this row
                if seen[label] != sizes[label]:
                    return False
                seen[label] = 0
    return True


@njit
def _counting_sort(labels: IntArray, position: IntArray, order: IntArray) -> None:
    for cell in range(len(labels)):
        order[position[labels[cell] + 1]] = cell
        position[labels[cell] + 1] += 1
