"""The null space of invariants over the reals, and the orthogonal projection onto it."""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import SuperLU, splu

from isdp.arrays import FloatArray
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.lattice.elimination import independent_rows

MAX_BLOCK_ENTRIES = 4_000_000  # maximum number of entries of a dense block of columns
MAX_MATRIX_CELLS = 4_000  # maximum number of cells of a dense projection matrix
TOLERANCE = 1e-9  # maximum share of a projected vector outside the null space


class NullSpace:
    """The null space N = {v in R^n : C v = 0} of invariants C, with the projection Pi_N onto it.

    For independent rows of C, the projection of v is v - C' (C C')^-1 C v. Independent rows are
    found in exact arithmetic. Only C C' is factorised, as a sparse matrix.

    Attributes
    ----------
    rank : int
        Exact rank n_c of C.
    """

    def __init__(self, invariants: Invariants):
        self.invariants = invariants
        rows = invariants.sparse[independent_rows(invariants.sparse)].astype(float)
        lengths = np.sqrt(rows.multiply(rows).sum(axis=1))
        self.rank: int = rows.shape[0]
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

    def project(self, vectors: ArrayLike) -> FloatArray:
        """Project the vectors of an array (..., cells) onto the null space.

        Raise `InputError` if the last axis does not have one entry per cell. The error is also
        raised if the rows of C are nearly dependent, so that more than 1e-9 of a vector remains
        outside the null space.
        """
        vectors = np.asarray(vectors, dtype=float)
        if vectors.ndim == 0 or vectors.shape[-1] != self.cells:
            raise InputError(
                f"subspace: vectors: the last axis must have one entry for each of the "
                f"{self.cells} cells, got shape {vectors.shape}"
            )
        if not self.rank or not vectors.size:
            return vectors.copy()
        columns = vectors.reshape(-1, self.cells).T
        once = columns - self._rows.T @ self._solver.solve(self._rows @ columns)
        outside = self._rows @ once
        # the second projection removes rounding errors
        twice: FloatArray = once - self._rows.T @ self._solver.solve(outside)
        if np.abs(self._rows @ twice).max() > TOLERANCE * np.abs(columns).max():
            raise InputError(
                "subspace: invariants: the rows are too nearly dependent to project in floating "
                "point. Use rows that differ more."
            )
        return np.ascontiguousarray(twice.T).reshape(vectors.shape)

    def diagonal(self) -> FloatArray:
        """Compute the diagonal of Pi_N, whose entries are from 0 to 1."""
        diagonal = np.ones(self.cells)
        if not self.rank:
            return diagonal
        step = max(1, MAX_BLOCK_ENTRIES // self.cells)
        for start in range(0, self.rank, step):  # each block has some columns of (C C')^-1
            some = self._rows[start : start + step]
            units = np.eye(self.rank, some.shape[0], -start)
            diagonal -= some.T.multiply(self._rows.T @ self._solver.solve(units)).sum(axis=1)
        return diagonal.clip(0, 1)

    def sum_variances(self, sums: csr_array) -> FloatArray:
        """Compute the variance of each sum of cells under noise of covariance Pi_N.

        `sums` has a row of zeros and ones for each sum. The variance is the squared length of the
        projection of the row. It is 0 for sums that the invariants determine.
        """
        n_cells = sums.sum(axis=1)
        variances, single = np.empty(len(n_cells)), n_cells == 1
        if single.any():
            variances[single] = self.diagonal()[sums[single].indices]
        several = np.flatnonzero(~single)
        step = max(1, MAX_BLOCK_ENTRIES // self.cells)
        for start in range(0, len(several), step):
            chosen = several[start : start + step]
            rows = sums[chosen].toarray()
            variances[chosen] = (rows * self.project(rows)).sum(axis=1)
        return np.where(variances > TOLERANCE * n_cells, variances, 0.0)

    def matrix(self) -> FloatArray:
        """Compute Pi_N as a dense array of shape (cells, cells), for at most 4,000 cells."""
        if self.cells > MAX_MATRIX_CELLS:
            raise InputError(
                f"subspace: invariants: the projection matrix of {self.cells} cells has "
                f"{self.cells}^2 entries. Use `project` and `diagonal` instead."
            )
        return self.project(np.eye(self.cells))

    def residual(self, noise: ArrayLike) -> float:
        """Compute the maximum of |C e| over draws e, relative to the maximum of |e|.

        The rows of C are normalised.
        """
        noise = np.asarray(noise, dtype=float).reshape(-1, self.cells)
        largest = np.abs(noise).max(initial=0)
        return float(np.abs(self._rows @ noise.T).max(initial=0) / largest) if largest else 0.0


@lru_cache(maxsize=16)
def null_space(invariants: Invariants) -> NullSpace:
    """Return the null space of the invariants. The result is cached."""
    return NullSpace(invariants)
