"""Distribution on a line whose density at s is proportional to exp(-sum_i |y_i + s w_i| / scale).

The exponent is piecewise linear in s, with a bend where a term is zero. If the negative exponent
has the values p >= q at the ends of a piece of length h, the piece has the mass exp(-q) h
(1 - e^-(p-q)) / (p-q).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp


class Pieces(NamedTuple):
    """Pieces of many distributions; the last axis is along the line.

    `bends`, of shape (..., k), are in ascending order. `slopes` and `log_masses`, of shape
    (..., k + 1), have the slope of the negative exponent and the logarithm of the integral of each
    piece: left of the first bend, between bends, and right of the last bend.
    """

    bends: np.ndarray
    slopes: np.ndarray
    log_masses: np.ndarray

    def log_integral(self) -> np.ndarray:
        """Compute the logarithm of the integral over the line; shape (...)."""
        return logsumexp(self.log_masses, axis=-1)

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        """Draw a point of each line; shape (...)."""
        masses = np.exp(self.log_masses - self.log_masses.max(axis=-1, keepdims=True))
        cumulative = np.cumsum(masses, axis=-1)
        level = rng.random(cumulative.shape[:-1])[..., None] * cumulative[..., -1:]
        piece = (cumulative < level).sum(axis=-1)[..., None]
        slope = np.take_along_axis(self.slopes, piece, axis=-1)[..., 0]
        ends = (
            np.concatenate([np.full_like(self.bends[..., :1], -np.inf), self.bends], axis=-1),
            np.concatenate([self.bends, np.full_like(self.bends[..., :1], np.inf)], axis=-1),
        )
        left, right = (np.take_along_axis(end, piece, axis=-1)[..., 0] for end in ends)
        return _within(rng, left, right, slope)


def pieces(points: np.ndarray, weights: np.ndarray, scale: float) -> Pieces:
    """Split lines into pieces, for points y of shape (..., k) and weights w other than zero."""
    weights = np.broadcast_to(weights, points.shape)
    bends = -points / weights
    order = np.argsort(bends, axis=-1)
    bends = np.take_along_axis(bends, order, axis=-1)
    steep = np.take_along_axis(np.abs(weights), order, axis=-1) / scale
    total = steep.sum(axis=-1, keepdims=True)
    slopes = np.concatenate([-total, 2 * np.cumsum(steep, axis=-1) - total], axis=-1)
    lengths = np.diff(bends, axis=-1)
    inner = slopes[..., 1:-1]
    first = (steep * np.abs(bends - bends[..., :1])).sum(axis=-1, keepdims=True)
    heights = np.concatenate([first, first + np.cumsum(inner * lengths, axis=-1)], axis=-1)
    rise = np.abs(inner) * lengths
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(rise > 0, -np.expm1(-rise) / rise, 1.0)
        between = np.log(lengths) + np.log(share) - np.minimum(heights[..., :-1], heights[..., 1:])
    left = -heights[..., :1] - np.log(total)
    right = -heights[..., -1:] - np.log(slopes[..., -1:])
    return Pieces(bends, slopes, np.concatenate([left, between, right], axis=-1))


def _within(rng: np.random.Generator, left, right, slope) -> np.ndarray:
    """Draw from the density proportional to exp(-slope t) between left and right.

    The distance from the end with the larger density has a truncated exponential distribution.
    """
    uniform = rng.random(slope.shape)
    steep = np.abs(slope)
    with np.errstate(divide="ignore", invalid="ignore"):
        gone = -np.log1p(uniform * np.expm1(-steep * (right - left))) / steep
    gone = np.where(steep * (right - left) > 1e-9, gone, uniform * (right - left))
    return np.where(slope > 0, left + gone, right - gone)
