"""Projected, extended and correlated Gaussian noise of *Subspace Differential Privacy* (SDP)."""

import math
from fractions import Fraction
from functools import cached_property

import numpy as np

from isdp.accounting.guarantees import PrivacyGuarantee, upper_product
from isdp.arrays import FloatArray
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace.mechanisms.base import NO_DIFFERENCE, NullSpaceMechanism
from isdp.subspace.mechanisms.correlated_shapes import CovarianceShape
from isdp.subspace.privacy.gaussian_calibration import Calibration, certified_delta, multiplier
from isdp.subspace.privacy.neighbours import Relation
from isdp.subspace.privacy.sensitivities import null_sensitivity, sensitivity
from isdp.subspace.queries import Query

MAX_DELTA = 1 - 1e-16  # a guarantee needs a delta below 1


class _Gaussian(NullSpaceMechanism):
    """Gaussian noise in which the longest difference has a length of 1/c standard deviations.

    The attribute `multiplier` is c.
    """

    def __init__(
        self,
        query: Query,
        invariants: Invariants,
        epsilon: float,
        delta: float,
        constant: Calibration = "exact",
        relation: Relation = "replace",
    ):
        super().__init__(query, invariants, epsilon, relation)
        self.delta, self.constant = delta, constant
        self.multiplier = multiplier(epsilon, delta, constant)

    def _gaussian_guarantee(self, sensitivity: float, source: str) -> PrivacyGuarantee:
        if not sensitivity:
            return self._guarantee("pure", 0, NO_DIFFERENCE)
        delta = certified_delta(self.epsilon, self.multiplier)[1]
        if self.constant == "exact":
            delta = self.delta
        return self._guarantee("approximate", self.epsilon, source, min(delta, MAX_DELTA))

    @property
    def zcdp_guarantee(self) -> PrivacyGuarantee:
        """Guarantee of zero-concentrated differential privacy with rho = 1 / (2 c^2)."""
        source = "Bun and Steinke 2016, Proposition 1.6"
        rho = upper_product(1.0, 1 / (2 * Fraction(self.multiplier) ** 2))  # never rounded down
        return self._guarantee("zCDP", rho, source)


class ProjectedGaussian(_Gaussian):
    """Projected Gaussian noise Pi_N e (SDP, Corollary 3.5).

    The vector e is normal with standard deviation c Delta_2(A) in each answer.

    Parameters
    ----------
    epsilon, delta : float
        Privacy loss of one record, with delta between 0 and 1.
    constant : {"exact", "paper"}
        "exact" uses the minimum c for epsilon and delta. "paper" uses the c of Lemma 3.4, which is
        too small for very small delta. The guarantee then states a larger delta, which is valid.

    Examples
    --------
    >>> from isdp import Invariants
    >>> from isdp.subspace import Query
    >>> mechanism = ProjectedGaussian(Query.histogram(3), Invariants.total(3), 1.0, 1e-5)
    >>> mechanism.sample(np.random.default_rng(1), 4).shape
    (4, 3)
    """

    _source = "SDP, Corollary 3.5"

    @cached_property
    def sensitivity(self) -> float:
        """The l2 sensitivity Delta_2(A) of the answers."""
        return sensitivity(self.query, 2, self.relation)

    @property
    def sd(self) -> float:
        """Standard deviation of the noise of an answer before the projection."""
        return self.multiplier * self.sensitivity

    def _draw(self, rng: np.random.Generator, n_draws: int) -> FloatArray:
        shape = n_draws, self.query.answers
        return self.null.project(rng.normal(scale=self.sd, size=shape))

    def covariance(self) -> FloatArray:
        """Compute the covariance matrix c^2 Delta^2 Pi_N, of shape (answers, answers)."""
        return self.sd**2 * self.null.matrix()

    def variances(self) -> FloatArray:
        """Compute the variance of the noise of each answer."""
        return self.sd**2 * self.null.diagonal()

    @property
    def error(self) -> float:
        """Expected squared error (n - n_c) c^2 Delta^2, summed over the answers."""
        return self.null.dimension * self.sd**2

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """Guarantee of (epsilon, delta)-differential privacy between neighbouring data sets."""
        return self._gaussian_guarantee(self.sensitivity, self._source)


class ExtendedGaussian(ProjectedGaussian):
    """Extended Gaussian noise Q w (SDP, Corollary 3.6).

    The vector w is normal with standard deviation c Delta_2(Q'A). The distribution is that of Pi_N
    e with the smaller sensitivity, so no basis Q is needed. The parameters are those of
    `ProjectedGaussian`. The error is at most that of `ProjectedGaussian`.
    """

    _source = "SDP, Corollary 3.6"

    @cached_property
    def sensitivity(self) -> float:
        """The l2 sensitivity Delta_2(Q'A) within the null space."""
        return null_sensitivity(self.query, self.invariants, self.relation)


class CorrelatedGaussian(_Gaussian):
    """Gaussian noise of covariance c^2 S for a covariance shape S (SDP, Theorem 3.11).

    Parameters
    ----------
    shape : CovarianceShape
        Result of `min_trace_shape`, `base_decomposition` or `spherical_shape`. No difference may be
        longer than 1 in the shape.
    constant : {"exact", "paper"}
        Choice of the multiplier c, as in `ProjectedGaussian`.
    """

    def __init__(
        self,
        shape: CovarianceShape,
        epsilon: float,
        delta: float,
        constant: Calibration = "exact",
    ):
        space = shape.geometry
        super().__init__(space.query, space.invariants, epsilon, delta, constant, space.relation)
        self.shape = shape
        if shape.longest() > 1 + 1e-6:
            raise InputError("subspace: shape: a difference is longer than 1. Rescale the shape.")

    @property
    def sd(self) -> float:
        """The multiplier c, increased if rounding makes a difference longer than 1."""
        return self.multiplier * math.sqrt(max(1.0, self.shape.longest()))

    def _draw(self, rng: np.random.Generator, n_draws: int) -> FloatArray:
        # This form does not depend on the basis of the span. Normal noise on all answers is mapped
        # to the span and multiplied by the symmetric root of S.
        span = self.shape.geometry.span
        noise = rng.standard_normal((n_draws, self.query.answers))
        return self.sd * (noise @ span @ self.shape.root() @ span.T)

    def covariance(self) -> FloatArray:
        """Compute the covariance matrix c^2 S, of shape (answers, answers)."""
        return self.sd**2 * self.shape.covariance

    @property
    def error(self) -> float:
        """Expected squared error c^2 tr S, summed over the answers."""
        return self.sd**2 * self.shape.trace

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """Guarantee of (epsilon, delta)-differential privacy between neighbouring data sets."""
        return self._gaussian_guarantee(self.shape.longest(), "SDP, Theorem 3.3")
