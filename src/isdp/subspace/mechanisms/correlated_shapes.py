"""Covariance shapes of correlated Gaussian noise, with minimum error or as in SDP, Theorem 3.11.

A covariance shape is a covariance S on the null space with v' S^-1 v <= 1 for every difference v
between the answers of neighbouring data sets. Gaussian noise of covariance c^2 S has the error c^2
tr S. Its privacy loss is that of noise of standard deviation c on a number that one record changes
by 1. SDP is *Subspace Differential Privacy*.
"""

import math
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np

from isdp.arrays import FloatArray
from isdp.checks import check_choice, check_positive_float
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace.bases import align_with, contrasts, split_ties
from isdp.subspace.privacy.difference_geometry import Geometry, geometry
from isdp.subspace.privacy.neighbours import Relation
from isdp.subspace.queries import Query

ELLIPSOID_TOLERANCE = 1e-6
MAX_ELLIPSOID_STEPS = 20_000
EXPONENT_GROWTH = 1.2  # factor by which the exponent of the weights grows in each step
Weighting = Literal["paper", "best", "rescaled"]
WEIGHTINGS = get_args(Weighting)


@dataclass(frozen=True, eq=False)
class CovarianceShape:
    """A covariance on the span of the differences, in which no difference is longer than 1.

    Attributes
    ----------
    core : float64 array, shape (r, r)
        The covariance S in the coordinates of `geometry.span`.
    lower : float
        Lower bound on the minimum of tr S over all shapes, or 0 if it was not computed.
    steps : int
        Number of steps of the optimisation.
    parts : tuple of int
        Dimensions of the parts of a base decomposition.
    """

    geometry: Geometry
    core: FloatArray
    lower: float = 0.0
    steps: int = 0
    parts: tuple[int, ...] = ()

    @property
    def trace(self) -> float:
        """Trace of S, which is the error for c = 1."""
        return float(np.trace(self.core))

    @property
    def gap(self) -> float:
        """Upper bound on the relative difference between tr S and its minimum."""
        return self.trace / self.lower - 1 if self.lower else (math.inf if self.trace else 0.0)

    @property
    def covariance(self) -> FloatArray:
        """The covariance S of the answers, as a float64 array of shape (answers, answers)."""
        return self.geometry.span @ self.core @ self.geometry.span.T

    def root(self) -> FloatArray:
        """Compute the symmetric root of `core`, of shape (r, r)."""
        return _power(self.core, 0.5)

    def longest(self) -> float:
        """Compute the maximum of v' S^-1 v over the differences v, at most 1 up to rounding."""
        if not self.geometry.rank:
            return 0.0
        return float(self.geometry.squares(_power(self.core, -0.5)).max(initial=0))


def spherical_shape(
    query: Query, invariants: Invariants, relation: Relation = "replace"
) -> CovarianceShape:
    """Compute the spherical shape on the span of the differences.

    The rest of the null space needs no noise, because no record changes the answers there.
    """
    space = geometry(query, invariants, relation)
    largest = space.squares(np.eye(space.rank)).max(initial=0)
    return CovarianceShape(space, largest * np.eye(space.rank))


def min_trace_shape(
    query: Query,
    invariants: Invariants,
    relation: Relation = "replace",
    *,
    tolerance: float = 1e-5,
    seconds: float = 60.0,
) -> CovarianceShape:
    """Compute a shape of minimum trace, up to a certified tolerance.

    Let M = sum p_v v v' for weights p on the differences. The minimum Gamma^2 = min {tr S : v' S^-1
    v <= 1 for all v} equals the maximum of (tr sqrt M)^2 over p. Every p therefore gives a lower
    bound on Gamma^2. It also gives an upper bound by the shape sqrt(M) max_v g_v, where g_v = v'
    M^(-1/2) v.

    The multiplicative weights algorithm multiplies p_v by a power of g_v. The initial exponent 2
    gives the optimum for orthogonal differences in one step. The exponent grows while the lower
    bound increases. In symmetric cases, equal weights on the longest differences are optimal.

    Parameters
    ----------
    tolerance : float
        Maximum relative gap between the bounds.
    seconds : float
        Maximum run time. Raise `InputError` if the gap exceeds the tolerance after this time.

    Notes
    -----
    For all ranges over 64 record types, the search takes less than a second. For prefix sums over
    1,024 types, each step takes a third of a second. The search then reaches a `tolerance` of 3e-4
    within a minute, but not 1e-5.
    """
    check_positive_float("subspace: tolerance", tolerance)
    space = geometry(query, invariants, relation)
    if not space.rank:
        return CovarianceShape(space, np.zeros((0, 0)))
    search = _Search(space)
    deadline = time.monotonic() + check_positive_float("subspace: seconds", seconds)
    steps = 0
    while search.upper > (1 + tolerance) * search.lower and time.monotonic() < deadline:
        search.step()
        steps += 1
    if search.upper > (1 + tolerance) * search.lower:
        raise InputError(
            f"subspace: tolerance: after {steps} steps the minimum error is between "
            f"{search.lower:.9g} and {search.upper:.9g}, a relative gap above {tolerance:g}. "
            f"Increase `seconds` or `tolerance`."
        )
    return CovarianceShape(space, search.core, search.lower, steps, (space.rank,))


class _Evaluation(NamedTuple):
    """Weights on ordered pairs, with tr sqrt M and g_v / tr sqrt M of `min_trace_shape`.

    The ratios are None if M is singular.
    """

    weights: FloatArray
    root_trace: float
    ratios: FloatArray | None


class _Search:
    """State of the multiplicative weights algorithm: the weights, the bounds and the best shape."""

    def __init__(self, space: Geometry):
        self.space = space
        self.lower, self.upper, self.core = 0.0, math.inf, np.zeros((space.rank, space.rank))
        self.power = 2.0
        lengths = space.squares(np.eye(space.rank))
        longest = lengths >= lengths.max() * (1 - 1e-9)
        self._evaluate(longest / longest.sum())  # equal weights are optimal in symmetric cases
        self._current = self._evaluate(space.mask / space.mask.sum())

    def _evaluate(self, weights: FloatArray) -> _Evaluation:
        """Update the bounds with weights that sum to 1 over ordered pairs."""
        weights = 2 * weights  # each unordered pair has two entries
        values, vectors = np.linalg.eigh(self.space.moment(weights))
        if values[0] <= 1e-14 * values[-1]:  # M is singular
            return _Evaluation(weights, 0.0, None)
        total = float(np.sqrt(values).sum())
        ratios = self.space.squares((vectors * values**-0.25).T)
        self.lower = max(self.lower, total**2)
        if total * ratios.max() < self.upper:
            self.upper = float(total * ratios.max())
            self.core = ratios.max() * (vectors * np.sqrt(values)) @ vectors.T
        return _Evaluation(weights, total, ratios / total)

    def step(self) -> None:
        weights, total, ratios = self._current
        assert ratios is not None  # equal weights give a regular M
        updated = weights * ratios**self.power
        found = self._evaluate(updated / updated.sum())
        if found.root_trace >= total:
            self._current, self.power = found, self.power * EXPONENT_GROWTH
        elif self.power > 1:
            self.power = max(1.0, self.power / EXPONENT_GROWTH**4)
        elif found.ratios is not None:  # rounding stalls the trace, but the ratios may improve
            self._current = found


def base_decomposition(
    query: Query,
    invariants: Invariants,
    relation: Relation = "replace",
    *,
    weights: Weighting = "paper",
) -> CovarianceShape:
    """Compute the shape of the correlated Gaussian noise of SDP, Theorem 3.11.

    The algorithm is that of Nikolov, Talwar and Zhang (2013). The algorithm computes the minimum
    volume ellipsoid around the differences. The shorter half of the ellipsoid's axes spans the
    first part. The differences are projected onto the other axes. These steps are repeated until
    one axis remains. Part i is a ball whose radius r_i is the length of the longest difference in
    this part. The result depends on the order of axes of equal length. These axes follow the Haar
    contrasts of the answers, with fine contrasts first.

    Parameters
    ----------
    weights : {"paper", "best", "rescaled"}
        Scales of the parts. "paper" multiplies r_i^2 by the number of parts. "best" minimises the
        error. "rescaled" scales the "paper" shape so that the longest difference has length 1.
    """
    check_choice("subspace: weights", weights, WEIGHTINGS)
    space = geometry(query, invariants, relation)
    bases = _split(space)
    radii = [math.sqrt(space.squares(basis.T).max(initial=0)) for basis in bases]
    sizes = [basis.shape[1] for basis in bases]
    scales = [radius * len(bases) * radius for radius in radii]
    if weights == "best":
        # fsum, because the rounding of sum() differs between Python 3.11 and 3.12
        total = math.fsum(
            math.sqrt(size) * radius for size, radius in zip(sizes, radii, strict=True)
        )
        scales = [
            radius * total / math.sqrt(size) for size, radius in zip(sizes, radii, strict=True)
        ]
    core = sum(
        (scale * basis @ basis.T for scale, basis in zip(scales, bases, strict=True)),
        start=np.zeros((space.rank, space.rank)),
    )
    shape = CovarianceShape(space, core, parts=tuple(sizes))
    if weights == "rescaled":
        return CovarianceShape(space, core * shape.longest(), parts=tuple(sizes))
    return shape


def min_volume_ellipsoid(space: Geometry) -> FloatArray:
    """Compute the minimum volume ellipsoid {y : y' E^-1 y <= 1} that contains all differences.

    The differences must span all coordinates. The result is the matrix E of shape (r, r). The
    squared radius exceeds the optimum by a relative 1e-6 at most. Raise `InputError` if the
    iteration does not converge.
    """
    weights = space.mask / space.mask.sum()
    for _ in range(MAX_ELLIPSOID_STEPS):
        moment: FloatArray = 2 * space.moment(weights)
        ratios = space.squares(_power(moment, -0.5)) / space.rank
        if ratios.max() <= 1 + ELLIPSOID_TOLERANCE:
            return moment * space.rank * float(ratios.max())
        weights = weights * ratios
        weights /= weights.sum()
    raise InputError(
        f"subspace: no minimum volume ellipsoid was found in {MAX_ELLIPSOID_STEPS} steps. Use "
        f"`min_trace_shape`."
    )


@lru_cache(maxsize=8)
def _split(space: Geometry) -> tuple[FloatArray, ...]:
    """Compute orthonormal bases of the parts, each of shape (r, size).

    The result is cached, because its computation is slow and does not depend on `weights`.
    """
    answers = space.span.shape[0]
    coarse_first = np.hstack([np.full((answers, 1), answers**-0.5), contrasts(answers).toarray()])
    guide = space.span.T @ coarse_first[:, ::-1]
    frame: FloatArray = np.eye(space.rank)
    parts: list[FloatArray] = []
    while frame.shape[1] > 1:
        rest = replace(space, span=space.span @ frame, points=frame.T @ space.points)
        axes = _ordered_axes(min_volume_ellipsoid(rest), frame.T @ guide)
        short = (frame.shape[1] + 1) // 2
        parts.append(frame @ axes[:, :short])
        frame = frame @ axes[:, short:]
    return (*parts, frame) if frame.shape[1] else tuple(parts)


def _ordered_axes(ellipsoid: FloatArray, guide: FloatArray) -> FloatArray:
    """Sort the axes by length. Axes of equal length follow the columns of `guide`."""
    lengths, axes = np.linalg.eigh(ellipsoid)
    return np.hstack([align_with(axes[:, group], guide) for group in split_ties(lengths)])


def _power(matrix: FloatArray, exponent: float) -> FloatArray:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * values.clip(np.finfo(float).tiny) ** exponent) @ vectors.T)
