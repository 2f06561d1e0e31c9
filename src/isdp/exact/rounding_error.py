"""Bounds on the effect of 53-bit rounding on the samplers' distributions, in total variation.

A sampler in floating point draws from a distribution near the target. Two arguments bound the
distance. First, couple the sampler with one in exact arithmetic that uses the same uniform numbers.
The draws of the two samplers differ only if rounding changes a decision. The sum of the
probabilities of these events bounds the distance. Second, suppose that each weight is wrong by a
factor between exp(-x) and exp(x). Then the distance is at most the mean of x, for any acceptance
probability.

Constants are rounded up. Typical errors partly cancel and are far below the bounds. The generator
is assumed to return true uniform numbers, which are multiples of 2^-53.
"""

from __future__ import annotations

import numpy as np

from isdp.exact.overlapping.compiled_klein import MAX_NARROW_WIDTH, GramSchmidt

UNIT_ROUNDOFF = 2.0**-53


def frame_error(frame: GramSchmidt) -> float:
    """Bound the effect of a rounded Gram-Schmidt basis on Gaussian noise of any width.

    Let B be the basis and R its triangular factor in doubles. Klein's algorithm draws from the
    exponential of -||R k||^2 / (2 sigma^2) instead of -||B k||^2 / (2 sigma^2). Let g_i^2 be the
    i-th diagonal entry of the inverse of B'B. Banaszczyk's inequality bounds the mean of |k_i k_j|
    by sigma^2 g_i g_j. Sigma therefore cancels in the mean difference of the exponents, which is at
    most g'|B'B - R'R|g / 2.

    The computed difference has an error of (d + 2) units of |R|'|R|. The centres, which are sums of
    d products, and sigma are also rounded.
    """
    d = len(frame.lengths)
    if d == 0:
        return 0.0
    upper = frame.lengths[:, None] * (np.eye(d) + frame.mu)
    g = np.linalg.norm(np.linalg.inv(upper), axis=1)
    basis = frame.basis.astype(float)
    computed = np.abs(basis.T @ basis - upper.T @ upper)
    rounded = (d + 2) * UNIT_ROUNDOFF * np.sum((np.abs(upper) @ g) ** 2)
    centres = d * UNIT_ROUNDOFF * float((np.abs(upper) @ g).sum())
    return float(g @ computed @ g + rounded + centres) + 4 * d * UNIT_ROUNDOFF


def coefficient_error(widths: np.ndarray) -> float:
    """Bound the rounding of one proposal of Klein's algorithm with Gaussians of the given widths.

    A draw from a narrow Gaussian selects one of eleven weights by one uniform number. A draw from a
    wide Gaussian takes a geometric step of at most 40 widths, selects a side, and decides on
    acceptance. Each possible step has its own threshold. Two proposals are needed on average.
    Truncation removes a probability of at most 2^-60. The decision to continue adds at most 10
    units of 2^-53.
    """
    units = np.where(widths < MAX_NARROW_WIDTH, 60.0, 250.0 * widths + 60.0)
    return float(units.sum()) * UNIT_ROUNDOFF + len(widths) * 2.0**-60
