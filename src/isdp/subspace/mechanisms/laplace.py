"""Projected and extended Laplace noise of *Subspace Differential Privacy* (SDP)."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csc_array

from isdp.accounting.guarantees import PrivacyGuarantee
from isdp.arrays import FloatArray
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace.bases import BasisKind, check_basis, difference_basis, null_basis
from isdp.subspace.mechanisms.base import NullSpaceMechanism
from isdp.subspace.privacy.neighbours import Relation, query_columns
from isdp.subspace.privacy.sensitivities import basis_sensitivity, quotient_sensitivity, sensitivity
from isdp.subspace.queries import Query

ROUNDING_TOLERANCE = 1e-9  # maximum share of the largest difference outside the span of a basis


class ProjectedLaplace(NullSpaceMechanism):
    """Projected Laplace noise Pi_N e (SDP, Corollary 3.8).

    The vector e has independent Laplace entries of scale b = Delta_1(A) / epsilon.

    Examples
    --------
    >>> from isdp import Invariants
    >>> from isdp.subspace import Query
    >>> mechanism = ProjectedLaplace(Query.histogram(102), Invariants.total(102), epsilon=0.192)
    >>> round(mechanism.error / 102, 3)
    214.886
    """

    @cached_property
    def sensitivity(self) -> float:
        """The l1 sensitivity Delta_1(A) of the answers."""
        return sensitivity(self.query, 1, self.relation)

    @property
    def scale(self) -> float:
        """Scale b of the noise of an answer before the projection."""
        return self.sensitivity / self.epsilon

    def _draw(self, rng: np.random.Generator, n_draws: int) -> FloatArray:
        shape = n_draws, self.query.answers
        return self.null.project(rng.laplace(scale=self.scale, size=shape))

    def covariance(self) -> FloatArray:
        """Compute the covariance matrix 2 b^2 Pi_N, of shape (answers, answers)."""
        return 2 * self.scale**2 * self.null.matrix()

    def variances(self) -> FloatArray:
        """Compute the variance of the noise of each answer."""
        return 2 * self.scale**2 * self.null.diagonal()

    @property
    def error(self) -> float:
        """Expected squared error 2 b^2 (n - n_c), summed over the answers."""
        return 2 * self.scale**2 * self.null.dimension

    def pure_loss(self) -> float:
        """Compute the exact pure loss Delta_q / b of one record, which is at most epsilon."""
        if not self.scale:
            return 0.0
        return quotient_sensitivity(self.query, self.invariants, self.relation) / self.scale

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """Guarantee of epsilon-differential privacy between neighbouring data sets."""
        return self._pure_guarantee(self.sensitivity, "SDP, Corollary 3.8")


class ExtendedLaplace(NullSpaceMechanism):
    """Extended Laplace noise Q w (SDP, Corollary 3.9).

    The vector w has independent Laplace entries of scale b = Delta_1(Q'A) / epsilon. The l1
    sensitivity depends on the basis, unlike the l2 sensitivity. The error can therefore be smaller
    or larger than that of the projection. For histograms of at least eight cells under a total, the
    error is larger in every basis of this package. For ranges and prefix sums, `difference_basis`
    gives a much smaller error.

    Parameters
    ----------
    basis : str or array of shape (answers, m), optional
        A kind of `null_basis`, or orthonormal columns in the null space, for example from
        `kronecker_basis`. The columns may span a subspace of the null space that contains all
        differences. The default for a histogram is the "haar" basis. For other queries, the default
        is the basis of "haar" and `difference_basis` with the smaller error.
    """

    def __init__(
        self,
        query: Query,
        invariants: Invariants,
        epsilon: float,
        basis: BasisKind | ArrayLike | csc_array | None = None,
        relation: Relation = "replace",
    ):
        super().__init__(query, invariants, epsilon, relation)
        if basis is None:
            self.basis = _default_basis(query, invariants, relation)
        elif isinstance(basis, str):
            self.basis = null_basis(invariants, cast(BasisKind, basis))  # checks the kind
        else:
            self.basis = check_basis(basis, invariants)
        if self.basis.shape[1] < self.null.dimension:
            self._check_span()

    def _check_span(self) -> None:
        columns = query_columns(self.query, self.relation).toarray()
        inside = self.null.project((columns - columns[:, -1:]).T)
        outside = np.abs(inside - inside @ self.basis @ self.basis.T).max(initial=0)
        if outside > ROUNDING_TOLERANCE * np.abs(inside).max(initial=0):
            raise InputError(
                "subspace: basis: a record can change the answers outside the span of the basis. "
                "Add columns, or use `difference_basis`."
            )

    @cached_property
    def sensitivity(self) -> float:
        """The l1 sensitivity Delta_1(Q'A) in this basis."""
        return basis_sensitivity(self.query, self.basis, self.relation)

    @property
    def scale(self) -> float:
        """Scale b of the noise of a coordinate."""
        return self.sensitivity / self.epsilon

    def _draw(self, rng: np.random.Generator, n_draws: int) -> FloatArray:
        shape = n_draws, self.basis.shape[1]
        return np.asarray((self.basis @ rng.laplace(scale=self.scale, size=shape).T).T)

    def covariance(self) -> FloatArray:
        """Compute the covariance matrix 2 b^2 Q Q', of shape (answers, answers)."""
        gram: FloatArray = (self.basis @ self.basis.T).toarray()
        return 2 * self.scale**2 * gram

    def variances(self) -> FloatArray:
        """Compute the variance of the noise of each answer."""
        squares: FloatArray = self.basis.multiply(self.basis).sum(axis=1)
        return 2 * self.scale**2 * np.asarray(squares).ravel()

    @property
    def error(self) -> float:
        """Expected squared error 2 b^2 m, summed over the answers."""
        dimension: int = self.basis.shape[1]
        return 2 * self.scale**2 * dimension

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """Guarantee of epsilon-differential privacy between neighbouring data sets."""
        return self._pure_guarantee(self.sensitivity, "SDP, Corollary 3.9")


def _default_basis(query: Query, invariants: Invariants, relation: Relation) -> csc_array:
    if query.is_histogram:
        return null_basis(invariants)
    bases: list[csc_array] = []
    with suppress(InputError):  # the totals overlap
        bases.append(null_basis(invariants))
    with suppress(InputError):  # the query is too large
        bases.append(difference_basis(query, invariants, relation))
    best, min_error = None, math.inf
    for basis in bases:
        with suppress(InputError):  # there are too many coordinates
            error = basis_sensitivity(query, basis, relation) ** 2 * basis.shape[1]
            if error < min_error:
                best, min_error = basis, error
    if best is None:
        raise InputError(
            "subspace: basis: this query with these invariants has no default basis. Give a basis."
        )
    return best
