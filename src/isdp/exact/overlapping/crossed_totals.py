"""Totals of two partitions of the cells that cross, such as regions and classes of ages.

The rows of a table are the sets of one partition, and its columns are those of the other. One row
and one column may have several cells in common. The partitions cross with proportional numbers of
cells if the number of common cells of row i and column j is a_i b_j. The cells are then those of a
table of sum_i a_i regions by sum_j b_j groups. The totals are those of sets of regions and of sets
of groups. Let two cells have equal a_i and equal b_j. Some permutation of rows, columns and cells
exchanges them and keeps the totals. The noise of both cells therefore has the same distribution.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from isdp.arrays import BoolArray, FloatArray, IntArray
from isdp.constraints.blocks import blocks_of
from isdp.constraints.invariants import Invariants

MIN_SQUARE = 0.125  # see `CrossedTotals.determined`


class CrossedTotals(NamedTuple):
    """Two partitions of the cells whose totals are held, with proportional numbers of cells.

    Attributes
    ----------
    row, column : int64 arrays, shape (cells,)
        The row and the column of each cell.
    heights : int64 array, shape (rows,)
        The numbers a_i.
    widths : int64 array, shape (columns,)
        The numbers b_j.
    """

    row: IntArray
    column: IntArray
    heights: IntArray
    widths: IntArray

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.row)

    @property
    def degrees(self) -> int:
        """The rank of the lattice of the noise."""
        return self.cells - len(self.heights) - len(self.widths) + 1

    @property
    def shapes(self) -> IntArray:
        """A number for each cell, int64 (cells,). Cells with equal numbers can be exchanged."""
        heights, widths = (np.unique(x, return_inverse=True)[1] for x in self[2:])
        return np.asarray(heights[self.row] * (widths.max() + 1) + widths[self.column])

    def product_places(self) -> IntArray:
        """Find the place of each cell in the table of regions by groups, in row-major order.

        Returns
        -------
        int64 array, shape (cells,)
        """
        order = np.lexsort((self.column, self.row))
        crossing = self.row[order] * len(self.widths) + self.column[order]
        number = np.arange(self.cells) - np.searchsorted(crossing, crossing)
        down, right = np.divmod(number, self.widths[self.column[order]])
        rows, columns = (np.cumsum(x) - x for x in self[2:])
        places = np.empty(self.cells, dtype=np.int64)
        places[order] = (rows[self.row[order]] + down) * self.widths.sum()
        places[order] += columns[self.column[order]] + right
        return places

    def projected_squares(self, sums: csr_array) -> FloatArray:
        """Compute the squared norm of the projection of vectors on the span of the lattice.

        The variance of a sum of real-valued isotropic Gaussian noise is this number times sigma^2.
        The variance of the same sum of integer noise is not larger.

        Parameters
        ----------
        sums : sparse array, shape (vectors, cells)

        Returns
        -------
        float64 array, shape (vectors,)
        """
        weights = csr_array(sums, dtype=float)
        found = weights.power(2).sum(axis=1) + weights.sum(axis=1) ** 2 / self.cells
        for labels in self[:2]:
            sizes = np.bincount(labels)
            found -= (weights @ incidence_of(labels).T).power(2) @ (1 / sizes)
        return np.asarray(np.maximum(found, 0.0))

    def determined(self, sums: csr_array) -> BoolArray:
        """Find the sums, with weights of 0 and 1, that the totals determine.

        For every other sum, some vector of the lattice with a squared norm of at most 4 changes the
        sum by 1 or more. The squared norm of the projection of this sum is therefore at least 1/4.
        """
        return np.asarray(self.projected_squares(sums) < MIN_SQUARE)


def crossed_totals(invariants: Invariants) -> CrossedTotals | None:
    """Find two crossing partitions of the cells whose totals are the invariants.

    Totals that follow from others, such as totals of larger regions, are skipped. The result is
    None if the invariants have another form, or the numbers of cells are not proportional.

    Examples
    --------
    >>> regions, class_total = [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], [1, 0, 0, 1, 0, 0]
    >>> found = crossed_totals(Invariants([*regions, class_total]))
    >>> found.row.tolist(), found.column.tolist(), found.widths.tolist()
    ([0, 0, 0, 1, 1, 1], [0, 1, 1, 0, 1, 1], [1, 2])
    """
    a = invariants.sparse.astype(bool).astype(np.int64)
    sizes = np.diff(a.indptr)
    partial = np.flatnonzero((sizes > 0) & (sizes < invariants.cells))
    if not len(partial):
        return None
    first = partial[0]
    common = (a @ a[[first]].T).toarray().ravel()
    nested = (common == 0) | (common == sizes) | (common == sizes[first])
    crossing = ~nested | (sizes == invariants.cells)
    labels = []
    for chosen in (nested, crossing):
        found = blocks_of(Invariants(invariants.sparse[np.flatnonzero(chosen)]))
        if found is None:
            return None
        labels.append(found)
    row, column = labels
    return _proportional(row, column)


def _proportional(row: IntArray, column: IntArray) -> CrossedTotals | None:
    """Return the partitions if they cross with proportional numbers of cells."""
    if (row < 0).any() and (column < 0).any():
        return None
    # the total of the cells without a set in one partition follows from the other partition
    row, column = (np.where(x < 0, x.max(initial=-1) + 1, x) for x in (row, column))
    heights, widths = np.bincount(row), np.bincount(column)
    cells, n_columns = len(row), len(widths)
    if len(heights) < 2 or n_columns < 2 or len(heights) * n_columns > cells:
        return None
    number = np.bincount(row * n_columns + column, minlength=len(heights) * n_columns)
    if (number.reshape(-1, n_columns) * cells != np.outer(heights, widths)).any():
        return None
    # draws need fewer proposals if the cells of one row and one column are in one region
    unit = int(np.gcd.reduce(heights))
    return CrossedTotals(row, column, heights // unit, widths * unit // cells)


def incidence_of(labels: IntArray) -> csr_array:
    """Return the 0/1 matrix of the sets of a partition, shape (sets, cells)."""
    ones = np.ones(len(labels), dtype=np.int64)
    return csr_array((ones, (labels, np.arange(len(labels)))))
