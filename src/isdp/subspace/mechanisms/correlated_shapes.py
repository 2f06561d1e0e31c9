"""Shapes of correlated Gaussian noise: the best one, with a certificate, and that of Theorem 3.11.

A shape is a covariance S on the null space with v' S^-1 v <= 1 for every difference v. Gaussian
noise of covariance c^2 S is then as private as noise of standard deviation c is for a number that
one record moves by 1, and its error is c^2 tr S.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from isdp.checks import check_choice, check_positive_float
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace.bases import align_with, contrasts, split_ties
from isdp.subspace.privacy.difference_geometry import Geometry, geometry
from isdp.subspace.privacy.neighbours import Relation
from isdp.subspace.queries import Query

ELLIPSOID_TOLERANCE = 1e-6
ELLIPSOID_STEPS = 20_000
PATIENCE = 60.0  # seconds
GROWTH = 1.2  # of the exponent, while it helps
WEIGHTINGS = ("paper", "best", "rescaled")


@dataclass(frozen=True, eq=False)
class CovarianceShape:
    """A covariance on the span of the differences, scaled so that none is longer than 1 in it.

    Attributes
    ----------
    core : float64 array, shape (r, r)
        S in the coordinates of `geometry.span`.
    lower : float
        Lower bound on tr S over all shapes, 0 where none was worked out.
    steps : int
        Steps that the search took.
    parts : tuple of int
        Dimensions of the parts of a base decomposition; the whole otherwise.
    """

    geometry: Geometry
    core: np.ndarray
    lower: float = 0.0
    steps: int = 0
    parts: tuple[int, ...] = ()

    @property
    def trace(self) -> float:
        """Trace of S: the error, all answers together, at c = 1."""
        return float(np.trace(self.core))

    @property
    def gap(self) -> float:
        """How much larger tr S may be than the least possible, relatively."""
        return self.trace / self.lower - 1 if self.lower else (math.inf if self.trace else 0.0)

    @property
    def covariance(self) -> np.ndarray:
        """S on the answers; float64 array, shape (answers, answers)."""
        return self.geometry.span @ self.core @ self.geometry.span.T

    def root(self) -> np.ndarray:
        """Symmetric root of S; float64 array, shape (r, r)."""
        return _power(self.core, 0.5)

    def longest(self) -> float:
        """Largest v' S^-1 v over the differences, at most 1 but for rounding."""
        if not self.geometry.rank:
            return 0.0
        return float(self.geometry.squares(_power(self.core, -0.5)).max(initial=0))


def spherical_shape(
    query: Query, invariants: Invariants, relation: Relation = "replace"
) -> CovarianceShape:
    """Round noise on the span of the differences alone, not on the whole null space.

    Valid because what it leaves out of the null space no record ever moves.
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
    seconds: float = PATIENCE,
) -> CovarianceShape:
    """Find the shape of least trace, Gamma^2, and prove how near to the least it is.

    Gamma^2 = min {tr S : v' S^-1 v <= 1 for all v} = max over weights p on the differences of
    (tr sqrt M)^2, M = sum p_v v v'. Every p gives a bound from below, and from above the shape
    sqrt(M) times the largest g_v = v' M^(-1/2) v. Weights are multiplied with a power of g_v: the
    square of it solves orthogonal differences in one step, and larger powers are tried while the
    lower bound goes on rising. Symmetric cases end at once, with equal weights on the longest
    differences.

    Parameters
    ----------
    tolerance : float
        Relative gap between the two bounds at which to stop.
    seconds : float
        Longest time to take.

    Raises
    ------
    InputError
        If the gap is not closed in time; the message gives the bounds that were reached.

    Notes
    -----
    All ranges over 64 types take a fraction of a second. Prefix sums over 1,024 types do not get to
    1e-5 in a minute: a step takes a third of a second there, half of all pairs bear weight, and
    those whose weight has to vanish lose it slowly; a `tolerance` of 3e-4 is met.
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
            f"subspace: after {steps} steps the least error lies between {search.lower:.9g} and "
            f"{search.upper:.9g}, which is wider than the tolerance {tolerance:g}; allow more "
            f"seconds or a larger tolerance"
        )
    return CovarianceShape(space, search.core, search.lower, steps, (space.rank,))


class _Search:
    """Weights on the pairs, the bounds that they give, and the best shape so far."""

    def __init__(self, space: Geometry):
        self.space = space
        self.lower, self.upper, self.core = 0.0, math.inf, np.zeros((space.rank, space.rank))
        self.power = 2.0
        lengths = space.squares(np.eye(space.rank))
        longest = lengths >= lengths.max() * (1 - 1e-9)
        self._look(longest / longest.sum())  # settles the symmetric cases
        self._current = self._look(space.mask / space.mask.sum())

    def _look(self, weights: np.ndarray):
        """Bounds by weights that sum to 1 over ordered pairs; returns weights, sum, ratios."""
        weights = 2 * weights  # a pair counts once
        values, vectors = np.linalg.eigh(self.space.moment(weights))
        if values[0] <= 1e-14 * values[-1]:  # these weights leave out a direction
            return weights, 0.0, None
        total = float(np.sqrt(values).sum())
        ratios = self.space.squares((vectors * values**-0.25).T)
        self.lower = max(self.lower, total**2)
        if total * ratios.max() < self.upper:
            self.upper = float(total * ratios.max())
            self.core = ratios.max() * (vectors * np.sqrt(values)) @ vectors.T
        return weights, total, ratios / total

    def step(self) -> None:
        weights, total, ratios = self._current
        tried = weights * ratios**self.power
        found = self._look(tried / tried.sum())
        if found[1] >= total:
            self._current, self.power = found, self.power * GROWTH
        elif self.power > 1:
            self.power = max(1.0, self.power / GROWTH**4)
        elif found[2] is not None:  # rounding: the sum does not rise, but the ratios may even out
            self._current = found


def base_decomposition(
    query: Query,
    invariants: Invariants,
    relation: Relation = "replace",
    *,
    weights: str = "paper",
) -> CovarianceShape:
    """CovarianceShape of the correlated Gaussian noise of SDP, Theorem 3.11.

    After Nikolov, Talwar and Zhang (2013): of the least ellipsoid around the differences the
    shorter half of the axes makes the first part, and the differences are projected on the others
    and split again, until one axis is left. Part i, in its own dimensions, is a ball that reaches
    to its longest difference r_i. Equal axes may be ordered in any way, which changes the result;
    here they follow the Haar contrasts of the answers, fine before coarse.

    Parameters
    ----------
    query, invariants, relation
        As in `min_trace_shape`.
    weights : {"paper", "best", "rescaled"}
        How the parts are scaled: all by the number of parts; so that the error is least; or the
        first and then all shrunk until the longest difference has length 1.
    """
    check_choice("subspace: weights", weights, WEIGHTINGS)
    space = geometry(query, invariants, relation)
    bases = _split(space)
    radii = [math.sqrt(space.squares(basis.T).max(initial=0)) for basis in bases]
    sizes = [basis.shape[1] for basis in bases]
    scales = [radius * len(bases) * radius for radius in radii]
    if weights == "best":
        # Python 3.12 sums floats otherwise than 3.11; this way both give the same digits
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


def min_volume_ellipsoid(space: Geometry) -> np.ndarray:
    """Find the ellipsoid {y : y' E^-1 y <= 1} of least volume, centred at 0, around differences.

    Parameters
    ----------
    space : Geometry
        Its differences span its coordinates.

    Returns
    -------
    float64 array, shape (r, r)
        E; no difference is longer than 1 in it, and its volume is least up to a relative 1e-6 in
        the squared radius.

    Raises
    ------
    InputError
        If the search does not end.
    """
    weights = space.mask / space.mask.sum()
    for _ in range(ELLIPSOID_STEPS):
        moment = 2 * space.moment(weights)
        ratios = space.squares(_power(moment, -0.5)) / space.rank
        if ratios.max() <= 1 + ELLIPSOID_TOLERANCE:
            return moment * space.rank * ratios.max()
        weights = weights * ratios
        weights /= weights.sum()
    raise InputError(f"subspace: no least ellipsoid was found in {ELLIPSOID_STEPS} steps")


@lru_cache(maxsize=8)
def _split(space: Geometry) -> tuple[np.ndarray, ...]:
    """Orthonormal bases of the parts, in the coordinates of the span; shapes (r, size).

    They are the same for all weights, and the search for ellipsoids is long.
    """
    answers = space.span.shape[0]
    coarse_first = np.hstack([np.full((answers, 1), answers**-0.5), contrasts(answers).toarray()])
    guide = space.span.T @ coarse_first[:, ::-1]
    frame, parts = np.eye(space.rank), []
    while frame.shape[1] > 1:
        rest = replace(space, span=space.span @ frame, points=frame.T @ space.points)
        axes = _ordered_axes(min_volume_ellipsoid(rest), frame.T @ guide)
        short = (frame.shape[1] + 1) // 2
        parts.append(frame @ axes[:, :short])
        frame = frame @ axes[:, short:]
    return (*parts, frame) if frame.shape[1] else tuple(parts)


def _ordered_axes(ellipsoid: np.ndarray, guide: np.ndarray) -> np.ndarray:
    """Axes from the shortest, ties in the order of the guide's vectors."""
    lengths, axes = np.linalg.eigh(ellipsoid)
    return np.hstack([align_with(axes[:, group], guide) for group in split_ties(lengths)])


def _power(matrix: np.ndarray, exponent: float) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * values.clip(np.finfo(float).tiny) ** exponent) @ vectors.T
