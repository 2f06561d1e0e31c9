"""K-norm noise: density proportional to exp(-epsilon ||u||_K), K the hull of all differences.

Hardt and Talwar (2010) within the null space (SDP, Section 3.4). A draw is r U with U uniform in K
and r Gamma-distributed of shape m + 1 and rate epsilon, m the dimension of the differences' span.
What is built here is plain K-norm noise, not the recursion of Bhaskara et al. (2012) for bodies far
from round.

Three ways to a uniform point. Where the answers tell histograms of one total apart, K is a linear
image of the polytope of the e_z - e_y, whose law has a closed form at any size: under a total it is
independent Laplace noise conditioned on sum zero, the continuous twin of the integer law of ISDP.
In few dimensions the hull is cut into simplices. Otherwise a hit-and-run walk, which is a Markov
chain and says how many draws its own are worth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from isdp.accounting.guarantees import PrivacyGuarantee
from isdp.checks import check_choice, check_integer, check_positive_float
from isdp.errors import InputError
from isdp.subspace.mechanisms.base import NullSpaceMechanism, put, set_up
from isdp.subspace.privacy.difference_geometry import Geometry, geometry
from isdp.subspace.privacy.difference_hull import (
    MOST_HULL_DIMENSIONS,
    HullTriangulation,
    hit_and_run,
    triangulate_hull,
)
from isdp.subspace.privacy.sensitivities import rank_of_differences

METHODS = ("image", "hull", "hit-and-run")
BATCHES = 20


def draw_root_polytope_noise(
    rng: np.random.Generator, cells: int, scale: float, draws: int
) -> np.ndarray:
    """Draw from the density proportional to exp(-||u||_1 / scale) on the vectors of sum zero.

    The positive cells are J in number, hypergeometric: n marked of 2n - 2 balls, n - 1 drawn; which
    cells they are is uniform. Both parts have one sum, Gamma(n - 1, scale / 2), and share it out as
    normalised exponentials.

    Returns
    -------
    float64 array, shape (draws, cells)
    """
    draws = check_integer("subspace", "draws", draws)
    if cells == 1:
        return np.zeros((draws, 1))
    positives = rng.hypergeometric(cells, cells - 2, cells - 1, draws)
    order = rng.permuted(np.broadcast_to(np.arange(cells), (draws, cells)), axis=1)
    up = order < positives[:, None]
    parts = rng.standard_exponential((draws, cells))
    total = rng.gamma(cells - 1, scale / 2, draws)[:, None]
    rise = np.where(up, parts, 0)
    fall = np.where(up, 0, parts)
    return total * (rise / rise.sum(axis=1)[:, None] - fall / fall.sum(axis=1)[:, None])


class Estimate(NamedTuple):
    """A mean from draws that may remember each other.

    Attributes
    ----------
    effective : float
        How many independent draws would give that standard error.
    """

    value: float
    standard_error: float
    effective: float


@dataclass(frozen=True, eq=False)
class KNorm(NullSpaceMechanism):
    """K-norm noise for a query under invariants.

    Parameters
    ----------
    epsilon : float
        What one record may cost.
    method : {"image", "hull", "hit-and-run"}, optional
        Exact ones if possible by default; the walk must be asked for.

    Raises
    ------
    InputError
        If the method does not fit, or none but the walk does.

    Examples
    --------
    >>> from isdp import Invariants
    >>> from isdp.subspace import Query
    >>> law = KNorm(Query.histogram(2), Invariants.total(2), epsilon=1.0)
    >>> law.method, round(law.error, 12)
    ('image', 4.0)
    """

    epsilon: float
    method: str

    def __init__(self, query, invariants, epsilon, method=None, relation="replace"):
        check_positive_float("subspace: epsilon", epsilon)
        set_up(self, query, invariants, relation, epsilon=epsilon)
        put(self, method=self._choose() if method is None else method)
        check_choice("subspace: method", self.method, METHODS)
        if self.method == "image" and self.dimension != self._full:
            raise InputError(
                "subspace: some records cannot be told apart within the null space, so the image "
                "of the simple law is another; take the hull or the walk"
            )

    @property
    def _full(self) -> int:
        return self.query.types - (self.relation == "replace")

    @cached_property
    def dimension(self) -> int:
        """Dimension m of the span of the differences within the null space."""
        return rank_of_differences(self.query, self.invariants, self.relation)

    def _choose(self) -> str:
        if self.dimension == self._full:
            return "image"
        if self.dimension <= MOST_HULL_DIMENSIONS:
            return "hull"
        raise InputError(
            f"subspace: K-norm noise in {self.dimension} dimensions has no exact sampler here; ask "
            f'for method="hit-and-run", or take the integer law (isdp.exact)'
        )

    @cached_property
    def space(self) -> Geometry:
        """The differences in coordinates of their span."""
        return geometry(self.query, self.invariants, self.relation)

    @cached_property
    def _simplices(self) -> HullTriangulation:
        return triangulate_hull(self.space)

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw noise; float64 array, shape (draws, answers).

        Independent, but for the walk: its draws are one step apart.
        """
        draws = check_integer("subspace", "draws", draws)
        if self.method == "image":
            return self._image(self._plain(rng, draws))
        if self.method == "hull":
            points = self._simplices.uniform(rng, draws)
        else:
            points = hit_and_run(rng, self.space, draws)
        radii = rng.gamma(self.dimension + 1, 1 / self.epsilon, draws)
        return radii[:, None] * points @ self.space.span.T

    def _plain(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Noise on the histogram of which the answers' noise is the image."""
        if self.relation == "replace":
            return draw_root_polytope_noise(rng, self.query.types, 2 / self.epsilon, draws)
        return rng.laplace(scale=1 / self.epsilon, size=(draws, self.query.types))

    def _image(self, histograms: np.ndarray) -> np.ndarray:
        return self.null.project((self.query.sparse @ histograms.T).T)

    @property
    def _unit(self) -> float:
        """Factor of the covariance of `_plain`, on the vectors of sum zero or on all."""
        if self.relation == "add-remove":
            return 2 / self.epsilon**2
        d = self.query.types
        return (2 / self.epsilon) ** 2 * (2 * d - 1) / (d + 1)

    def covariance(self) -> np.ndarray:
        """Covariance of the noise; float64 array, shape (answers, answers).

        Raises
        ------
        InputError
            For the walk, where it is not known; see `estimated_error`.
        """
        span, points = self.space.span, self.space.points
        if self.method == "image":
            moved = span @ (points - points[:, -1:] if self.relation == "add-remove" else points)
            return self._unit * moved @ moved.T
        return span @ self._core() @ span.T

    def _core(self) -> np.ndarray:
        if self.method == "hit-and-run":
            raise InputError("subspace: the covariance is not known exactly; use estimated_error")
        m = self.dimension
        return (m + 1) * (m + 2) / self.epsilon**2 * self._simplices.moment()

    @property
    def error(self) -> float:
        """Expected squared error, all answers together.

        Raises
        ------
        InputError
            For the walk, where it is not known; see `estimated_error`.
        """
        if self.method == "image" and self.query.is_histogram:
            everyone = np.ones(self.query.types)
            ends = float(everyone @ self.null.project(everyone)) / self.query.types
            return self._unit * (self.null.dimension - ends * (self.relation == "replace"))
        if self.method == "image":
            return float(np.trace(self.covariance()))
        return float(np.trace(self._core()))

    def estimated_error(self, rng: np.random.Generator, draws: int) -> Estimate:
        """Estimate the error from draws; of a walk, by (m+1)(m+2)/epsilon^2 E|U|^2.

        The standard error is that of the means of 20 batches, so it holds for a walk whose memory
        is short against a batch.

        Parameters
        ----------
        draws : int
            A multiple of 20.
        """
        if check_integer("subspace", "draws", draws, BATCHES) % BATCHES:
            raise InputError(f"subspace: draws must be a multiple of {BATCHES}, got {draws}")
        if self.method == "hit-and-run":
            points = hit_and_run(rng, self.space, draws)
            m = self.dimension
            values = (m + 1) * (m + 2) / self.epsilon**2 * np.square(points).sum(axis=1)
        else:
            values = np.square(self.sample(rng, draws)).sum(axis=1)
        means = values.reshape(BATCHES, -1).mean(axis=1)
        error = float(means.std(ddof=1) / math.sqrt(BATCHES))
        return Estimate(float(means.mean()), error, float(values.var() / error**2))

    def guarantee(self) -> PrivacyGuarantee:
        """Give epsilon for each record."""
        return self.pure(self.dimension, "SDP, Section 3.4; Hardt and Talwar 2010")
