"""What 53-bit arithmetic does to the laws of the samplers: bounds in total variation distance.

A sampler in floating point draws from a law near the one asked for. Two arguments bound how near.
Run it beside one in exact arithmetic, with the same uniforms: they part only where a decision falls
within rounding, so the chances of that, over all decisions of a draw, bound the distance. And where
every weight is off by a factor within exp(+-x), the law is off by the mean of x at most, however
rarely a try is accepted. Constants are rounded up; the bounds are far above what is usual, where
errors go both ways.

The generator is taken for a source of true uniforms, multiples of 2^-53.
"""

from __future__ import annotations

import numpy as np

from isdp.exact.overlapping.compiled_klein import MAX_NARROW_WIDTH, GramSchmidt

UNIT = 2.0**-53


def frame_error(frame: GramSchmidt) -> float:
    """Bound on what a rounded Gram-Schmidt frame does to Gaussian noise of any width.

    With R the triangular factor as doubles hold it, Klein's sampler draws from the exponential of
    -||R k||^2 / (2 sigma^2) in place of -||B k||^2 / (2 sigma^2). Banaszczyk's inequality bounds
    the mean of |k_i k_j| by sigma^2 g_i g_j, where g_i^2 is the i-th diagonal entry of the inverse
    of B'B. So sigma falls out of the mean difference, which is at most g'|B'B - R'R|g / 2; what is
    computed of it is itself off by (d + 2) units of |R|'|R|. The centres, sums of d products, and
    sigma itself are rounded too.
    """
    d = len(frame.lengths)
    if d == 0:
        return 0.0
    upper = frame.lengths[:, None] * (np.eye(d) + frame.mu)
    g = np.linalg.norm(np.linalg.inv(upper), axis=1)
    basis = frame.basis.astype(float)
    seen = np.abs(basis.T @ basis - upper.T @ upper)
    rounded = (d + 2) * UNIT * np.sum((np.abs(upper) @ g) ** 2)
    centres = d * UNIT * float((np.abs(upper) @ g).sum())
    return float(g @ seen @ g + rounded + centres) + 4 * d * UNIT


def coefficient_error(widths: np.ndarray) -> float:
    """Bound for one try of Klein's sampler, with the widths s_i of its Gaussians.

    Narrow ones invert one uniform over eleven weights; wide ones take a geometric step out of up
    to 40 s, each with its own cut, a side and a decision, and are tried twice on average. Windows
    leave out 2^-60. The decision whether to go on is within 10 units.
    """
    widths = np.asarray(widths)
    units = np.where(widths < MAX_NARROW_WIDTH, 60.0, 250.0 * widths + 60.0)
    return float(units.sum()) * UNIT + len(widths) * 2.0**-60
