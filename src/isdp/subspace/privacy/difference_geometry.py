"""The differences within the null space, in coordinates of their own span.

Each type z of record becomes a point x_z of R^r such that x_z - x_y holds the coordinates of
Pi_N (a_z - a_y) in an orthonormal basis U of V_N, the span of all differences within the null
space. Its dimension r is found exactly and may be smaller than that of the null space. Quadratic
forms of all pairs then cost one d x d matrix, and sums over pairs are a weighted graph's Laplacian,
so the differences are never listed and equal ones need not be merged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace.null_space import null_space
from isdp.subspace.privacy.neighbours import Relation, neighbour_pairs, query_columns
from isdp.subspace.privacy.sensitivities import rank_of_differences
from isdp.subspace.queries import Query

MOST_ENTRIES = 12_000_000  # answers times types
GAP = 1e-7  # relative size below which a singular value counts as zero


@dataclass(frozen=True, eq=False)
class Geometry:
    """Points that stand for the types of record, and which of them are neighbours.

    Attributes
    ----------
    query, invariants, relation
        Where they come from.
    span : float64 array, shape (answers, r)
        U, orthonormal. Which basis of the span it is, is arbitrary: use what does not hang on it.
    points : float64 array, shape (r, types)
        x_z, one a column; with "add-remove" the last one is nobody's.
    """

    query: Query
    invariants: Invariants
    relation: Relation
    span: np.ndarray
    points: np.ndarray

    @property
    def rank(self) -> int:
        """Dimension r of V_N."""
        return self.points.shape[0]

    @property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of neighbours (z, y), as two index arrays."""
        return neighbour_pairs(self.points.shape[1], self.relation)

    def squares(self, root: np.ndarray) -> np.ndarray:
        """|root (x_z - x_y)|^2 of every pair of columns; float64 array, shape (types, types).

        Pairs that are no neighbours are set to 0.
        """
        moved = root @ self.points
        gram = moved.T @ moved
        norms = np.diag(gram)
        squares = np.maximum(norms[:, None] + norms - 2 * gram, 0)
        return squares * self.mask

    @cached_property
    def mask(self) -> np.ndarray:
        """Which pairs of columns are neighbours; bool array, shape (types, types)."""
        types = self.points.shape[1]
        if self.relation == "replace":
            return ~np.eye(types, dtype=bool)
        star = np.zeros((types, types), dtype=bool)
        star[-1, :-1] = star[:-1, -1] = True
        return star

    def moment(self, weights: np.ndarray) -> np.ndarray:
        """Sum over pairs of weight times (x_z - x_y)(x_z - x_y)'; shape (r, r).

        Parameters
        ----------
        weights : array, shape (types, types)
            Symmetric, zero for pairs that are no neighbours; each pair stands in it twice and
            counts once.
        """
        laplacian = np.diag(weights.sum(axis=1)) - weights
        return self.points @ laplacian @ self.points.T


@lru_cache(maxsize=8)
def geometry(query: Query, invariants: Invariants, relation: Relation = "replace") -> Geometry:
    """Set up the geometry of a query's differences.

    Raises
    ------
    InputError
        If the query is too large for dense matrices, or the span's dimension in floating point is
        not the exact one.
    """
    columns = query_columns(query, relation)
    if columns.shape[0] * columns.shape[1] > MOST_ENTRIES:
        raise InputError(
            f"subspace: {columns.shape[0]} answers on {columns.shape[1]} types are too many for "
            f"the dense matrices of a correlated mechanism; take the projected or extended ones"
        )
    rank = rank_of_differences(query, invariants, relation)
    inside = null_space(invariants).project(columns.T.toarray()).T
    origin = inside.mean(axis=1) if relation == "replace" else inside[:, -1]
    span, sizes, turn = np.linalg.svd(inside - origin[:, None], full_matrices=False)
    if rank and sizes[rank - 1] < GAP * sizes[0]:
        raise InputError(
            f"subspace: the differences span {rank} dimensions, but in floating point fewer; scale "
            f"the answers alike"
        )
    points = sizes[:rank, None] * turn[:rank]
    return Geometry(query, invariants, relation, span[:, :rank], points)
