"""Uniform points of the convex hull of all differences, drawn exactly or by a Markov chain."""

import math
from typing import NamedTuple

import numpy as np
import scipy

from isdp.arrays import FloatArray
from isdp.errors import InputError
from isdp.subspace.privacy.difference_geometry import Geometry
from isdp.subspace.privacy.neighbours import differences

MAX_HULL_DIMENSIONS = 6
VOLUME_TOLERANCE = 1e-9  # maximum relative difference between two computations of the volume


class HullTriangulation(NamedTuple):
    """Simplices that share the vertex 0 and together form a body.

    Attributes
    ----------
    corners : float64 array, shape (simplices, m, m)
        The other vertices of each simplex, one in each row.
    volumes : float64 array, shape (simplices,)
        Volumes of the simplices, relative to that of the body.
    """

    corners: FloatArray
    volumes: FloatArray

    def draw_uniform(self, rng: np.random.Generator, n_draws: int) -> FloatArray:
        """Draw uniform points of the body as a float64 array of shape (n_draws, m)."""
        chosen = rng.choice(len(self.volumes), size=n_draws, p=self.volumes)
        m = self.corners.shape[1]
        weights = rng.dirichlet(np.ones(m + 1), n_draws)[:, :m]  # the last weight belongs to 0
        return np.asarray(np.einsum("dk,dkc->dc", weights, self.corners[chosen]))

    def moment(self) -> FloatArray:
        """Compute the second moments E U U' of a uniform point U, of shape (m, m).

        The barycentric weights in a simplex have E s_i s_j = (1 + [i = j]) / ((m+1)(m+2)).
        """
        m = self.corners.shape[1]
        sums = self.corners.sum(axis=1)
        second = np.einsum("f,fki,fkj->ij", self.volumes, self.corners, self.corners)
        second += np.einsum("f,fi,fj->ij", self.volumes, sums, sums)
        return np.asarray(second / ((m + 1) * (m + 2)))


def triangulate_hull(space: Geometry) -> HullTriangulation:
    """Divide the hull of all differences and their negatives into simplices (Qhull).

    Raise `InputError` if there are more than 6 dimensions, or the simplices do not fill the hull.
    """
    m = space.rank
    if m > MAX_HULL_DIMENSIONS:
        raise InputError(
            f'subspace: method: "hull" allows at most {MAX_HULL_DIMENSIONS} dimensions, got {m}. '
            f'Use "hit-and-run".'
        )
    half = differences(space.query, space.relation) @ space.span
    corners = np.concatenate([half, -half])
    if m == 0:
        return HullTriangulation(np.zeros((1, 0, 0)), np.ones(1))
    if m == 1:
        ends = np.array([corners.max(), corners.min()])
        return HullTriangulation(ends.reshape(2, 1, 1), np.full(2, 0.5))
    hull = scipy.spatial.ConvexHull(corners)
    facets = corners[hull.simplices]
    volumes = np.abs(np.linalg.det(facets))
    if abs(volumes.sum() / math.factorial(m) - hull.volume) > VOLUME_TOLERANCE * hull.volume:
        raise InputError(
            f'subspace: method: the simplices of "hull" do not fill the hull in {m} dimensions. '
            f'Use "hit-and-run".'
        )
    # a facet with more than m vertices can give simplices of volume 0
    full = volumes > VOLUME_TOLERANCE * volumes.max()
    return HullTriangulation(facets[full], volumes[full] / volumes[full].sum())


def hit_and_run(rng: np.random.Generator, space: Geometry, n_steps: int) -> FloatArray:
    """Run a hit-and-run chain, whose stationary distribution is uniform on the hull.

    Each step moves to a uniform point of the chord through the state in a random direction. One
    linear program gives both ends of the chord. The points of the hull are the sums of a_z p_z
    over the types z. The weights satisfy sum |p_z| <= 2 and sum p_z = 0 ("replace"), or sum |p_z|
    <= 1 ("add-remove"). The result has shape (n_steps, r). It contains the states after the initial
    state 0, in coordinates of the span.
    """
    point, walked = np.zeros(space.rank), np.empty((n_steps, space.rank))
    for step in range(n_steps):
        direction = rng.standard_normal(space.rank)
        direction /= np.linalg.norm(direction)
        backward, forward = chord_ends(space, point, direction)
        point = point + rng.uniform(-backward, forward) * direction
        walked[step] = point
    return walked


def chord_ends(space: Geometry, point: FloatArray, direction: FloatArray) -> tuple[float, float]:
    """Compute the distances from a point to both ends of the chord of the hull through it.

    The point and the direction have shape (r,), in coordinates of the span. The first distance is
    against the direction, and the second is along it. Both are in units of the length of the
    direction. Raise `InputError` if the point is outside the hull, possibly by rounding.
    """
    points = space.points
    if space.relation == "add-remove":
        points = points[:, :-1] - points[:, -1:]
    types = points.shape[1]
    both, column, target, max_sum = np.hstack([points, -points]), direction, point, 1.0
    if space.relation == "replace":
        # the positive and the negative weights have equal sums of at most 1
        both = np.vstack([both, np.repeat([1.0, -1.0], types)])
        column, target, max_sum = np.append(direction, 0.0), np.append(point, 0.0), 2.0
    # variables for each end: the weights of the vertices, then the distance
    ends = [np.hstack([both, sign * column[:, None]]) for sign in (1, -1)]
    is_weight = np.append(np.ones(2 * types), 0.0)
    found = scipy.optimize.linprog(
        np.tile(is_weight - 1, 2),  # maximises the distances
        A_ub=np.kron(np.eye(2), is_weight),
        b_ub=[max_sum, max_sum],
        A_eq=scipy.linalg.block_diag(*ends),
        b_eq=np.tile(target, 2),
        bounds=(0, None),
    )
    if found.status != 0:
        raise InputError(
            f"subspace: method: HiGHS found no chord ({found.message.strip()}). Use another seed."
        )
    return float(found.x[2 * types]), float(found.x[-1])
