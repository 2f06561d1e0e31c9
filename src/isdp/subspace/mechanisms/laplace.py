"""Laplace noise on the null space: projected and extended."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

import numpy as np
from scipy.sparse import csc_array

from isdp.accounting.guarantees import PrivacyGuarantee
from isdp.checks import check_integer, check_positive_float
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace.bases import check_basis, difference_basis, null_basis
from isdp.subspace.mechanisms.base import NullSpaceMechanism, put, set_up
from isdp.subspace.privacy.neighbours import Relation, query_columns
from isdp.subspace.privacy.sensitivities import basis_sensitivity, quotient_sensitivity, sensitivity
from isdp.subspace.queries import Query

NEGLIGIBLE = 1e-9  # of the largest difference: what rounding may leave outside a basis


@dataclass(frozen=True, eq=False)
class ProjectedLaplace(NullSpaceMechanism):
    """Pi_N e, e Laplace of scale b = Delta_1(A) / epsilon in each answer (SDP, Corollary 3.8).

    Parameters
    ----------
    epsilon : float
        What one record may cost.

    Examples
    --------
    >>> from isdp import Invariants
    >>> from isdp.subspace import Query
    >>> law = ProjectedLaplace(Query.histogram(102), Invariants.total(102), epsilon=0.192)
    >>> round(law.error / 102, 3)
    214.886
    """

    epsilon: float

    def __init__(self, query, invariants, epsilon, relation="replace"):
        check_positive_float("subspace: epsilon", epsilon)
        set_up(self, query, invariants, relation, epsilon=epsilon)

    @cached_property
    def sensitivity(self) -> float:
        """Delta_1(A)."""
        return sensitivity(self.query, 1, self.relation)

    @property
    def scale(self) -> float:
        """b, the scale of an answer's noise before it is projected."""
        return self.sensitivity / self.epsilon

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw noise; float64 array, shape (draws, answers)."""
        shape = check_integer("subspace", "draws", draws), self.query.answers
        return self.null.project(rng.laplace(scale=self.scale, size=shape))

    def covariance(self) -> np.ndarray:
        """2 b^2 Pi_N; float64 array, shape (answers, answers)."""
        return 2 * self.scale**2 * self.null.matrix()

    def variances(self) -> np.ndarray:
        """Variance of each answer; float64 array, shape (answers,)."""
        return 2 * self.scale**2 * self.null.diagonal()

    @property
    def error(self) -> float:
        """2 b^2 (n - n_c)."""
        return 2 * self.scale**2 * self.null.dimension

    def pure_loss(self) -> float:
        """Delta_q / b, the exact loss of one record: at most epsilon, and approached far out."""
        if not self.scale:
            return 0.0
        return quotient_sensitivity(self.query, self.invariants, self.relation) / self.scale

    def guarantee(self) -> PrivacyGuarantee:
        """Give epsilon for each record."""
        return self.pure(self.sensitivity, "SDP, Corollary 3.8")


@dataclass(frozen=True, eq=False)
class ExtendedLaplace(NullSpaceMechanism):
    """Q w, w Laplace of scale b = Delta_1(Q'A) / epsilon (SDP, Corollary 3.9).

    Unlike for Gaussian noise, the l1 sensitivity depends on the basis, so the extension can have a
    smaller or a larger error than the projection. For histograms under a total it has a larger one
    from eight cells on in every basis known here. For ranges and prefix sums it has a much smaller
    one in `difference_basis`.

    Parameters
    ----------
    basis : str or array of shape (answers, m), optional
        A kind of `null_basis`, or orthonormal columns in the null space such as those of
        `kronecker_basis`. They may span less than the null space, as long as no record moves the
        rest. The default is the "haar" basis for a histogram. For other queries it is the "haar"
        basis or `difference_basis`, the one with the smaller error.

    Raises
    ------
    InputError
        If a number or a word is out of its range, query and invariants do not fit, or the basis is
        not orthonormal in the null space or leaves out a difference.
    """

    epsilon: float
    basis: csc_array

    def __init__(self, query, invariants, epsilon, basis=None, relation="replace"):
        check_positive_float("subspace: epsilon", epsilon)
        set_up(self, query, invariants, relation, epsilon=epsilon)
        if basis is None:
            chosen = _default_basis(query, invariants, relation)
        elif isinstance(basis, str):
            chosen = null_basis(invariants, basis)
        else:
            chosen = check_basis(basis, invariants)
        put(self, basis=chosen)
        if chosen.shape[1] < self.null.dimension:
            self._check_span()

    def _check_span(self) -> None:
        columns = query_columns(self.query, self.relation).toarray()
        inside = self.null.project((columns - columns[:, -1:]).T)
        left = np.abs(inside - inside @ self.basis @ self.basis.T).max(initial=0)
        if left > NEGLIGIBLE * np.abs(inside).max(initial=0):
            raise InputError("subspace: a record can move the answers out of the basis")

    @cached_property
    def sensitivity(self) -> float:
        """Delta_1(Q'A) in this basis."""
        return basis_sensitivity(self.query, self.basis, self.relation)

    @property
    def scale(self) -> float:
        """b, the scale of a coordinate's noise."""
        return self.sensitivity / self.epsilon

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw noise; float64 array, shape (draws, answers)."""
        shape = check_integer("subspace", "draws", draws), self.basis.shape[1]
        return (self.basis @ rng.laplace(scale=self.scale, size=shape).T).T

    def covariance(self) -> np.ndarray:
        """2 b^2 Q Q'; float64 array, shape (answers, answers)."""
        return 2 * self.scale**2 * (self.basis @ self.basis.T).toarray()

    def variances(self) -> np.ndarray:
        """Variance of each answer; float64 array, shape (answers,)."""
        return 2 * self.scale**2 * np.asarray(self.basis.multiply(self.basis).sum(axis=1)).ravel()

    @property
    def error(self) -> float:
        """2 b^2 m."""
        return 2 * self.scale**2 * self.basis.shape[1]

    def guarantee(self) -> PrivacyGuarantee:
        """Give epsilon for each record."""
        return self.pure(self.sensitivity, "SDP, Corollary 3.9")


def _default_basis(query: Query, invariants: Invariants, relation: Relation) -> csc_array:
    if query.is_histogram:
        return null_basis(invariants)
    found = []
    for make in (
        lambda: null_basis(invariants),
        lambda: difference_basis(query, invariants, relation),
    ):
        with suppress(InputError):  # not blocks, or too large: the other basis is left
            basis = make()
            size = basis_sensitivity(query, basis, relation)
            found.append((size**2 * basis.shape[1], basis))
    if not found:
        raise InputError(
            "subspace: no basis is known for this query and these invariants; give one as `basis`"
        )
    return min(found, key=itemgetter(0))[1]
