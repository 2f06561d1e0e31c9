"""The lattice of all integer vectors u with A u = 0, and its bases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from flint import fmpz_mat
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array

from isdp.checks import check_choice
from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError
from isdp.lattice.elimination import row_reduce
from isdp.lattice.smith import SparseVector, smith_normal_form

Basis = Literal["smith", "lll", "exchange"]

BASES = ("smith", "lll")
QUICK_LLL_DIMENSION = 400  # the LLL algorithm takes about one second at this dimension
EXCHANGE_ROUNDS = 3
MAX_ENTRY = 2**31  # with this limit, products of entries and jumps fit in 64 bits


@dataclass(frozen=True, eq=False)
class KernelLattice:
    """The lattice Lambda = {u in Z^n : A u = 0} = C Z^d with d = n - rank(A).

    Attributes
    ----------
    invariants : Invariants
        The matrix A.
    kind : {"smith", "lll", "exchange"}
        The construction of the vectors, as in `kernel_lattice`.
    columns : csc_array of int64, shape (cells, vectors)
        Vectors that generate the lattice, one per column. The vectors form the basis C, or a larger
        set for "exchange". There are no columns if the invariants determine every cell.
    """

    invariants: Invariants
    kind: Basis
    columns: csc_array

    @cached_property
    def dimension(self) -> int:
        """The degrees of freedom d."""
        if self.kind in BASES:
            return int(self.columns.shape[1])
        return degrees_of_freedom(self.invariants)

    @property
    def basis(self) -> NDArray[np.int64]:
        """The basis C of shape (cells, dimension). Raise `InputError` if there is no basis."""
        if self.kind not in BASES:
            raise InputError(
                f"lattice: the {self.kind} vectors are not a basis. Use {' or '.join(BASES)}"
            )
        return np.asarray(self.columns.toarray(), dtype=np.int64)

    def coordinates(self, vector: ArrayLike) -> NDArray[np.int64]:
        """Return the integer coordinates c of each vector u = C c of an array (..., cells).

        The result has shape (..., dimension). Raise `InputError` if a vector is not in the lattice.
        """
        vector = np.asarray(vector)
        self.invariants.check(vector)
        cells, inverse, denominator = self._inverse
        scaled = vector[..., cells].astype(object) @ inverse
        return np.asarray(scaled // denominator, dtype=np.int64)

    @cached_property
    def _inverse(self) -> tuple[NDArray[np.int64], NDArray[np.object_], int]:
        """Return the pivot columns J of C^T, and the inverse of C_J^T as M over a denominator.

        Elimination of [C^T, I] gives the integer matrix M. Because u_J = C_J c, the coordinates c^T
        of u are u_J^T M over the denominator.
        """
        identity = np.eye(self.dimension, dtype=np.int64)
        rows, cells, denominator = row_reduce(np.hstack([self.basis.T, identity]))
        return cells, rows[:, self.invariants.cells :], denominator


def degrees_of_freedom(invariants: Invariants) -> int:
    """Return the dimension n - rank(A) of the lattice."""
    return invariants.cells - smith_normal_form(invariants.sparse).rank


def kernel_lattice(invariants: Invariants, basis: Basis = "smith") -> KernelLattice:
    """Build the lattice of integer noise u with A u = 0.

    Raise `InputError` if the basis is unknown, or one of its entries exceeds 2^31.

    Parameters
    ----------
    basis : {"smith", "lll", "exchange"}
        "smith" takes the last columns of V in the Smith normal form U A V = D (*Integer Subspace
        Differential Privacy*, Proposition 8). "lll" reduces this basis by the algorithm of Lenstra,
        Lenstra and Lovasz, which makes the vectors shorter and more orthogonal. "exchange" returns
        vectors that generate the lattice and may be linearly dependent. Some of them move one
        person between two cells of a class (cells with equal columns of A). The others are vectors
        of a reduced basis for one cell per class, repeated for other cells. If classes are large,
        Metropolis walks mix faster with "exchange", because no cell occurs in every jump.
    """
    if basis == "exchange":
        return KernelLattice(
            invariants, basis, _columns(_exchanges(invariants), invariants.cells, basis)
        )
    check_choice("lattice: basis", basis, (*BASES, "exchange"))
    kernel: Sequence[SparseVector] = smith_normal_form(invariants.sparse).kernel
    if basis == "lll":
        kernel = _lll(kernel, invariants.cells)
    return KernelLattice(invariants, basis, _columns(kernel, invariants.cells, basis))


def basis_seconds(invariants: Invariants, basis: Basis) -> float:
    """Forecast the time of `kernel_lattice` in seconds, within a factor of about two.

    The time of the LLL algorithm is proportional to the cube of the dimension, as measured at
    dimensions from 512 to 978. The time of the Smith normal form is proportional to the number of
    cells.
    """
    elimination = 2e-5 * invariants.cells
    if basis == "smith":
        return elimination
    columns = invariants.cells if basis == "lll" else len(find_cell_classes(invariants)[1])
    return elimination + (max(columns - invariants.constraints, 0) / QUICK_LLL_DIMENSION) ** 3


def _lll(kernel: Sequence[SparseVector], cells: int) -> Sequence[SparseVector]:
    if not kernel:
        return kernel
    rows = fmpz_mat([[vector.get(i, 0) for i in range(cells)] for vector in kernel]).lll()
    return [
        {i: int(rows[j, i]) for i in range(cells) if rows[j, i] != 0} for j in range(len(kernel))
    ]


def _exchanges(invariants: Invariants) -> list[SparseVector]:
    """Return vectors that move persons within cell classes, and vectors between cell classes."""
    class_of, first = find_cell_classes(invariants)
    members = np.split(np.argsort(class_of, kind="stable"), np.cumsum(np.bincount(class_of))[:-1])
    vectors = []
    for cells in members:
        n = len(cells)
        steps = {round(n ** (r / EXCHANGE_ROUNDS)) for r in range(EXCHANGE_ROUNDS)}
        for step in sorted(steps if n > 1 else ()):
            for i in range(n if 2 * step < n else n - step):
                vectors.append({int(cells[i]): 1, int(cells[(i + step) % n]): -1})
    between = _lll(smith_normal_form(invariants.sparse[:, first]).kernel, len(first))
    largest = max((len(members[t]) for vector in between for t in vector), default=0)
    for vector in between:
        for turn in range(min(largest, 2 * EXCHANGE_ROUNDS + 2)):
            vectors.append(
                {int(members[t][(turn * 5) % len(members[t])]): x for t, x in vector.items()}
            )
    return vectors


def _columns(kernel: Sequence[SparseVector], cells: int, basis: Basis) -> csc_array:
    largest = max((abs(x) for vector in kernel for x in vector.values()), default=0)
    if largest > MAX_ENTRY:
        advice = 'Use the basis "lll"' if basis == "smith" else "Simplify the invariants"
        raise InputError(f"lattice: an entry of the {basis} basis exceeds 2^31. {advice}")
    indptr = np.cumsum([0, *(len(vector) for vector in kernel)], dtype=np.int64)
    indices = np.array([i for vector in kernel for i in sorted(vector)], dtype=np.int64)
    data = np.array([vector[i] for vector in kernel for i in sorted(vector)], dtype=np.int64)
    columns = csc_array((data, indices, indptr), shape=(cells, len(kernel)))
    for array in (columns.data, columns.indices, columns.indptr):
        array.setflags(write=False)
    return columns
