"""Integer noise of the measurements: in floating point for experiments, exact for release."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from isdp.checks import check_choice
from isdp.topdown.budget import FLAVOURS


def draw_noise(
    rng: np.random.Generator, flavour: str, losses: Sequence[float], counts: Sequence[int]
) -> np.ndarray:
    """Draw independent noise in floating point, for experiments.

    Parameters
    ----------
    flavour : {"pure", "zCDP"}
        Double geometric with a = exp(-loss / 2), or discrete Gaussian with sigma^2 = 1 / loss.
    losses : sequence of positive numbers
        Epsilon or rho of each query.
    counts : sequence of int
        Answers of each query.

    Returns
    -------
    int64 array, shape (answers,)
        The first query's answers first.
    """
    check_choice("topdown: the flavour", flavour, FLAVOURS)
    losses = np.repeat(np.array(losses, dtype=float), counts)
    if flavour == "pure":
        p = -np.expm1(-losses / 2)
        return rng.geometric(p) - rng.geometric(p)
    return discrete_gaussian(rng, 1 / np.sqrt(losses))


def draw_noise_for_release(
    rng: object, flavour: str, losses: Sequence[Fraction], counts: Sequence[int]
) -> np.ndarray:
    """Draw the same laws in exact arithmetic from the operating system's randomness.

    Parameters are those of `draw_noise`, but that `rng` is not used and losses are exact.
    """
    from isdp.exact.bits import independent  # compiled code: noise for experiments does without

    check_choice("topdown: the flavour", flavour, FLAVOURS)
    asked = [(Fraction(loss), count) for loss, count in zip(losses, counts, strict=True)]
    if flavour == "pure":
        drawn = [independent.double_geometric(loss / 2, count) for loss, count in asked]
    else:
        drawn = [independent.discrete_gaussian(1 / loss, count) for loss, count in asked]
    return np.concatenate(drawn)


def discrete_gaussian(rng: np.random.Generator, sigma) -> np.ndarray:
    """Draw from P(k) proportional to exp(-k^2 / (2 sigma^2)) on the integers.

    Double geometric proposals are kept with probability exp(-(|k| - sigma^2/t)^2 / (2 sigma^2)),
    t = floor(sigma) + 1: Canonne, Kamath and Steinke (2020), Algorithm 3, in floating point.

    Parameters
    ----------
    sigma : float array
        Positive.

    Returns
    -------
    int64 array of the shape of `sigma`
    """
    sigma = np.asarray(sigma, dtype=float)
    drawn = np.zeros(sigma.size, dtype=np.int64)
    left, s = np.arange(sigma.size), sigma.ravel()
    while left.size:
        scale = np.floor(s) + 1
        p = -np.expm1(-1 / scale)
        k = rng.geometric(p) - rng.geometric(p)
        keep = rng.random(k.size) < np.exp(-0.5 * ((np.abs(k) - s**2 / scale) / s) ** 2)
        drawn[left[keep]] = k[keep]
        left, s = left[~keep], s[~keep]
    return drawn.reshape(sigma.shape)
