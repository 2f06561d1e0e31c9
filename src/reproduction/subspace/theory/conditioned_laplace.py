"""Laplace noise conditioned on the invariants: the continuous twin of ISDP's generalized Laplace.

Its density on the null space is proportional to exp(-||u||_1 / scale), which is what the integer
law tends to as the scale grows. Under a total it is K-norm noise and has an exact sampler
(`isdp.subspace.mechanisms.k_norm.root_polytope_noise`); in general there is the walk below.
"""

from __future__ import annotations

import numpy as np

from isdp.checks import check_integer, check_positive_float
from isdp.constraints.invariants import Invariants
from isdp.subspace.null_space import null_space
from reproduction.subspace.theory.piecewise_exponential import pieces

FIXED = 1e-12  # variance by scale below which the invariants fix a cell


def conditioned_laplace(
    rng: np.random.Generator, invariants: Invariants, scale: float, draws: int, steps: int
) -> np.ndarray:
    """Draw by many short walks side by side, one a draw.

    Each step goes along a random line of the null space to a point drawn exactly from the law on
    that line (hit-and-run), starting from projected noise. The draws are independent of each other;
    how near each is to the law hangs on `steps`, of which the dimension of the null space squared
    is a cautious number.

    Parameters
    ----------
    scale : float
        b; one over the epsilon of a unit of l1.

    Returns
    -------
    float64 array, shape (draws, cells)
    """
    check_positive_float("subspace: scale", scale)
    shape = check_integer("subspace", "draws", draws), invariants.cells
    steps = check_integer("subspace", "steps", steps)
    null = null_space(invariants)
    loose = null.diagonal() > FIXED
    noise = null.project(rng.laplace(scale=scale, size=shape))
    if not loose.any():
        return np.zeros(shape)
    for _ in range(steps):
        way = null.project(rng.standard_normal(shape))
        line = pieces(noise[:, loose], way[:, loose], scale)
        noise = noise + line.sample(rng)[:, None] * way
    return null.project(noise)  # what rounding has gathered goes
