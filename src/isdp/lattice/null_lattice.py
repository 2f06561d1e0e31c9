"""The lattice of feasible noise: all integer vectors u with A u = 0, and its bases."""

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
Kind = Literal["smith", "lll", "exchange"]

BASES = ("smith", "lll")
QUICK_LLL_DIMENSION = 400  # LLL takes about a second up to it; see `basis_seconds`
EXCHANGE_ROUNDS = 3
MAX_ENTRY = 2**31  # so that products with the jumps' coefficients stay within 64 bits


@dataclass(frozen=True, eq=False)
class KernelLattice:
    """The lattice Lambda = {u in Z^n : A u = 0} = C Z^d with d = n - rank(A) (ISDP, Section 3).

    Attributes
    ----------
    invariants : Invariants
        The constraints A.
    kind : {"smith", "lll", "exchange"}
        The construction of the vectors; see `kernel_lattice`.
    columns : csc_array, shape (cells, vectors)
        Vectors that generate the lattice, int64, one per column: the basis C, or the larger set of
        "exchange". There is no column if the invariants fix every cell.
    """

    invariants: Invariants
    kind: Kind
    columns: csc_array

    @cached_property
    def dimension(self) -> int:
        """Degrees of freedom d; 0 where the invariants fix every cell."""
        if self.kind in BASES:
            return int(self.columns.shape[1])
        return degrees_of_freedom(self.invariants)

    @property
    def basis(self) -> NDArray[np.int64]:
        """C as a dense int64 array, shape (cells, dimension).

        Raises
        ------
        InputError
            If the vectors are not a basis.
        """
        if self.kind not in BASES:
            raise InputError(
                f"lattice: the {self.kind} vectors generate the lattice but are not a basis; use "
                f"one of {', '.join(BASES)}"
            )
        return np.asarray(self.columns.toarray(), dtype=np.int64)

    def contains(self, noise: ArrayLike) -> NDArray[np.bool_]:
        """Test whether each vector is feasible noise; bool, shape ``noise.shape[:-1]``."""
        return np.asarray(~self.invariants.apply(noise).any(axis=-1))

    def coordinates(self, vector: ArrayLike) -> NDArray[np.int64]:
        """Return the integer coordinates c with u = C c, exactly.

        Parameters
        ----------
        vector : int array, shape (..., cells)

        Returns
        -------
        int64 array, shape (..., dimension)

        Raises
        ------
        InputError
            If a vector does not lie in the lattice.
        """
        vector = np.asarray(vector)
        self.invariants.check(vector)
        cells, inverse, denominator = self._inverse
        scaled = vector[..., cells].astype(object) @ inverse
        return np.asarray(scaled // denominator, dtype=np.int64)

    @cached_property
    def _inverse(self) -> tuple[NDArray[np.int64], NDArray[np.object_], int]:
        """Return cells J of independent rows of C, and the transposed inverse of C_J.

        Elimination turns [C^T, I] into [.., M] where M C_J^T = I, with J the pivots; then
        u_J = C_J c gives c^T = u_J^T M.
        """
        identity = np.eye(self.dimension, dtype=np.int64)
        rows, cells, denominator = row_reduce(np.hstack([self.basis.T, identity]))
        return cells, rows[:, self.invariants.cells :], denominator


def degrees_of_freedom(invariants: Invariants) -> int:
    """Return the exact dimension d = n - rank(A) of the lattice."""
    return invariants.cells - smith_normal_form(invariants.sparse).rank


def kernel_lattice(invariants: Invariants, basis: Kind = "smith") -> KernelLattice:
    """Build the lattice of feasible noise with a basis.

    Parameters
    ----------
    basis : {"smith", "lll", "exchange"}
        "smith": the last columns of V in the Smith normal form U A V = D (Proposition 8).
        "lll": the same lattice in the shorter, more orthogonal vectors of Lenstra, Lenstra and
        Lovasz.
        "exchange": more vectors than a basis has. Cells of one class (equal columns of A) exchange
        with near and far cells of the class. A reduced basis of the quotient moves between the
        classes. Walks with large classes mix faster along it, as no cell is in every jump.

    Raises
    ------
    InputError
        For an unknown basis, or one whose entries are too large for 64-bit sampling.
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


def basis_seconds(invariants: Invariants, basis: Kind) -> float:
    """Forecast the time of `kernel_lattice` in seconds, within a factor of about two.

    The time of LLL grows with the cube of the dimension. It was measured from 512 to 978, for
    margins of two and three ways, totals of states and classes, and random sums. The rest grows
    with the number of cells.
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
    """Return vectors within and between cell classes, on several cells of each class."""
    kind, first = find_cell_classes(invariants)
    members = np.split(np.argsort(kind, kind="stable"), np.cumsum(np.bincount(kind))[:-1])
    vectors = []
    for cells in members:
        n = len(cells)
        steps = {round(n ** (r / EXCHANGE_ROUNDS)) for r in range(EXCHANGE_ROUNDS)}
        for step in sorted(steps if n > 1 else ()):
            for i in range(n if 2 * step < n else n - step):
                vectors.append({int(cells[i]): 1, int(cells[(i + step) % n]): -1})
    between = _lll(smith_normal_form(invariants.sparse[:, first]).kernel, len(first))
    most = max((len(members[t]) for vector in between for t in vector), default=0)
    for vector in between:
        for turn in range(min(most, 2 * EXCHANGE_ROUNDS + 2)):
            vectors.append(
                {int(members[t][(turn * 5) % len(members[t])]): x for t, x in vector.items()}
            )
    return vectors


def _columns(kernel: Sequence[SparseVector], cells: int, basis: Kind) -> csc_array:
    largest = max((abs(x) for vector in kernel for x in vector.values()), default=0)
    if largest > MAX_ENTRY:
        advice = 'try basis "lll"' if basis == "smith" else "simplify the invariants"
        raise InputError(
            f"lattice: the {basis} basis has an entry of {len(str(largest))} digits, more than "
            f"64-bit sampling allows (2^31); {advice}"
        )
    indptr = np.cumsum([0, *(len(vector) for vector in kernel)], dtype=np.int64)
    indices = np.array([i for vector in kernel for i in sorted(vector)], dtype=np.int64)
    data = np.array([vector[i] for vector in kernel for i in sorted(vector)], dtype=np.int64)
    columns = csc_array((data, indices, indptr), shape=(cells, len(kernel)))
    for array in (columns.data, columns.indices, columns.indptr):
        array.setflags(write=False)
    return columns
