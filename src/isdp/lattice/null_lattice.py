"""The lattice of feasible noise: all integer vectors u with A u = 0, and its bases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from flint import fmpz_mat
from scipy.sparse import csc_array

from isdp.checks import check_choice
from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError
from isdp.lattice.elimination import row_reduce
from isdp.lattice.smith import smith_normal_form

Basis = Literal["smith", "lll", "exchange"]
BASES = ("smith", "lll")
QUICK_LLL_DIMENSION = 400  # dimension up to which LLL takes about a second; see `basis_seconds`
EXCHANGE_ROUNDS = 3
MAX_ENTRY = 2**31  # leaves the samplers room for products with the jumps' coefficients


@dataclass(frozen=True, eq=False)
class KernelLattice:
    """Lambda = {u in Z^n : A u = 0} = C Z^d with d = n - rank(A) (ISDP, Section 3).

    Attributes
    ----------
    invariants : Invariants
        The constraints A.
    kind : {"smith", "lll", "exchange"}
        How the vectors were made; see `kernel_lattice`.
    columns : csc_array, shape (cells, vectors)
        Vectors that generate the lattice, int64, one a column: the basis C, or the more of
        "exchange". With no freedom left there is no column.
    """

    invariants: Invariants
    kind: str
    columns: csc_array

    @cached_property
    def dimension(self) -> int:
        """Degrees of freedom d; 0 where the invariants fix every cell."""
        if self.kind in BASES:
            return self.columns.shape[1]
        return degrees_of_freedom(self.invariants)

    @property
    def basis(self) -> np.ndarray:
        """C as a dense int64 array, shape (cells, dimension).

        Raises
        ------
        InputError
            If the vectors are no basis.
        """
        if self.kind not in BASES:
            raise InputError(
                f"lattice: the {self.kind} vectors generate the lattice but are no basis; use one "
                f"of {', '.join(BASES)}"
            )
        return self.columns.toarray()

    def contains(self, noise) -> np.ndarray:
        """Whether each vector is feasible noise; bool array of shape ``noise.shape[:-1]``."""
        return ~self.invariants.apply(noise).any(axis=-1)

    def coordinates(self, vector) -> np.ndarray:
        """Integer coordinates c with u = C c, found exactly.

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
        return (scaled // denominator).astype(np.int64)

    @cached_property
    def _inverse(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Cells J of independent rows of C, and the transposed inverse of C_J over a denominator.

        Elimination turns [C^T, I] into [.., M] where M C_J^T = I, with J the pivots; then
        u_J = C_J c gives c^T = u_J^T M.
        """
        identity = np.eye(self.dimension, dtype=np.int64)
        rows, cells, denominator = row_reduce(np.hstack([self.basis.T, identity]))
        return cells, rows[:, self.invariants.cells :], denominator


def degrees_of_freedom(invariants: Invariants) -> int:
    """Dimension d = n - rank(A) of the lattice, found exactly."""
    return invariants.cells - smith_normal_form(invariants.sparse).rank


def kernel_lattice(invariants: Invariants, basis: str = "smith") -> KernelLattice:
    """Lattice of feasible noise with the basis asked for.

    Parameters
    ----------
    basis : {"smith", "lll", "exchange"}
        "smith": the last columns of V in the Smith normal form U A V = D (Proposition 8).
        "lll": the same lattice in the shorter, more orthogonal vectors of Lenstra, Lenstra and
        Lovasz.
        "exchange": more vectors than a basis has. Cells in which A has equal columns exchange
        with near and far ones of their kind; a reduced basis of what is left moves between the
        kinds. Walks with many cells of a kind mix faster along it, as no cell is in every jump.

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
    kernel = smith_normal_form(invariants.sparse).kernel
    if basis == "lll":
        kernel = _lll(kernel, invariants.cells)
    return KernelLattice(invariants, basis, _columns(kernel, invariants.cells, basis))


def basis_seconds(invariants: Invariants, basis: str) -> float:
    """Forecast how long `kernel_lattice` takes: seconds, right to a factor of about two.

    LLL takes the cube of the dimension (measured from 512 to 978, for margins of two and three
    ways, totals of states and classes, and random sums); what else is done, the number of cells.
    """
    elimination = 2e-5 * invariants.cells
    if basis == "smith":
        return elimination
    columns = invariants.cells if basis == "lll" else len(find_cell_classes(invariants)[1])
    return elimination + (max(columns - invariants.constraints, 0) / QUICK_LLL_DIMENSION) ** 3


def _lll(kernel, cells: int):
    if not kernel:
        return kernel
    rows = fmpz_mat([[vector.get(i, 0) for i in range(cells)] for vector in kernel]).lll()
    return [
        {i: int(rows[j, i]) for i in range(cells) if rows[j, i] != 0} for j in range(len(kernel))
    ]


def _exchanges(invariants: Invariants) -> list[dict[int, int]]:
    """Vectors between cells of one kind, and between kinds, on several cells of each."""
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


def _columns(kernel, cells: int, basis: str) -> csc_array:
    largest = max((abs(x) for vector in kernel for x in vector.values()), default=0)
    if largest > MAX_ENTRY:
        advice = 'try basis "lll"' if basis == "smith" else "simplify the invariants"
        raise InputError(
            f"lattice: the {basis} basis has an entry of {len(str(largest))} digits, more than "
            f"64-bit sampling can bear (2^31); {advice}"
        )
    indptr = np.cumsum([0, *(len(vector) for vector in kernel)], dtype=np.int64)
    indices = np.array([i for vector in kernel for i in sorted(vector)], dtype=np.int64)
    data = np.array([vector[i] for vector in kernel for i in sorted(vector)], dtype=np.int64)
    columns = csc_array((data, indices, indptr), shape=(cells, len(kernel)))
    for array in (columns.data, columns.indices, columns.indptr):
        array.setflags(write=False)
    return columns
