"""Privacy loss of continuous noise: exact log densities and the (epsilon, delta) profile.

Under invariants that share no cell (a total, a partition, a single row of any weights) the density
of projected Laplace noise is a product of one-dimensional integrals of exp(-piecewise linear). They
are computed exactly, piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from isdp.checks import check_positive_float
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from reproduction.subspace.theory.piecewise_exponential import pieces

PANELS, NODES = 4_000, 8  # of the numerical integration, on each of three intervals
Density = Callable[[np.ndarray], np.ndarray]


def log_density(points, invariants: Invariants, scale: float) -> np.ndarray:
    """Compute the log density of Pi_N Lap(scale)^n on the null space, for its own volume.

    `points` of shape (..., cells) are in the null space, and `scale` is b of the Laplace
    distribution. Raises InputError if invariants share a cell, because no closed form is
    implemented for them.
    """
    check_positive_float("subspace: scale", scale)
    points = np.asarray(points, dtype=float)
    rows = invariants.sparse
    held = np.bincount(rows.indices, minlength=invariants.cells)
    if held.max(initial=0) > 1:
        raise InputError(
            "subspace: invariants: must share no cell for the exact density; for others use "
            "quotient_sensitivity, the exact pure loss"
        )
    free = points[..., held == 0]
    total = -np.abs(free).sum(axis=-1) / scale - invariants.cells * np.log(2 * scale)
    for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        if stop > start:
            weights = rows.data[start:stop].astype(float)
            line = points[..., rows.indices[start:stop]]
            total = total + pieces(line, weights, scale).log_integral()
            total = total + 0.5 * np.log(np.square(weights).sum())
    return total


@dataclass(frozen=True)
class Profile:
    """Smallest delta at some epsilons, for one shift of one noise.

    `epsilons`, `deltas` and their standard `errors` (0 for integrals) have one shape. `divergence`
    is the Kullback-Leibler divergence, that is, the mean loss, with its standard error.
    """

    epsilons: np.ndarray
    deltas: np.ndarray
    errors: np.ndarray
    divergence: float
    divergence_error: float


def simulated_profile(blocks: Iterable[np.ndarray], shift, density: Density, epsilons) -> Profile:
    """Estimate the profile from draws: delta(e) = E (1 - exp(e - loss))_+.

    `blocks` are independent draws of shape (draws, cells), in blocks that limit memory. `shift`
    (cells,) is the difference of the neighbour's answers. `density` returns the log density of
    points of shape (draws, cells), up to a constant.
    """
    epsilons = np.asarray(epsilons, dtype=float)
    loss = np.concatenate([density(noise) - density(noise - shift) for noise in blocks])
    parts = -np.expm1(np.minimum(epsilons[:, None] - loss, 0.0))
    root = np.sqrt(len(loss))
    divergence, error = float(loss.mean()), float(loss.std() / root)
    return Profile(epsilons, parts.mean(axis=1), parts.std(axis=1) / root, divergence, error)


def integrated_profile(
    direction, shift: float, density: Density, epsilons, width: float
) -> Profile:
    """Integrate the profile of noise on a line, by Gauss-Legendre quadrature on short panels.

    `direction` (cells,) has length 1 and spans the null space, and `shift` is the positive distance
    of the neighbour along it. `density` returns the normalised log density of points of shape
    (points, cells), with kinks at 0 only. `width` is the length on which the density falls by a
    factor of about e.
    """
    epsilons = np.asarray(epsilons, dtype=float)
    reach = shift + 60 * width * (1 + max(epsilons.max(), 1))
    ends = (-reach, 0.0, shift, reach)
    edges = np.unique(np.concatenate([np.linspace(*pair, PANELS + 1) for pair in pairwise(ends)]))
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(edges)[:, None] / 2
    points = ((edges[:-1] + edges[1:])[:, None] / 2 + half * nodes).ravel()
    here = density(points[:, None] * direction)
    loss = here - density((points - shift)[:, None] * direction)
    mass = (half * weights).ravel() * np.exp(here)
    deltas = [float(mass @ -np.expm1(np.minimum(e - loss, 0.0))) for e in epsilons]
    zeros = np.zeros(len(deltas))
    return Profile(epsilons, np.array(deltas), zeros, float(mass @ loss), 0.0)
