"""Gaussian noise on the null space: projected, extended, and correlated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from isdp.accounting.guarantees import PrivacyGuarantee, upper_product
from isdp.checks import check_integer
from isdp.errors import InputError
from isdp.subspace.mechanisms.base import NullSpaceMechanism, put, set_up
from isdp.subspace.mechanisms.correlated_shapes import CovarianceShape
from isdp.subspace.privacy import gaussian_calibration as calibration
from isdp.subspace.privacy.sensitivities import null_sensitivity, sensitivity


@dataclass(frozen=True, eq=False)
class _Gaussian(NullSpaceMechanism):
    """Noise whose longest difference is 1/c standard deviations long."""

    def _promise(self, longest: float, source: str) -> PrivacyGuarantee:
        if not longest:
            return self.guaranteed("pure", 0, "no record moves what is free")
        delta = calibration.certified_delta(self.epsilon, self.multiplier)[1]
        if self.constant == "exact":
            delta = self.delta
        return self.guaranteed("approximate", self.epsilon, source, min(delta, 1 - 1e-16))

    @cached_property
    def multiplier(self) -> float:
        """c: standard deviation of the noise by the sensitivity."""
        return calibration.multiplier(self.epsilon, self.delta, self.constant)

    def zcdp(self) -> PrivacyGuarantee:
        """Guarantee of zero-concentrated differential privacy, rho = 1 / (2 c^2)."""
        source = "Bun and Steinke 2016, Proposition 1.6"
        rho = upper_product(1.0, 1 / (2 * Fraction(self.multiplier) ** 2))  # never rounded down
        return self.guaranteed("zCDP", rho, source)


@dataclass(frozen=True, eq=False)
class ProjectedGaussian(_Gaussian):
    """Pi_N e, e normal with standard deviation c Delta_2(A) in each answer (SDP, Corollary 3.5).

    Parameters
    ----------
    epsilon, delta : float
        What one record may cost; delta between 0 and 1.
    constant : {"exact", "paper"}
        The least c that is private, or that of Lemma 3.4, which for very small delta is not; the
        guarantee then has the delta that it really gives.

    Examples
    --------
    >>> from isdp import Invariants
    >>> from isdp.subspace import Query
    >>> law = ProjectedGaussian(Query.histogram(3), Invariants.total(3), 1.0, 1e-5)
    >>> law.sample(np.random.default_rng(1), 4).shape
    (4, 3)
    """

    epsilon: float
    delta: float
    constant: str = "exact"

    def __init__(self, query, invariants, epsilon, delta, constant="exact", relation="replace"):
        set_up(self, query, invariants, relation, epsilon=epsilon, delta=delta, constant=constant)
        self.multiplier  # noqa: B018 - refuses wrong numbers at once

    @cached_property
    def sensitivity(self) -> float:
        """Delta_2(A)."""
        return sensitivity(self.query, 2, self.relation)

    @property
    def sd(self) -> float:
        """Standard deviation of an answer's noise before it is projected."""
        return self.multiplier * self.sensitivity

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw noise; float64 array, shape (draws, answers)."""
        shape = check_integer("subspace", "draws", draws), self.query.answers
        return self.null.project(rng.normal(scale=self.sd, size=shape))

    def covariance(self) -> np.ndarray:
        """c^2 Delta^2 Pi_N; float64 array, shape (answers, answers)."""
        return self.sd**2 * self.null.matrix()

    def variances(self) -> np.ndarray:
        """Variance of each answer; float64 array, shape (answers,)."""
        return self.sd**2 * self.null.diagonal()

    @property
    def error(self) -> float:
        """(n - n_c) c^2 Delta^2."""
        return self.null.dimension * self.sd**2

    def guarantee(self) -> PrivacyGuarantee:
        """(epsilon, delta), between neighbours."""
        return self._promise(self.sensitivity, "SDP, Corollary 3.5")


class ExtendedGaussian(ProjectedGaussian):
    """Q w, w normal with standard deviation c Delta_2(Q'A) (SDP, Corollary 3.6).

    The law is that of Pi_N e with the smaller sensitivity, so no basis Q is ever formed. Takes the
    parameters of `ProjectedGaussian`, and never has a larger error.
    """

    @cached_property
    def sensitivity(self) -> float:
        """Delta_2(Q'A)."""
        return null_sensitivity(self.query, self.invariants, self.relation)

    def guarantee(self) -> PrivacyGuarantee:
        """(epsilon, delta), between neighbours."""
        return self._promise(self.sensitivity, "SDP, Corollary 3.6")


@dataclass(frozen=True, eq=False)
class CorrelatedGaussian(_Gaussian):
    """Gaussian noise of covariance c^2 S for a shape S (SDP, Theorem 3.11, and better ones).

    Parameters
    ----------
    shape : CovarianceShape
        Of `min_trace_shape`, `base_decomposition` or `spherical_shape`.
    constant : {"exact", "paper"}
        As in `ProjectedGaussian`.

    Raises
    ------
    InputError
        If a number or a word is out of its range, or the shape leaves a difference longer than 1.
    """

    shape: CovarianceShape
    epsilon: float
    delta: float
    constant: str = "exact"

    def __init__(self, shape, epsilon, delta, constant="exact"):
        space = shape.geometry
        set_up(self, space.query, space.invariants, space.relation, shape=shape, epsilon=epsilon)
        put(self, delta=delta, constant=constant)
        self.multiplier  # noqa: B018 - refuses wrong numbers at once
        if shape.longest() > 1 + 1e-6:
            raise InputError("subspace: the shape leaves a difference longer than 1; rescale it")

    @property
    def sd(self) -> float:
        """c, raised by what rounding has left of a difference beyond length 1."""
        return self.multiplier * math.sqrt(max(1.0, self.shape.longest()))

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw noise; float64 array, shape (draws, answers).

        Normal noise on all answers is brought into the span and shaped there by the symmetric
        root of S, so that the draws do not hang on which basis the span was given.
        """
        span = self.shape.geometry.span
        plain = rng.standard_normal((check_integer("subspace", "draws", draws), self.query.answers))
        return self.sd * (plain @ span @ self.shape.root() @ span.T)

    def covariance(self) -> np.ndarray:
        """c^2 S; float64 array, shape (answers, answers)."""
        return self.sd**2 * self.shape.covariance

    @property
    def error(self) -> float:
        """c^2 tr S."""
        return self.sd**2 * self.shape.trace

    def guarantee(self) -> PrivacyGuarantee:
        """(epsilon, delta), between neighbours."""
        return self._promise(self.shape.longest(), "SDP, Theorem 3.3")
