"""The differences within the null space, in coordinates of their span.

Let V_N be the span of all differences within the null space, and U an orthonormal basis of V_N.
Each record type z becomes a point x_z of R^r, so that x_z - x_y has the coordinates of
Pi_N (a_z - a_y) in U. The dimension r is computed exactly and may be smaller than that of the null
space. The quadratic forms of all pairs of the d types follow from one d x d matrix. A weighted sum
over pairs follows from a graph Laplacian. The differences are therefore never listed.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from isdp.arrays import BoolArray, FloatArray
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace.null_space import null_space
from isdp.subspace.privacy.neighbours import Relation, query_columns
from isdp.subspace.privacy.sensitivities import rank_of_differences
from isdp.subspace.queries import Query

MAX_ENTRIES = 12_000_000  # maximum number of answers times types
RANK_TOLERANCE = 1e-7  # singular values below this relative size count as zero


@dataclass(frozen=True, eq=False)
class Geometry:
    """The points of the record types, and the relation between neighbours.

    Attributes
    ----------
    span : float64 array, shape (answers, r)
        The basis U, which is arbitrary. Use only quantities that do not depend on its choice.
    points : float64 array, shape (r, types)
        The points x_z, one in each column. With "add-remove" the last column is the absent record.
    """

    query: Query
    invariants: Invariants
    relation: Relation
    span: FloatArray
    points: FloatArray

    @property
    def rank(self) -> int:
        """Dimension r of the span of the differences."""
        return len(self.points)

    def squares(self, root: FloatArray) -> FloatArray:
        """Compute the matrix (types, types) of |root (x_z - x_y)|^2, with 0 for other pairs."""
        moved = root @ self.points
        gram = moved.T @ moved
        norms = np.diag(gram)
        squares: FloatArray = np.maximum(norms[:, None] + norms - 2 * gram, 0)
        return squares * self.mask

    @cached_property
    def mask(self) -> BoolArray:
        """Bool array of shape (types, types) that is true for pairs of neighbours."""
        types = self.points.shape[1]
        if self.relation == "replace":
            return ~np.eye(types, dtype=bool)
        star = np.zeros((types, types), dtype=bool)
        star[-1, :-1] = star[:-1, -1] = True
        return star

    def moment(self, weights: FloatArray) -> FloatArray:
        """Compute the weighted sum of (x_z - x_y)(x_z - x_y)' over pairs, of shape (r, r).

        The weights of shape (types, types) are symmetric, and 0 for pairs that are not neighbours.
        A pair has two entries and counts once.
        """
        laplacian: FloatArray = np.diag(weights.sum(axis=1)) - weights
        return self.points @ laplacian @ self.points.T


@lru_cache(maxsize=8)
def geometry(query: Query, invariants: Invariants, relation: Relation = "replace") -> Geometry:
    """Compute the geometry of the differences of a query.

    Raise `InputError` if the query is too large for dense matrices, or the numerical rank is not
    the exact rank.
    """
    columns = query_columns(query, relation)
    if columns.shape[0] * columns.shape[1] > MAX_ENTRIES:
        raise InputError(
            f"subspace: query: {columns.shape[0]} answers on {columns.shape[1]} types are too many "
            f"for dense matrices. Use a projected or extended mechanism."
        )
    rank = rank_of_differences(query, invariants, relation)
    inside = null_space(invariants).project(columns.T.toarray()).T
    origin = inside.mean(axis=1) if relation == "replace" else inside[:, -1]
    span, sizes, turn = np.linalg.svd(inside - origin[:, None], full_matrices=False)
    if rank and sizes[rank - 1] < RANK_TOLERANCE * sizes[0]:
        raise InputError(
            f"subspace: query: the differences span {rank} dimensions, but fewer in floating "
            f"point. Scale the answers to similar magnitudes."
        )
    points = sizes[:rank, None] * turn[:rank]
    return Geometry(query, invariants, relation, span[:, :rank], points)
