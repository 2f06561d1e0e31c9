"""K-norm noise, with a density proportional to exp(-epsilon ||u||_K).

K is the convex hull of all differences. The mechanism is that of Hardt and Talwar (2010) within the
null space (*Subspace Differential Privacy*, SDP, Section 3.4). A draw is r U, with U uniform in K
and r Gamma-distributed with shape m + 1 and rate epsilon. Here m is the dimension of the span of
the differences. The recursion of Bhaskara, Dadush, Krishnaswamy and Talwar (2012) for elongated
bodies is not implemented.

The method "image" applies if the answers distinguish all histograms with equal totals. K is then a
linear image of the polytope whose vertices are the differences of two unit vectors. Noise on this
polytope can be drawn in closed form. Under a total, this noise is independent Laplace noise
conditioned on sum zero. The integer noise of *Integer Subspace Differential Privacy* is the
discrete counterpart. The method "hull" divides the hull into simplices, in at most 6 dimensions.
The method "hit-and-run" is a Markov chain, and `KNorm.estimated_error` gives its effective sample
size.
"""

import math
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np

from isdp.accounting.guarantees import PrivacyGuarantee
from isdp.arrays import FloatArray
from isdp.checks import check_choice, check_integer
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace.mechanisms.base import NullSpaceMechanism
from isdp.subspace.privacy.difference_geometry import Geometry, geometry
from isdp.subspace.privacy.difference_hull import (
    MAX_HULL_DIMENSIONS,
    HullTriangulation,
    hit_and_run,
    triangulate_hull,
)
from isdp.subspace.privacy.neighbours import Relation
from isdp.subspace.privacy.sensitivities import rank_of_differences
from isdp.subspace.queries import Query

Method = Literal["image", "hull", "hit-and-run"]
N_BATCHES = 20


def draw_root_polytope_noise(
    rng: np.random.Generator, cells: int, scale: float, n_draws: int
) -> FloatArray:
    """Draw vectors u of sum zero with a density proportional to exp(-||u||_1 / scale).

    The result is float64 of shape (n_draws, cells).

    The number of positive cells is hypergeometric. It is distributed as the number of marked balls
    among n - 1 balls drawn from n marked and n - 2 unmarked balls. The set of positive cells is
    uniform given its size. The positive and the negative part have the same sum, with the
    distribution Gamma(n - 1, scale / 2). Each part divides this sum in proportion to independent
    exponential variables.
    """
    n_draws = check_integer("subspace", "n_draws", n_draws)
    if cells == 1:
        return np.zeros((n_draws, 1))
    n_positive = rng.hypergeometric(cells, cells - 2, cells - 1, n_draws)
    order = rng.permuted(np.broadcast_to(np.arange(cells), (n_draws, cells)), axis=1)
    is_positive = order < n_positive[:, None]
    parts = rng.standard_exponential((n_draws, cells))
    total = rng.gamma(cells - 1, scale / 2, n_draws)[:, None]
    rise = np.where(is_positive, parts, 0.0)
    fall = np.where(is_positive, 0.0, parts)
    noise: FloatArray = rise / rise.sum(axis=1)[:, None] - fall / fall.sum(axis=1)[:, None]
    return total * noise


class Estimate(NamedTuple):
    """Mean of draws that may be autocorrelated."""

    value: float
    standard_error: float
    effective_sample_size: float


class KNorm(NullSpaceMechanism):
    """K-norm noise for a query under invariants.

    Parameters
    ----------
    method : {"image", "hull", "hit-and-run"}, optional
        By default, an exact method is chosen. Raise `InputError` if no exact method suits the
        query. The draws are independent, except with "hit-and-run", which returns successive states
        of a chain.

    Examples
    --------
    >>> from isdp import Invariants
    >>> from isdp.subspace import Query
    >>> mechanism = KNorm(Query.histogram(2), Invariants.total(2), epsilon=1.0)
    >>> mechanism.method, round(mechanism.error, 12)
    ('image', 4.0)
    """

    def __init__(
        self,
        query: Query,
        invariants: Invariants,
        epsilon: float,
        method: Method | None = None,
        relation: Relation = "replace",
    ):
        super().__init__(query, invariants, epsilon, relation)
        self.method: Method = self._default_method() if method is None else method
        check_choice("subspace: method", self.method, get_args(Method))
        if self.method == "image" and self.dimension != self._full_dimension:
            raise InputError(
                'subspace: method: "image" needs answers that distinguish all records within the '
                'null space. Use "hull" or "hit-and-run".'
            )

    @property
    def _full_dimension(self) -> int:
        return self.query.types - (self.relation == "replace")

    @cached_property
    def dimension(self) -> int:
        """Dimension m of the span of the differences within the null space."""
        return rank_of_differences(self.query, self.invariants, self.relation)

    def _default_method(self) -> Method:
        if self.dimension == self._full_dimension:
            return "image"
        if self.dimension <= MAX_HULL_DIMENSIONS:
            return "hull"
        raise InputError(
            f"subspace: method: there is no exact sampler in {self.dimension} dimensions. Use "
            f'"hit-and-run", or integer noise from `isdp.exact`.'
        )

    @cached_property
    def space(self) -> Geometry:
        """The geometry of the differences, in coordinates of their span."""
        return geometry(self.query, self.invariants, self.relation)

    @cached_property
    def _simplices(self) -> HullTriangulation:
        return triangulate_hull(self.space)

    def _draw(self, rng: np.random.Generator, n_draws: int) -> FloatArray:
        if self.method == "image":
            if self.relation == "replace":
                scale = 2 / self.epsilon
                histograms = draw_root_polytope_noise(rng, self.query.types, scale, n_draws)
            else:
                histograms = rng.laplace(scale=1 / self.epsilon, size=(n_draws, self.query.types))
            return self.null.project((self.query.sparse @ histograms.T).T)
        if self.method == "hull":
            points = self._simplices.draw_uniform(rng, n_draws)
        else:
            points = hit_and_run(rng, self.space, n_draws)
        radii = rng.gamma(self.dimension + 1, 1 / self.epsilon, n_draws)
        return radii[:, None] * points @ self.space.span.T

    @property
    def _histogram_variance(self) -> float:
        """Factor v of the covariance v I of the histogram noise.

        With "replace" the covariance is v I on the vectors of sum zero.
        """
        if self.relation == "add-remove":
            return 2 / self.epsilon**2
        d = self.query.types
        return (2 / self.epsilon) ** 2 * (2 * d - 1) / (d + 1)

    def covariance(self) -> FloatArray:
        """Compute the covariance matrix of the noise, of shape (answers, answers).

        Raise `InputError` if the method is "hit-and-run". Use `estimated_error` instead.
        """
        span, points = self.space.span, self.space.points
        if self.method == "image":
            moved = span @ (points - points[:, -1:] if self.relation == "add-remove" else points)
            return self._histogram_variance * moved @ moved.T
        return span @ self._core() @ span.T

    def _core(self) -> FloatArray:
        if self.method == "hit-and-run":
            raise InputError(
                'subspace: method: the covariance of "hit-and-run" is unknown. Use '
                "`estimated_error`."
            )
        m = self.dimension
        return (m + 1) * (m + 2) / self.epsilon**2 * self._simplices.moment()

    @property
    def error(self) -> float:
        """Expected squared error, summed over the answers.

        Raise `InputError` if the method is "hit-and-run". Use `estimated_error` instead.
        """
        if self.method == "image" and self.query.is_histogram:
            ones = np.ones(self.query.types)
            mean_part = float(ones @ self.null.project(ones)) / self.query.types
            return self._histogram_variance * (
                self.null.dimension - mean_part * (self.relation == "replace")
            )
        if self.method == "image":
            return float(np.trace(self.covariance()))
        return float(np.trace(self._core()))

    def estimated_error(self, rng: np.random.Generator, n_draws: int) -> Estimate:
        """Estimate the error by a simulation with `n_draws` draws, a multiple of 20.

        With "hit-and-run" the error is (m+1)(m+2)/epsilon^2 E|U|^2. The standard error comes from
        the means of 20 batches, and is valid if the autocorrelation time of the chain is short
        compared with a batch.
        """
        if check_integer("subspace", "n_draws", n_draws, N_BATCHES) % N_BATCHES:
            raise InputError(f"subspace: n_draws: must be a multiple of {N_BATCHES}, got {n_draws}")
        if self.method == "hit-and-run":
            points = hit_and_run(rng, self.space, n_draws)
            m = self.dimension
            values = (m + 1) * (m + 2) / self.epsilon**2 * np.square(points).sum(axis=1)
        else:
            values = np.square(self.sample(rng, n_draws)).sum(axis=1)
        means = values.reshape(N_BATCHES, -1).mean(axis=1)
        error = float(means.std(ddof=1) / math.sqrt(N_BATCHES))
        return Estimate(float(means.mean()), error, float(values.var() / error**2))

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """Guarantee of epsilon-differential privacy between neighbouring data sets."""
        return self._pure_guarantee(self.dimension, "SDP, Section 3.4; Hardt and Talwar 2010")
