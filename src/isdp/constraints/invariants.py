"""Linear invariants, which are totals of a table that a release keeps exact.

The definitions are from *Integer Subspace Differential Privacy* (ISDP).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, sparray, spmatrix

from isdp.checks import INT64_MAX, check_integer
from isdp.errors import InputError


class Invariants:
    """Immutable linear invariants A x of a histogram x in Z^n (ISDP, Definition 1).

    Use a constructor (`total`, `partition`, `margins`, `subsets`), or give the matrix A. The matrix
    may contain any 64-bit integers and need not have full rank.

    Parameters
    ----------
    matrix : array_like or sparse array, shape (constraints, cells)
        Each row is one invariant. A cell may occur in no invariant.
    names : sequence of str, optional
        Names of the rows in messages. The default names are "invariant 0", "invariant 1", ...

    Raises
    ------
    InputError
        If the matrix is not two-dimensional or has no cells, an entry is not a 64-bit integer, or
        there is not one name per row.
    """

    __slots__ = ("_sparse", "names")

    _sparse: csr_array
    names: tuple[str, ...]

    def __init__(self, matrix: ArrayLike | sparray, names: Sequence[str] | None = None) -> None:
        sparse = _integer_csr(matrix)
        if names is None:
            names = [f"invariant {row}" for row in range(sparse.shape[0])]
        if len(names) != sparse.shape[0]:
            raise InputError(
                f"invariants: names has {len(names)} entries, and the matrix has "
                f"{sparse.shape[0]} rows. Give one name per row"
            )
        for array in (sparse.data, sparse.indices, sparse.indptr):
            array.setflags(write=False)
        object.__setattr__(self, "_sparse", sparse)
        object.__setattr__(self, "names", tuple(str(name) for name in names))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Invariants are immutable. Build new invariants to change {name!r}")

    def __reduce__(self) -> tuple[type[Invariants], tuple[csr_array, tuple[str, ...]]]:
        return (Invariants, (self._sparse.copy(), self.names))

    @classmethod
    def total(cls, n: int, name: str = "total") -> Invariants:
        """Build the invariant that is the sum of all `n` cells.

        Examples
        --------
        >>> Invariants.total(3).matrix
        array([[1, 1, 1]])
        """
        n = check_integer("invariants", "the number of cells", n, 1)
        index = np.int32 if n <= np.iinfo(np.int32).max else np.int64  # SciPy's choice
        row = np.ones(n, np.int64), np.arange(n, dtype=index), np.array([0, n], dtype=index)
        return cls(csr_array(row, shape=(1, n)), [name])

    @classmethod
    def partition(cls, labels: Iterable[Hashable]) -> Invariants:
        """Build one total for each group of cells with the same label (ISDP, Example 4).

        Parameters
        ----------
        labels : iterable of hashable
            The label of each cell. A cell with the label None belongs to no group.

        Examples
        --------
        >>> Invariants.partition(["a", "b", "a", None]).matrix
        array([[1, 0, 1, 0],
               [0, 1, 0, 0]])
        """
        labels = list(labels)
        groups: dict[Hashable, list[int]] = {}
        for cell, label in enumerate(labels):
            if label is not None:
                groups.setdefault(label, []).append(cell)
        names = [f"total of {label}" for label in groups]
        return cls(_incidence(list(groups.values()), len(labels)), names)

    @classmethod
    def margins(
        cls, shape: Sequence[int], held: Iterable[Sequence[int]] = ((0,), (1,))
    ) -> Invariants:
        """Build margins of a contingency table with cells in row-major order (ISDP, Example 5).

        Parameters
        ----------
        shape : sequence of int
            The number of categories along each axis of the table.
        held : iterable of sequences of int
            The axes that each margin keeps. For a two-way table, ``((0,), (1,))`` holds the row and
            column totals. The margin ``()`` is the grand total.

        Raises
        ------
        InputError
            If a margin has an unknown axis or a repeated axis.
        """
        shape = tuple(int(size) for size in shape)
        if not shape or min(shape) < 1:
            raise InputError(f"invariants: shape {shape} must have 1 or more cells on each axis")
        n = math.prod(shape)
        coordinates = np.indices(shape).reshape(len(shape), n)
        rows, names = [], []
        for axes in held:
            axes = tuple(axes)
            for axis in axes:
                if axis not in range(len(shape)):
                    raise InputError(
                        f"invariants: margin {axes} has the axis {axis}. Use the axes 0 to "
                        f"{len(shape) - 1} of a table of shape {shape}"
                    )
            if len(set(axes)) != len(axes):
                raise InputError(f"invariants: margin {axes} repeats an axis. Remove one")
            kept = tuple(shape[axis] for axis in axes)
            group = np.zeros(n, dtype=np.int64)
            if axes:
                group = np.ravel_multi_index(tuple(coordinates[list(axes)]), kept)
            order = np.argsort(group, kind="stable")
            rows.extend(np.split(order, np.flatnonzero(np.diff(group[order])) + 1))
            for index in np.ndindex(kept):
                pairs = (f"axis {axis} = {i}" for axis, i in zip(axes, index, strict=True))
                names.append("margin " + (", ".join(pairs) or "of all cells"))
        return cls(_incidence(rows, n), names)

    @classmethod
    def subsets(
        cls, subsets: Iterable[Iterable[int]], n: int, names: Sequence[str] | None = None
    ) -> Invariants:
        """Build the total of each list of cell indices. The lists may overlap.

        Indices start at 0. Raise `InputError` if an index is not from 0 to n - 1, or occurs twice
        in one list.
        """
        rows = []
        for position, subset in enumerate(subsets):
            cells = [int(cell) for cell in subset]
            for cell in cells:
                if not 0 <= cell < n:
                    raise InputError(
                        f"invariants: subset {position} has the cell {cell}. Use the cells 0 to "
                        f"{n - 1}"
                    )
            if len(set(cells)) != len(cells):
                raise InputError(f"invariants: subset {position} repeats a cell. Remove one")
            rows.append(cells)
        return cls(_incidence(rows, n), names)

    @property
    def sparse(self) -> csr_array:
        """The matrix A as a read-only int64 CSR array, shape (constraints, cells)."""
        return self._sparse

    @property
    def matrix(self) -> np.ndarray:
        """The matrix A as a dense int64 array, shape (constraints, cells)."""
        matrix: NDArray[np.int64] = self._sparse.toarray()
        return matrix

    @property
    def constraints(self) -> int:
        """The number of rows of A."""
        return int(self._sparse.shape[0])

    @property
    def cells(self) -> int:
        """The number of cells n."""
        return int(self._sparse.shape[1])

    def _content(self) -> tuple[object, ...]:
        a = self._sparse
        return (a.shape, self.names, a.indptr.tobytes(), a.indices.tobytes(), a.data.tobytes())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Invariants):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def __repr__(self) -> str:
        return f"<Invariants: {self.constraints} on {self.cells} cells>"

    def apply(self, table: ArrayLike) -> NDArray[np.int64]:
        """Compute A x exactly for each table x of an int array of shape (..., cells).

        The result is int64 of shape (..., constraints). Raise `InputError` if the last axis has
        another length, the values are not integers, or a sum could exceed 64-bit integers.
        """
        table = np.asarray(table)
        if table.ndim == 0 or table.shape[-1] != self.cells:
            raise InputError(
                f"invariants: the table has shape {table.shape}. Its last axis must have "
                f"{self.cells} cells"
            )
        if table.dtype.kind not in "iu":
            raise InputError(f"invariants: the table must have integers, got {table.dtype}")
        largest = max(abs(int(table.max())), abs(int(table.min()))) if table.size else 0
        weight = _bound_row_weight(self._sparse)
        if largest * weight > INT64_MAX:
            raise InputError(
                "invariants: a sum of cells could exceed 64-bit integers. Rescale the table"
            )
        flat = table.astype(np.int64, copy=False).reshape(-1, self.cells)
        sums: NDArray[np.int64] = (self._sparse @ flat.T).T
        return sums.reshape(*table.shape[:-1], self.constraints)

    def check(self, noise: ArrayLike) -> None:
        """Raise `InputError` unless A u = 0 for every vector u of an integer array (..., cells).

        The test is exact. The message names the first draw that fails and its invariant.
        """
        values = self.apply(noise)
        if values.any():
            *draw, row = (int(i) for i in np.argwhere(values)[0])
            raise InputError(
                f"noise: draw {tuple(draw)} changes the invariant {self.names[row]!r}. Do not "
                f"release it"
            )


def find_cell_classes(invariants: Invariants) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the classes of cells with equal columns of A, sorted by their first cells.

    The first result has the index of each cell's class, int64 of shape (cells,). The second has the
    first cell of each class.
    """
    columns = invariants.sparse.tocsc()
    columns.sort_indices()
    numbers, code = np.unique(columns.data, return_inverse=True)
    entry = _renumbered(columns.indices.astype(np.int64) * max(len(numbers), 1) + code)
    entries = int(entry.max(initial=0)) + 1
    length = np.diff(columns.indptr)
    class_of = np.zeros(columns.shape[1], dtype=np.int64)
    # columns with an entry at this position get new numbers, because they differ from others
    for position in range(int(length.max(initial=0))):
        longer = length > position
        key = class_of[longer] * entries + entry[columns.indptr[:-1][longer] + position]
        class_of[longer] = class_of.max(initial=0) + 1 + _renumbered(key)
        class_of = _renumbered(class_of)
    first = np.empty(class_of.max(initial=-1) + 1, dtype=np.int64)
    first[class_of[::-1]] = np.arange(len(class_of))[::-1]  # the first cell is written last
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[class_of], first[order]


def _renumbered(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Replace the distinct keys, which are 0 or more, by 0, 1, 2, ... in ascending order."""
    largest = int(keys.max(initial=0))
    if largest > 4 * len(keys) + 1000:
        return np.unique(keys, return_inverse=True)[1].astype(np.int64)
    used = np.zeros(largest + 1, dtype=np.int64)
    used[keys] = 1
    numbers: NDArray[np.int64] = (np.cumsum(used) - 1)[keys]
    return numbers


def _incidence(rows: Sequence[Sequence[int] | NDArray[np.int64]], n: int) -> csr_array:
    indptr = np.concatenate([[0], np.cumsum([len(cells) for cells in rows], dtype=np.int64)])
    none = [np.empty(0, dtype=np.int64)]
    indices = np.concatenate([np.asarray(cells, dtype=np.int64) for cells in rows] or none)
    data = np.ones(len(indices), dtype=np.int64)
    return csr_array((data, indices.astype(np.int64), indptr), shape=(len(rows), n))


def _integer_csr(given: ArrayLike | sparray) -> csr_array:
    matrix = given
    if not isinstance(matrix, sparray | spmatrix):
        try:
            matrix = np.asarray(matrix)
        except ValueError as error:
            raise InputError(f"invariants: the rows must have equal length ({error})") from None
        if matrix.ndim != 2:
            raise InputError(f"invariants: the matrix must have two axes, got {matrix.shape}")
        if matrix.dtype.kind == "b":
            matrix = matrix.astype(np.int64)
        if matrix.dtype.kind not in "iu":
            matrix = _as_integers(matrix)
        if matrix.size and int(abs(matrix).max()) > INT64_MAX:
            raise InputError("invariants: the entries of the matrix must be 64-bit integers")
    elif matrix.dtype.kind not in "iu":
        raise InputError(f"invariants: a sparse matrix must have integers, got {matrix.dtype}")
    sparse = csr_array(matrix, dtype=np.int64, copy=True)
    if sparse.shape[1] < 1:
        raise InputError(
            "invariants: the matrix has no columns. Its columns are the cells, so give one or more"
        )
    sparse.sum_duplicates()
    sparse.eliminate_zeros()
    sparse.sort_indices()
    return sparse


def _as_integers(matrix: NDArray[np.generic]) -> NDArray[np.int64]:
    for (row, cell), entry in np.ndenumerate(matrix):
        try:
            integer = int(entry) == entry
        except (TypeError, ValueError, OverflowError):
            integer = False
        if not integer or abs(int(entry)) > INT64_MAX:
            raise InputError(
                f"invariants: row {row}, cell {cell}: give a 64-bit integer, not {entry!r}"
            )
    return matrix.astype(np.int64)


def _bound_row_weight(sparse: csr_array) -> int:
    """Bound the sum of absolute entries of every row in Python's integers."""
    if not sparse.nnz:
        return 1
    largest = int(abs(sparse.data).max())
    longest = max(stop - start for start, stop in pairwise(sparse.indptr.tolist()))
    return largest * int(longest)
