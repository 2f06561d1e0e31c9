"""Privacy loss of continuous noise: log densities and privacy profiles.

If no two invariants share a cell, the density of projected Laplace noise is a product of
one-dimensional integrals. The logarithm of each integrand is piecewise linear, so that the
integrals are exact sums over pieces.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.integrate import quad
from scipy.special import gammainc, gammaincc, logsumexp
from scipy.stats import nbinom

from isdp.constraints.invariants import Invariants
from isdp.subspace.null_space import null_space

PANELS, NODES = 4_000, 8  # panels and nodes of the numerical integration on each of three intervals
DRAWS_PER_BLOCK = 10_000  # number of draws per block, which limits memory
Density = Callable[[np.ndarray], np.ndarray]


def log_density(points, invariants: Invariants, scale: float) -> np.ndarray:
    """Compute the log density of projected Laplace noise with respect to volume in the null space.

    `points`, of shape (..., cells), are in the null space, and `scale` is the scale b of the noise.
    No two invariants share a cell.
    """
    points = np.asarray(points, dtype=float)
    rows = invariants.sparse
    held = np.bincount(rows.indices, minlength=invariants.cells)
    free = points[..., held == 0]
    total = -np.abs(free).sum(axis=-1) / scale - invariants.cells * np.log(2 * scale)
    for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        if stop > start:
            weights = rows.data[start:stop].astype(float)
            line = points[..., rows.indices[start:stop]]
            total = total + _log_line_integral(line, weights, scale)
            total = total + 0.5 * np.log(np.square(weights).sum())
    return total


def _log_line_integral(points: np.ndarray, weights: np.ndarray, scale: float) -> np.ndarray:
    """Integrate exp(-sum_i |y_i + s w_i| / scale) over s, and return the logarithm.

    `points` y have shape (..., k), and the weights w of shape (k,) are not zero. The exponent has a
    bend where a term is zero. If the negative exponent is p >= q at the ends of a piece of length
    h, the integral over the piece is exp(-q) h (1 - e^-(p-q)) / (p-q).
    """
    weights = np.broadcast_to(weights, points.shape)
    bends = -points / weights
    order = np.argsort(bends, axis=-1)
    bends = np.take_along_axis(bends, order, axis=-1)
    steep = np.take_along_axis(np.abs(weights), order, axis=-1) / scale
    total = steep.sum(axis=-1, keepdims=True)
    lengths = np.diff(bends, axis=-1)
    slopes = 2 * np.cumsum(steep, axis=-1)[..., :-1] - total  # between bends
    first = (steep * np.abs(bends - bends[..., :1])).sum(axis=-1, keepdims=True)
    heights = np.concatenate([first, first + np.cumsum(slopes * lengths, axis=-1)], axis=-1)
    rise = np.abs(slopes) * lengths
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(rise > 0, -np.expm1(-rise) / rise, 1.0)
        between = np.log(lengths) + np.log(share) - np.minimum(heights[..., :-1], heights[..., 1:])
    ends = -heights[..., [0, -1]] - np.log(total)  # left of the first bend, right of the last
    return logsumexp(np.concatenate([between, ends], axis=-1), axis=-1)


@dataclass(frozen=True)
class Profile:
    """Smallest delta at each epsilon, for two datasets.

    `errors` are the standard errors of `deltas`, and 0 for exact values. `divergence` is the
    Kullback-Leibler divergence, with its standard error.
    """

    epsilons: np.ndarray
    deltas: np.ndarray
    errors: np.ndarray
    divergence: float
    divergence_error: float


def projected_profile(
    rng: np.random.Generator, cells: int, scale: float, epsilons, draws: int
) -> Profile:
    """Compute the profile of projected Laplace noise under a total.

    The profile of two cells is an integral. For more cells it is estimated from `draws` points, as
    the mean of (1 - exp(epsilon - loss))_+.
    """
    held = Invariants.total(cells)
    if cells == 2:
        along = np.array([1, -1]) / np.sqrt(2)
        return integrated_profile(
            along, np.sqrt(2), lambda points: log_density(points, held, scale), epsilons, scale
        )
    shift = np.eye(cells)[0] - np.eye(cells)[1]
    losses = []
    for start in range(0, draws, DRAWS_PER_BLOCK):
        size = min(DRAWS_PER_BLOCK, draws - start)
        noise = null_space(held).project(rng.laplace(scale=scale, size=(size, cells)))
        losses.append(log_density(noise, held, scale) - log_density(noise - shift, held, scale))
    loss = np.concatenate(losses)
    epsilons = np.asarray(epsilons, dtype=float)
    parts = -np.expm1(np.minimum(epsilons[:, None] - loss, 0.0))
    root = np.sqrt(len(loss))
    divergence, error = float(loss.mean()), float(loss.std() / root)
    return Profile(epsilons, parts.mean(axis=1), parts.std(axis=1) / root, divergence, error)


def k_norm_profile(cells: int, scale: float, epsilons) -> Profile:
    """Compute the exact profile of K-norm noise under a total, for epsilons up to 2 / scale.

    The noise u has a density proportional to exp(-||u||_1 / scale). Given the sum s of the first
    two cells, the loss is monotone in u_1. Its hockey-stick divergence then has a closed form. The
    absolute value of s is that of a sum of `cells` - 2 Laplace variables, weighted by the density
    of two. It is a mixture of Gamma variables with negative binomial weights. The divergence is the
    integral of (1 + exp(-epsilon)) delta(epsilon), because the profile of the exchanged datasets is
    the same.
    """
    laplaces = cells - 2
    shape = laplaces - np.arange(laplaces) if laplaces else np.zeros(1)
    weights = nbinom.pmf(laplaces - shape, laplaces, 0.5) if laplaces else np.ones(1)
    weights = weights / 2.0**shape
    total = weights @ (1 + shape / 2)

    def delta(epsilon: float) -> float:
        c = max(1 / scale - epsilon / 2, 1e-300)
        above = c * gammaincc(shape, 2 * c)
        below = gammainc(shape, 2 * c) + shape / 2 * gammainc(shape + 1, 2 * c)
        removed = 2.0**shape * np.exp(-c) * gammainc(shape, c)
        return float(weights @ (above + below - removed) / total)

    divergence = quad(lambda e: (1 + math.exp(-e)) * delta(e), 0, 2 / scale)[0]
    epsilons = np.asarray(epsilons, dtype=float)
    deltas = np.array([delta(epsilon) for epsilon in epsilons])
    return Profile(epsilons, deltas, np.zeros(len(deltas)), divergence, 0.0)


def integrated_profile(
    direction, shift: float, density: Density, epsilons, width: float
) -> Profile:
    """Compute the profile of noise on a line by Gauss-Legendre quadrature on short panels.

    `direction`, of shape (cells,), has the length 1 and spans the null space. `shift` is the
    positive distance of the neighbouring dataset along it. `density` returns the normalised log
    density of points of shape (points, cells), which may have a kink at 0 only. It falls by a
    factor of about e over the distance `width`.
    """
    epsilons = np.asarray(epsilons, dtype=float)
    end = shift + 60 * width * (1 + max(epsilons.max(), 1))
    ends = (-end, 0.0, shift, end)
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
