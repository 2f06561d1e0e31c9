"""Connected components of cells and invariants, whose noise is independent."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import block_array
from scipy.sparse.csgraph import connected_components

from isdp.constraints.invariants import Invariants


class Part(NamedTuple):
    """A connected component with its cells, an ascending int64 array, and their invariants."""

    cells: np.ndarray
    invariants: Invariants


def independent_parts(invariants: Invariants) -> list[Part]:
    """Split the cells into connected components of the graph of cells and invariants.

    Let A be the matrix of the invariants. If the noise u is independent between cells, it is
    independent between parts given A u = 0. The parts are sorted by their first cells. All cells
    without an invariant form one part. Invariants without cells are omitted.

    Examples
    --------
    >>> parts = independent_parts(Invariants([[1, 0, 1, 0, 0], [0, 1, 0, 0, 1]]))
    >>> [part.cells.tolist() for part in parts]
    [[0, 2], [1, 4], [3]]
    """
    a = invariants.sparse
    rows, cells = a.shape
    ones = a.astype(bool)
    _, part = connected_components(block_array([[None, ones], [ones.T, None]]), directed=False)
    of_row, of_cell = part[:rows], part[rows:].astype(np.int64)
    untouched = np.bincount(a.indices, minlength=cells) == 0
    of_cell[untouched] = rows + cells
    labels, first, of_cell = np.unique(of_cell, return_index=True, return_inverse=True)
    place = np.empty(len(labels), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(labels))
    by_cell = np.argsort(place[of_cell], kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(place[of_cell]))])
    # sort the rows by part
    filled = np.flatnonzero(np.diff(a.indptr) > 0)
    of_filled = place[np.searchsorted(labels, of_row[filled])]
    by_row = filled[np.argsort(of_filled, kind="stable")]
    row_starts = np.concatenate([[0], np.cumsum(np.bincount(of_filled, minlength=len(labels)))])
    sorted_rows = a[by_row][:, by_cell]
    found = []
    for number in range(len(labels)):
        top, bottom = row_starts[number : number + 2]
        left, right = starts[number : number + 2]
        names = [invariants.names[row] for row in by_row[top:bottom]]
        matrix = sorted_rows[top:bottom, left:right]
        found.append(Part(by_cell[left:right], Invariants(matrix, names)))
    return found
