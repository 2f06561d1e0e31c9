"""The real null space that invariants leave free, and the projection on it, never dense."""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import SuperLU, splu

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.lattice.elimination import independent_rows

MOST_ENTRIES = 4_000_000  # of a dense block that is worked on at a time
LARGEST_MATRIX = 4_000  # cells up to which the projection is given as a matrix
NEGLIGIBLE = 1e-9  # part of a vector that may be left outside the null space


class NullSpace:
    """N = {v in R^n : C v = 0} for invariants C, with its orthogonal projection Pi_N.

    The projection is v - C' (C C')^-1 C v for independent rows of C, which are found exactly; only
    C C', one row and column for each independent invariant, is factorised, and sparsely so.

    Attributes
    ----------
    rank : int
        n_c, exactly; rows may repeat or depend on each other.

    Raises
    ------
    InputError
        If the rank cannot be found exactly.
    """

    def __init__(self, invariants: Invariants):
        self.invariants = invariants
        rows = invariants.sparse[independent_rows(invariants.sparse)].astype(float)
        lengths = np.sqrt(rows.multiply(rows).sum(axis=1))
        self.rank = rows.shape[0]
        self._rows = csr_array(diags_array(1 / lengths) @ rows) if self.rank else rows

    @property
    def cells(self) -> int:
        """Number of cells n."""
        return self.invariants.cells

    @property
    def dimension(self) -> int:
        """Dimension n - n_c of the null space."""
        return self.cells - self.rank

    @cached_property
    def _solver(self) -> SuperLU:
        return splu((self._rows @ self._rows.T).tocsc())

    def project(self, vectors) -> np.ndarray:
        """Project vectors on the null space.

        Parameters
        ----------
        vectors : array, shape (..., cells)

        Returns
        -------
        float64 array of the same shape

        Raises
        ------
        InputError
            If the last axis is not the cells, or the rows are so nearly dependent that more than
            1e-9 of a vector is left outside.
        """
        vectors = np.asarray(vectors, dtype=float)
        if vectors.ndim == 0 or vectors.shape[-1] != self.cells:
            raise InputError(
                f"subspace: the last axis must hold the {self.cells} cells, got shape "
                f"{vectors.shape}"
            )
        if not self.rank or not vectors.size:
            return vectors.copy()
        columns = vectors.reshape(-1, self.cells).T
        once = columns - self._rows.T @ self._solver.solve(self._rows @ columns)
        left = self._rows @ once
        twice = once - self._rows.T @ self._solver.solve(left)  # takes away what rounding left
        if np.abs(self._rows @ twice).max() > NEGLIGIBLE * np.abs(columns).max():
            raise InputError(
                "subspace: the invariants are too nearly dependent to project in floating point; "
                "state them by rows that differ more"
            )
        return np.ascontiguousarray(twice.T).reshape(vectors.shape)

    def columns(self, cells) -> np.ndarray:
        """Columns of Pi_N at some cells; float64 array, shape (cells, number of them)."""
        units = np.zeros((len(cells), self.cells))
        units[np.arange(len(cells)), cells] = 1
        return self.project(units).T

    def diagonal(self) -> np.ndarray:
        """Diagonal of Pi_N; float64 array, shape (cells,), each from 0 to 1."""
        if not self.rank:
            return np.ones(self.cells)
        kept = np.ones(self.cells)
        step = max(1, MOST_ENTRIES // self.cells)
        for start in range(0, self.rank, step):  # column by column of (C C')^-1, as they are fewer
            some = self._rows[start : start + step]
            units = np.eye(self.rank, some.shape[0], -start)
            kept -= some.T.multiply(self._rows.T @ self._solver.solve(units)).sum(axis=1)
        return kept.clip(0, 1)

    def kept(self, sums: csr_array) -> np.ndarray:
        """Squared length of the projection of each row of a matrix of zeros and ones.

        Noise of covariance s^2 Pi_N gives the sum of these cells s^2 times this variance.

        Parameters
        ----------
        sums : csr_array, shape (sums, cells)

        Returns
        -------
        float64 array, shape (sums,)
            0 where a sum is held.
        """
        number = sums.sum(axis=1)
        kept, single = np.empty(len(number)), number == 1
        if single.any():
            kept[single] = self.diagonal()[sums[single].indices]
        several = np.flatnonzero(~single)
        step = max(1, MOST_ENTRIES // self.cells)
        for start in range(0, len(several), step):
            chosen = several[start : start + step]
            rows = sums[chosen].toarray()
            kept[chosen] = (rows * self.project(rows)).sum(axis=1)
        return np.where(kept > NEGLIGIBLE * number, kept, 0.0)

    def matrix(self) -> np.ndarray:
        """Pi_N as a dense float64 array, shape (cells, cells).

        Raises
        ------
        InputError
            Beyond 4,000 cells.
        """
        if self.cells > LARGEST_MATRIX:
            raise InputError(
                f"subspace: the projection of {self.cells} cells would take {self.cells}^2 "
                f"numbers; use `project` and `diagonal` instead"
            )
        return self.project(np.eye(self.cells))

    def residual(self, noise) -> float:
        """Largest |C e| over draws e and rows C of length 1, as a part of the largest |e|."""
        noise = np.asarray(noise, dtype=float).reshape(-1, self.cells)
        largest = np.abs(noise).max(initial=0)
        return float(np.abs(self._rows @ noise.T).max(initial=0) / largest) if largest else 0.0


@lru_cache(maxsize=16)
def null_space(invariants: Invariants) -> NullSpace:
    """Set up the null space of invariants, once for each of them."""
    return NullSpace(invariants)
