"""The privacy loss of continuous noise: exact log densities and the (epsilon, delta) profile.

Under invariants that share no cell (a total, a partition, a single row of any weights) the density
of projected Laplace noise is a product of one-dimensional integrals of exp(-piecewise linear),
which are summed exactly, piece by piece.
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

PANELS, NODES = 4_000, 8  # of the numerical integration, on each of three stretches
Density = Callable[[np.ndarray], np.ndarray]


def log_density(points, invariants: Invariants, scale: float) -> np.ndarray:
    """Log density of Pi_N Lap(scale)^n on the null space, with respect to its own volume.

    Parameters
    ----------
    points : array, shape (..., cells)
        In the null space.
    invariants : Invariants
        No cell in more than one of them.
    scale : float
        b of the Laplace law, positive.

    Returns
    -------
    float64 array, shape (...)

    Raises
    ------
    InputError
        If invariants share a cell, in which case no closed form is known here.
    """
    check_positive_float("subspace: scale", scale)
    points = np.asarray(points, dtype=float)
    rows = invariants.sparse
    held = np.bincount(rows.indices, minlength=invariants.cells)
    if held.max(initial=0) > 1:
        raise InputError(
            "subspace: the exact density is known for invariants that share no cell; take "
            "quotient_sensitivity for the exact pure loss of others"
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
    """Least delta at some epsilons, for one shift of one noise.

    Attributes
    ----------
    epsilons, deltas, errors : float64 arrays of one shape
        `errors` are standard errors of a simulation, zero where deltas were integrated.
    divergence, divergence_error : float
        Kullback-Leibler divergence: the mean loss.
    """

    epsilons: np.ndarray
    deltas: np.ndarray
    errors: np.ndarray
    divergence: float
    divergence_error: float


def simulated_profile(blocks: Iterable[np.ndarray], shift, density: Density, epsilons) -> Profile:
    """Estimate the profile from draws: delta(e) = E (1 - exp(e - loss))_+.

    Parameters
    ----------
    blocks : iterable of arrays, shape (draws, cells)
        Independent draws of the noise, a block at a time, so that memory does not grow with them.
    shift : array, shape (cells,)
        How far the neighbour's answers lie.
    density : function
        Log density of the noise, of points of shape (draws, cells); a constant may be missing.
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
    """Integrate the profile of noise on a line, by Gauss's rule on many short panels.

    Parameters
    ----------
    direction : array, shape (cells,)
        Of length 1; the null space is its multiples.
    shift : float
        How far the neighbour lies along it, positive.
    density : function
        Log density, normalised, of points of shape (points, cells); it may have kinks at 0 only.
    width : float
        Length along which the density falls by a factor of about e.
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
