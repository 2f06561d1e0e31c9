"""Tied cells: c cells that determine one another are one cell with c times the rate.

A total of two cells ties them: one always gains what the other loses. A table of k x 2 cells with
both margins fixed is therefore one total of k cells at twice epsilon. The reduction is exact: the
weight of the noise is the same function of the remaining cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from isdp.constraints.invariants import Invariants


class TiedCells(NamedTuple):
    """Sets of tied cells, as single cells.

    Attributes
    ----------
    invariants : Invariants
        One cell for each set.
    times : int
        Number of cells of each set.
    set_of, sign : int64 arrays, shape (cells,)
        ``u = sign * v[set_of]`` for the noise v of the sets.
    """

    invariants: Invariants
    times: int
    set_of: NDArray[np.int64]
    sign: NDArray[np.int64]

    def expand(self, noise: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the noise of the cells, int64 (n_draws, cells), from that of the sets."""
        return np.asarray(noise[:, self.set_of] * self.sign)


def merge_tied_cells(invariants: Invariants) -> TiedCells | None:
    """Merge cells that totals of two cells tie to one another.

    Returns
    -------
    TiedCells, or None
        None unless every cell is in a set of the same size of two or more, or if a cell is tied to
        its own opposite.

    Examples
    --------
    >>> merged = merge_tied_cells(Invariants.margins((3, 2)))
    >>> merged.times, merged.invariants.matrix.tolist()
    (2, [[1, 1, 1]])
    """
    a = invariants.sparse
    at = a.indptr[:-1][np.diff(a.indptr) == 2]
    first, second = a.indices[at], a.indices[at + 1]
    tied = np.abs(a.data[at]) == np.abs(a.data[at + 1])
    first, second, at = first[tied], second[tied], at[tied]
    opposite = a.data[at] == a.data[at + 1]
    cells = invariants.cells
    # nodes: each cell and its opposite; a tie joins both nodes of one cell to both of the other
    nodes = np.arange(2 * cells).reshape(2, cells)
    turned = opposite.astype(np.int64)
    left = np.concatenate([nodes[0, first], nodes[1, first]])
    right = np.concatenate([nodes[turned, second], nodes[1 - turned, second]])
    ties = csr_array((np.ones(len(left)), (left, right)), shape=(2 * cells, 2 * cells))
    _, part = connected_components(ties, directed=False)
    if (part[:cells] == part[cells:]).any():
        return None
    # a set and its opposite are two components; the smaller number stands for both
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
    """Drop rows that repeat another row or its opposite."""
    seen, kept = set(), []
    matrix.sort_indices()
    for row in range(matrix.shape[0]):
        at = slice(matrix.indptr[row], matrix.indptr[row + 1])
        values = matrix.data[at] * np.sign(matrix.data[at][0])
        content = matrix.indices[at].tobytes(), values.tobytes()
        if content not in seen:
            seen.add(content)
            kept.append(row)
    return matrix[kept]
