"""Bounds on the effect of 53-bit rounding on the samplers' distributions, in total variation.

A sampler in floating point draws from a distribution near the target. Two arguments bound the
distance. First, couple it with a sampler in exact arithmetic that takes the same uniforms: they
differ only where a decision falls within rounding, so that the sum of these probabilities over all
decisions of a draw bounds the distance. Second, where every weight is wrong by a factor within
exp(+-x), the distance is at most the mean of x, however rarely a proposal is accepted. Constants
are rounded up. The bounds are far above typical errors, which partly cancel.

The pseudo-random generator counts as a source of true uniforms, multiples of 2^-53.
"""

from __future__ import annotations

import numpy as np

from isdp.exact.overlapping.compiled_klein import MAX_NARROW_WIDTH, GramSchmidt

UNIT_ROUNDOFF = 2.0**-53


def frame_error(frame: GramSchmidt) -> float:
    """Bound the effect of a rounded Gram-Schmidt frame on Gaussian noise of any width.

    With R the triangular factor in doubles, Klein's sampler draws from the exponential of
    -||R k||^2 / (2 sigma^2) in place of -||B k||^2 / (2 sigma^2). Banaszczyk's inequality bounds
    the mean of |k_i k_j| by sigma^2 g_i g_j, where g_i^2 is the i-th diagonal entry of the inverse
    of B'B. So sigma cancels in the mean difference, which is at most g'|B'B - R'R|g / 2. The
    computed difference has an error of (d + 2) units of |R|'|R|. The centres, sums of d products,
    and sigma are rounded too.
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
    """Bound the rounding of one proposal of Klein's sampler with Gaussians of the given widths.

    Narrow Gaussians invert one uniform over eleven weights. Wide ones take a geometric step of up
    to 40 widths, each with its own cut, a side and a decision, and need two proposals on average.
    Truncation leaves out 2^-60. The decision whether to continue is within 10 units.
    """
    widths = np.asarray(widths)
    units = np.where(widths < MAX_NARROW_WIDTH, 60.0, 250.0 * widths + 60.0)
    return float(units.sum()) * UNIT_ROUNDOFF + len(widths) * 2.0**-60
