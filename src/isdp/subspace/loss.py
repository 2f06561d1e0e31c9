"""The privacy loss of continuous noise: exact log densities and the (epsilon, delta) profile.

Under invariants that share no cell (a total, a partition, a single row of any weights) the density
of projected Laplace noise is a product of one-dimensional integrals of exp(-piecewise linear),
which are summed exactly, piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace.arguments import positive
from isdp.subspace.piecewise import pieces

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
    positive("scale", scale)
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


def simulated_profile(noise, shift, density: Density, epsilons) -> Profile:
    """Estimate the profile from draws: delta(e) = E (1 - exp(e - loss))_+.

    Parameters
    ----------
    noise : array, shape (draws, cells)
        Independent draws of the noise.
    shift : array, shape (cells,)
        How far the neighbour's answers lie.
    density : function
        Log density of the noise, of points of shape (draws, cells); a constant may be missing.
    epsilons : array
    """
    loss = density(noise) - density(np.asarray(noise) - shift)
    parts = -np.expm1(np.minimum(np.asarray(epsilons)[:, None] - loss, 0.0))
    root = np.sqrt(len(loss))
    return Profile(
        np.asarray(epsilons, dtype=float),
        parts.mean(axis=1),
        parts.std(axis=1) / root,
        float(loss.mean()),
        float(loss.std() / root),
    )


def integrated_profile(
    direction, shift: float, density: Density, epsilons, width: float
) -> Profile:
    """Integrate the profile of noise on a line.

    Parameters
    ----------
    direction : array, shape (cells,)
        Of length 1; the null space is its multiples.
    shift : float
        How far the neighbour lies along it, positive.
    density : function
        Log density, normalised, of points of shape (points, cells); it falls on either side of 0.
    epsilons : array
    width : float
        Length along which the density falls by a factor of about e.
    """
    direction = np.asarray(direction, dtype=float)

    def at(x: float) -> float:
        return float(density(x * direction[None])[0])

    def loss(x: float) -> float:
        return at(x) - at(x - shift)

    reach = shift + 60 * width * (1 + max(np.asarray(epsilons).max(), 1))
    pieces = [(-reach, 0.0), (0.0, shift), (shift, reach)]

    def over(function) -> float:
        return sum(quad(function, *piece, limit=400, epsabs=0, epsrel=1e-9)[0] for piece in pieces)

    deltas = [over(lambda x, e=e: np.exp(at(x)) * -np.expm1(min(e - loss(x), 0))) for e in epsilons]
    divergence = over(lambda x: np.exp(at(x)) * loss(x))
    zeros = np.zeros(len(deltas))
    return Profile(np.asarray(epsilons, float), np.array(deltas), zeros, divergence, 0.0)
