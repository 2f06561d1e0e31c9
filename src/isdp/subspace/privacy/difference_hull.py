"""The hull of all differences: uniform points of it, exactly or by a walk."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy

from isdp.errors import InputError
from isdp.subspace.privacy.difference_geometry import Geometry
from isdp.subspace.privacy.neighbours import differences

MOST_HULL_DIMENSIONS = 6
AGREEMENT = 1e-9  # relative, of volumes


class HullTriangulation(NamedTuple):
    """A body cut into simplices that share the corner 0.

    Attributes
    ----------
    corners : float64 array, shape (simplices, m, m)
        The other corners of each, one a row.
    volumes : float64 array, shape (simplices,)
        Relative, with sum 1.
    """

    corners: np.ndarray
    volumes: np.ndarray

    def uniform(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw uniform points of the body; float64 array, shape (draws, m)."""
        chosen = rng.choice(len(self.volumes), size=draws, p=self.volumes)
        m = self.corners.shape[1]
        shares = rng.dirichlet(np.ones(m + 1), draws)[:, :m]  # the rest goes to the corner 0
        return np.einsum("dk,dkc->dc", shares, self.corners[chosen])

    def moment(self) -> np.ndarray:
        """E U U' of a uniform point; float64 array, shape (m, m).

        In a simplex the shares have E s_i s_j = (1 + [i = j]) / ((m+1)(m+2)).
        """
        m = self.corners.shape[1]
        sums = self.corners.sum(axis=1)
        second = np.einsum("f,fki,fkj->ij", self.volumes, self.corners, self.corners)
        second += np.einsum("f,fi,fj->ij", self.volumes, sums, sums)
        return second / ((m + 1) * (m + 2))


def triangulate_hull(space: Geometry) -> HullTriangulation:
    """Cut the hull of all differences and their negatives into simplices (Qhull).

    Raises
    ------
    InputError
        In more than 6 dimensions, or if the simplices do not fill the hull.
    """
    m = space.rank
    if m > MOST_HULL_DIMENSIONS:
        raise InputError(
            f"subspace: the hull of differences in {m} dimensions has too many simplices (up to "
            f"{MOST_HULL_DIMENSIONS} dimensions)"
        )
    half = differences(space.query, space.relation) @ space.span
    corners = np.concatenate([half, -half])
    if m == 0:
        return HullTriangulation(np.zeros((1, 0, 0)), np.ones(1))
    if m == 1:
        ends = np.array([corners.max(), corners.min()])
        return HullTriangulation(ends.reshape(2, 1, 1), np.full(2, 0.5))
    hull = scipy.spatial.ConvexHull(corners)
    cut = corners[hull.simplices]
    volumes = np.abs(np.linalg.det(cut))
    if abs(volumes.sum() / math.factorial(m) - hull.volume) > AGREEMENT * hull.volume:
        raise InputError(
            f"subspace: Qhull's simplices do not add up to the hull in {m} dimensions; take the "
            f'walk (method="hit-and-run")'
        )
    real = volumes > AGREEMENT * volumes.max()  # facets with more corners leave flat ones over
    return HullTriangulation(cut[real], volumes[real] / volumes[real].sum())


def hit_and_run(rng: np.random.Generator, space: Geometry, steps: int) -> np.ndarray:
    """Walk through the hull of all differences; its law tends to the uniform one.

    Each step goes along a random line to a uniform point of what the hull cuts off it. Both ends
    are found by one linear programme: the points of the hull are the sums of a_z p_z with
    sum |p_z| <= 2 and sum p_z = 0 ("replace"), or sum |p_z| <= 1 ("add-remove").

    Returns
    -------
    float64 array, shape (steps, r)
        In coordinates of the span; the start, 0, is left out.
    """
    at, walked = np.zeros(space.rank), np.empty((steps, space.rank))
    for step in range(steps):
        direction = rng.standard_normal(space.rank)
        direction /= np.linalg.norm(direction)
        near, far = chord_ends(space, at, direction)
        at = at + rng.uniform(-near, far) * direction
        walked[step] = at
    return walked


def chord_ends(space: Geometry, at: np.ndarray, direction: np.ndarray) -> tuple[float, float]:
    """Find how far one can go either way from a point of the hull before leaving it.

    Parameters
    ----------
    at, direction : array, shape (r,)
        In coordinates of the span.

    Returns
    -------
    near, far : float
        Against `direction` and along it, in its lengths.

    Raises
    ------
    InputError
        If the point lies outside the hull, be it by rounding.
    """
    points = space.points
    if space.relation == "add-remove":
        points = points[:, :-1] - points[:, -1:]
    types = points.shape[1]
    both, way, goal, most = np.hstack([points, -points]), direction, at, 1.0
    if space.relation == "replace":  # as much up as down, and at most 1 of each
        both = np.vstack([both, np.repeat([1.0, -1.0], types)])
        way, goal, most = np.append(direction, 0.0), np.append(at, 0.0), 2.0
    # of either end: the shares of the corners, and how far it is
    ends = [np.hstack([both, sign * way[:, None]]) for sign in (1, -1)]
    share = np.append(np.ones(2 * types), 0.0)
    found = scipy.optimize.linprog(
        np.tile(share - 1, 2),  # as far as can be
        A_ub=np.kron(np.eye(2), share),
        b_ub=[most, most],
        A_eq=scipy.linalg.block_diag(*ends),
        b_eq=np.tile(goal, 2),
        bounds=(0, None),
    )
    if found.status != 0:
        raise InputError(f"subspace: HiGHS lost the walk ({found.message.strip()}); start anew")
    return float(found.x[2 * types]), float(found.x[-1])
