"""Integer noise of the measurements: in floating point for experiments, and exact for release."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from isdp.arrays import FloatArray, IntArray
from isdp.checks import check_choice
from isdp.topdown.budget import FLAVOURS, Flavour


def draw_noise(
    rng: np.random.Generator,
    flavour: Flavour,
    losses: Sequence[float | Fraction],
    counts: Sequence[int],
) -> IntArray:
    """Draw independent noise in floating point, for experiments.

    The result is int64 of shape (answers,), in the order of the queries.

    Parameters
    ----------
    flavour : {"pure", "zCDP"}
        "pure" draws discrete Laplace noise with P(k) proportional to exp(-loss |k| / 2). "zCDP"
        draws discrete Gaussian noise with sigma^2 = 1 / loss.
    losses : sequence of positive numbers
        Epsilon or rho of each query.
    counts : sequence of int
        Number of answers of each query.
    """
    check_choice("topdown: the flavour", flavour, FLAVOURS)
    loss = np.repeat(np.array(losses, dtype=float), counts)
    if flavour == "pure":
        return _double_geometric(rng, -np.expm1(-loss / 2))
    return discrete_gaussian(rng, 1 / np.sqrt(loss))


def _double_geometric(rng: np.random.Generator, p: FloatArray) -> IntArray:
    return np.asarray(rng.geometric(p) - rng.geometric(p))


def draw_noise_for_release(
    rng: object, flavour: Flavour, losses: Sequence[Fraction], counts: Sequence[int]
) -> IntArray:
    """Draw the noise of `draw_noise` exactly, with random bits of the operating system.

    The parameters are those of `draw_noise`. The argument `rng` is not used.
    """
    from isdp.exact.bits import independent  # only releases need this compiled code

    check_choice("topdown: the flavour", flavour, FLAVOURS)
    asked = [(Fraction(loss), count) for loss, count in zip(losses, counts, strict=True)]
    if flavour == "pure":
        drawn = [independent.draw_discrete_laplace(loss / 2, count) for loss, count in asked]
    else:
        drawn = [independent.draw_discrete_gaussian(1 / loss, count) for loss, count in asked]
    return np.concatenate(drawn)


def discrete_gaussian(rng: np.random.Generator, sigma: ArrayLike) -> IntArray:
    """Draw an integer with P(k) proportional to exp(-k^2 / (2 sigma^2)) for each positive sigma.

    The algorithm is Canonne-Kamath-Steinke rejection (2020, Algorithm 3) in floating point. With t
    = floor(sigma) + 1, discrete Laplace proposals of scale t have the acceptance probability
    exp(-(|k| - sigma^2/t)^2 / (2 sigma^2)).
    """
    sigma = np.asarray(sigma, dtype=float)
    drawn = np.zeros(sigma.size, dtype=np.int64)
    left, s = np.arange(sigma.size), sigma.ravel()
    while left.size:
        scale = np.floor(s) + 1
        k = _double_geometric(rng, -np.expm1(-1 / scale))
        keep = rng.random(k.size) < np.exp(-0.5 * ((np.abs(k) - s**2 / scale) / s) ** 2)
        drawn[left[keep]] = k[keep]
        left, s = left[~keep], s[~keep]
    return drawn.reshape(sigma.shape)
