"""Integer noise of the measurements, in floating point: for experiments, not for release."""

from __future__ import annotations

import numpy as np

from isdp.errors import InputError


def draw_noise(rng: np.random.Generator, flavour: str, losses) -> np.ndarray:
    """Draw independent noise, each answer by its own share of the budget.

    Parameters
    ----------
    rng : numpy.random.Generator
    flavour : {"pure", "zCDP"}
        Double geometric with a = exp(-loss / 2), or discrete Gaussian with sigma^2 = 1 / loss.
    losses : float array, shape (answers,)
        Positive.

    Returns
    -------
    int64 array, shape (answers,)
    """
    losses = np.asarray(losses, dtype=float)
    if flavour == "pure":
        p = -np.expm1(-losses / 2)
        return rng.geometric(p) - rng.geometric(p)
    if flavour == "zCDP":
        return discrete_gaussian(rng, 1 / np.sqrt(losses))
    raise InputError(f"topdown: there is no noise of the flavour {flavour!r}")


def discrete_gaussian(rng: np.random.Generator, sigma) -> np.ndarray:
    """Draw from P(k) proportional to exp(-k^2 / (2 sigma^2)) on the integers.

    Double geometric proposals are kept with probability exp(-(|k| - sigma^2/t)^2 / (2 sigma^2)),
    t = floor(sigma) + 1: Canonne, Kamath and Steinke (2020), Algorithm 3, in floating point.

    Parameters
    ----------
    rng : numpy.random.Generator
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
