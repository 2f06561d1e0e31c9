"""Invariants: the totals of a table that a release must reproduce exactly."""

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
    """Linear invariants A x of a histogram x in Z^n (ISDP, Definition 1), as a frozen value.

    Use one of the constructors `total`, `partition`, `margins` and `subsets`, or give the
    matrix A itself, which may hold any integers and need not have full rank.

    Parameters
    ----------
    matrix : array_like or sparse array, shape (constraints, cells)
        Integer entries. A row is one invariant; a cell may be in none.
    names : sequence of str, optional
        A name for each row, used in messages; "invariant 0", ... by default.

    Raises
    ------
    InputError
        If the matrix is not two-dimensional, has no cell, or has an entry that is not an
        integer within int64.
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
                f"invariants: {len(names)} names for {sparse.shape[0]} rows; give one per row"
            )
        for array in (sparse.data, sparse.indices, sparse.indptr):
            array.setflags(write=False)
        object.__setattr__(self, "_sparse", sparse)
        object.__setattr__(self, "names", tuple(str(name) for name in names))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Invariants are a frozen value; cannot set {name!r}")

    def __reduce__(self) -> tuple[type[Invariants], tuple[csr_array, tuple[str, ...]]]:
        return (Invariants, (self._sparse.copy(), self.names))

    # -- constructors -------------------------------------------------------------------------

    @classmethod
    def total(cls, n: int, name: str = "total") -> Invariants:
        """Hold the sum of all `n` cells.

        Examples
        --------
        >>> Invariants.total(3).matrix
        array([[1, 1, 1]])
        """
        n = check_integer("invariants", "the number of cells", n, 1)
        index = np.int32 if n <= np.iinfo(np.int32).max else np.int64  # as SciPy's of a dense row
        row = np.ones(n, np.int64), np.arange(n, dtype=index), np.array([0, n], dtype=index)
        return cls(csr_array(row, shape=(1, n)), [name])

    @classmethod
    def partition(cls, labels: Iterable[Hashable]) -> Invariants:
        """Hold the total of each group of cells with one label (ISDP, Example 4).

        Parameters
        ----------
        labels : iterable of hashable
            A label for each cell; None leaves the cell outside every group.

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
        """Margins of a contingency table whose cells are numbered in row-major order (Example 5).

        Parameters
        ----------
        shape : sequence of int
            Categories along each axis of the table.
        held : iterable of sequences of int
            The margins to hold, each as the axes that it keeps: ``((0,), (1,))`` holds row and
            column totals of a two-way table, ``()`` as an entry holds the grand total.

        Raises
        ------
        InputError
            If a margin names an axis that the table lacks, or names one twice.
        """
        shape = tuple(int(size) for size in shape)
        if not shape or min(shape) < 1:
            raise InputError(
                f"invariants: table shape {shape} needs at least one cell on each axis"
            )
        n = math.prod(shape)
        coordinates = np.indices(shape).reshape(len(shape), n)
        rows, names = [], []
        for axes in held:
            axes = tuple(axes)
            for axis in axes:
                if axis not in range(len(shape)):
                    raise InputError(
                        f"invariants: margin {axes} names axis {axis}, but a table of shape "
                        f"{shape} has axes 0 to {len(shape) - 1}"
                    )
            if len(set(axes)) != len(axes):
                raise InputError(f"invariants: margin {axes} names an axis twice")
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
        """Hold the total of each given list of cell indices, from 0; lists may overlap.

        Raises
        ------
        InputError
            If an index lies outside 0 to n - 1 or occurs twice in one list.
        """
        rows = []
        for position, subset in enumerate(subsets):
            cells = [int(cell) for cell in subset]
            for cell in cells:
                if not 0 <= cell < n:
                    raise InputError(
                        f"invariants: subset {position} holds cell {cell}, but cells go from 0 "
                        f"to {n - 1}"
                    )
            if len(set(cells)) != len(cells):
                raise InputError(f"invariants: subset {position} holds a cell twice")
            rows.append(cells)
        return cls(_incidence(rows, n), names)

    # -- value --------------------------------------------------------------------------------

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
        """Number of rows of A."""
        return int(self._sparse.shape[0])

    @property
    def cells(self) -> int:
        """Number of cells n."""
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

    # -- exact arithmetic ---------------------------------------------------------------------

    def apply(self, table: ArrayLike) -> NDArray[np.int64]:
        """Compute A x for each table x, exactly.

        Parameters
        ----------
        table : int array, shape (..., cells)

        Returns
        -------
        int64 array, shape (..., constraints)

        Raises
        ------
        InputError
            If the last axis is not the cells, the values are not integers, or a sum could
            leave int64.
        """
        table = np.asarray(table)
        if table.ndim == 0 or table.shape[-1] != self.cells:
            raise InputError(
                f"invariants: the last axis must hold the {self.cells} cells, got an array of "
                f"shape {table.shape}"
            )
        if table.dtype.kind not in "iu":
            raise InputError(
                f"invariants: cells must be integers to be checked exactly, got {table.dtype}"
            )
        largest = max(abs(int(table.max())), abs(int(table.min()))) if table.size else 0
        weight = _largest_row_weight(self._sparse)
        if largest * weight > INT64_MAX:
            raise InputError(
                f"invariants: cells up to {largest} with row weights up to {weight} could "
                f"overflow 64-bit integers; rescale the table"
            )
        flat = table.astype(np.int64, copy=False).reshape(-1, self.cells)
        sums: NDArray[np.int64] = (self._sparse @ flat.T).T
        return sums.reshape(*table.shape[:-1], self.constraints)

    def check(self, noise: ArrayLike) -> None:
        """Raise unless A u == 0 exactly for every noise vector u.

        Parameters
        ----------
        noise : int array, shape (..., cells)

        Raises
        ------
        InputError
            Naming the first draw and invariant that is not met.
        """
        values = self.apply(noise)
        if values.any():
            *draw, row = (int(i) for i in np.argwhere(values)[0])
            raise InputError(
                f"noise breaks the invariant {self.names[row]!r} by {values[(*draw, row)]} "
                f"in draw {tuple(draw)}"
            )


def find_cell_classes(invariants: Invariants) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Group the cells in which A has equal columns.

    Returns
    -------
    kind : int64 array, shape (cells,)
        Number of each cell's group, from 0, in the order of their first cells.
    first : int64 array, shape (groups,)
        First cell of each group.
    """
    columns = invariants.sparse.tocsc()
    columns.sort_indices()
    numbers, code = np.unique(columns.data, return_inverse=True)
    entry = _renumbered(columns.indices.astype(np.int64) * max(len(numbers), 1) + code)
    entries = int(entry.max(initial=0)) + 1
    length = np.diff(columns.indptr)
    kind = np.zeros(columns.shape[1], dtype=np.int64)
    # entry by entry: columns that continue get new numbers, so that they differ from those that end
    for place in range(int(length.max(initial=0))):
        longer = length > place
        at = kind[longer] * entries + entry[columns.indptr[:-1][longer] + place]
        kind[longer] = kind.max(initial=0) + 1 + _renumbered(at)
        kind = _renumbered(kind)
    first = np.empty(kind.max(initial=-1) + 1, dtype=np.int64)
    first[kind[::-1]] = np.arange(len(kind))[::-1]  # the first cell of each group is written last
    order = np.argsort(first)
    place_of = np.empty_like(order)
    place_of[order] = np.arange(len(order))
    return place_of[kind], first[order]


def _renumbered(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Replace keys, which are not negative, by numbers from 0 in their order."""
    largest = int(keys.max(initial=0))
    if largest > 4 * len(keys) + 1000:
        return np.unique(keys, return_inverse=True)[1].astype(np.int64)
    used = np.zeros(largest + 1, dtype=np.int64)
    used[keys] = 1
    numbers: NDArray[np.int64] = (np.cumsum(used) - 1)[keys]
    return numbers


def _incidence(rows: Sequence[Sequence[int] | NDArray[np.int64]], n: int) -> csr_array:
    """Build the 0/1 matrix whose row i has ones at the cells ``rows[i]``."""
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
            raise InputError(f"invariants: rows of unequal length ({error})") from None
        if matrix.ndim != 2:
            raise InputError(f"invariants: the matrix needs two axes, got shape {matrix.shape}")
        if matrix.dtype.kind == "b":
            matrix = matrix.astype(np.int64)
        if matrix.dtype.kind not in "iu":
            matrix = _whole_numbers(matrix)
        if matrix.size and int(abs(matrix).max()) > INT64_MAX:
            raise InputError("invariants: an entry does not fit into 64-bit integers")
    elif matrix.dtype.kind not in "iu":
        raise InputError(f"invariants: a sparse matrix must hold integers, got {matrix.dtype}")
    sparse = csr_array(matrix, dtype=np.int64, copy=True)
    if sparse.shape[1] < 1:
        raise InputError("invariants: there are no cells")
    sparse.sum_duplicates()
    sparse.eliminate_zeros()
    sparse.sort_indices()
    return sparse


def _whole_numbers(matrix: NDArray[np.generic]) -> NDArray[np.int64]:
    """Convert to int64 a matrix of floats or objects that are whole numbers, else raise."""
    for (row, cell), entry in np.ndenumerate(matrix):
        try:
            whole = int(entry) == entry
        except (TypeError, ValueError, OverflowError):
            whole = False
        if not whole or abs(int(entry)) > INT64_MAX:
            raise InputError(
                f"invariants: entry {entry!r} at row {row}, cell {cell} is not a 64-bit integer"
            )
    return matrix.astype(np.int64)


def _largest_row_weight(sparse: csr_array) -> int:
    """Return the largest sum of absolute entries over the rows, in Python's own integers."""
    if not sparse.nnz:
        return 1
    largest = int(abs(sparse.data).max())
    longest = max(stop - start for start, stop in pairwise(sparse.indptr.tolist()))
    return largest * int(longest)
