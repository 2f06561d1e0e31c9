"""Tied cells: c cells that determine one another are equivalent to one cell with c times the rate.

A total of two cells ties them, because their noise adds up to zero. A table of k x 2 cells with
both margins fixed is therefore equivalent to one total of k cells at twice epsilon. The reduction
is exact, because the weight of the noise is the same function of the remaining cells.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from isdp.constraints.invariants import Invariants


class TiedCells(NamedTuple):
    """Sets of tied cells, each of which is merged into one cell.

    Attributes
    ----------
    invariants : Invariants
        The invariants with one cell for each set.
    times : int
        The number of cells of each set.
    set_of, sign : int64 arrays, shape (cells,)
        If v is the noise of the sets, the noise of the cells is ``sign * v[set_of]``.
    """

    invariants: Invariants
    times: int
    set_of: NDArray[np.int64]
    sign: NDArray[np.int64]

    def expand(self, noise: NDArray[np.int64]) -> NDArray[np.int64]:
        """Compute the noise of the cells, int64 (n_draws, cells), from the noise of the sets."""
        return np.asarray(noise[:, self.set_of] * self.sign)


def merge_tied_cells(invariants: Invariants) -> TiedCells | None:
    """Merge cells that are tied by totals of two cells.

    The result is None if a cell is tied to no other cell, or the sets differ in size. It is also
    None if the totals force the noise of a cell to be zero.

    Examples
    --------
    >>> merged = merge_tied_cells(Invariants.margins((3, 2)))
    >>> merged.times, merged.invariants.matrix.tolist()
    (2, [[1, 1, 1]])
    """
    a = invariants.sparse
    start = a.indptr[:-1][np.diff(a.indptr) == 2]
    start = start[np.abs(a.data[start]) == np.abs(a.data[start + 1])]
    first, second = a.indices[start], a.indices[start + 1]
    opposite = a.data[start] == a.data[start + 1]
    cells = invariants.cells
    # Each cell has two nodes, for its noise and for the negative of its noise. A tie joins each
    # node of one cell to one node of the other cell.
    nodes = np.arange(2 * cells).reshape(2, cells)
    turned = opposite.astype(np.int64)
    left = np.concatenate([nodes[0, first], nodes[1, first]])
    right = np.concatenate([nodes[turned, second], nodes[1 - turned, second]])
    ties = csr_array((np.ones(len(left)), (left, right)), shape=(2 * cells, 2 * cells))
    _, part = connected_components(ties, directed=False)
    if (part[:cells] == part[cells:]).any():
        return None
    # a set and its negative are two components, which get the smaller of their two numbers
    smaller = np.minimum(part[:cells], part[cells:])
    _, set_of, sizes = np.unique(smaller, return_inverse=True, return_counts=True)
    if sizes.min() < 2 or (sizes != sizes[0]).any():
        return None
    sign = np.where(part[:cells] == smaller, 1, -1)
    set_of = set_of.astype(np.int64)
    into = csr_array((sign, (np.arange(cells), set_of)), shape=(cells, len(sizes)))
    merged = csr_array(a @ into)
    merged.eliminate_zeros()
    kept = np.flatnonzero(np.diff(merged.indptr))
    unique = _without_copies(merged[kept])
    return TiedCells(Invariants(unique), int(sizes[0]), set_of, sign)


def _without_copies(matrix: csr_array) -> csr_array:
    """Remove rows that are equal to an earlier row or to its negative."""
    seen, kept = set(), []
    matrix.sort_indices()
    for row in range(matrix.shape[0]):
        entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
        values = matrix.data[entries] * np.sign(matrix.data[entries][0])
        content = matrix.indices[entries].tobytes(), values.tobytes()
        if content not in seen:
            seen.add(content)
            kept.append(row)
    return matrix[kept]
