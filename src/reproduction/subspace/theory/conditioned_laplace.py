"""Laplace noise conditioned on the invariants, the continuous limit of ISDP's noise.

The density on the null space is proportional to exp(-||u||_1 / scale). It is the limit of the
integer distribution as the scale grows. Under a total the noise is K-norm noise, which has an exact
sampler. For other invariants this module runs hit-and-run walks.
"""

from __future__ import annotations

import numpy as np

from isdp.checks import check_integer, check_positive_float
from isdp.constraints.invariants import Invariants
from isdp.subspace.null_space import null_space
from reproduction.subspace.theory.piecewise_exponential import pieces

MAX_FIXED_VARIANCE = 1e-12  # relative variance of a cell that the invariants determine


def conditioned_laplace(
    rng: np.random.Generator, invariants: Invariants, scale: float, draws: int, steps: int
) -> np.ndarray:
    """Draw conditioned Laplace noise by parallel hit-and-run walks, one walk per draw.

    Each step moves along a random line of the null space to an exact draw from the distribution on
    that line. The walks are independent and start from projected noise. Their convergence depends
    on `steps`. The squared dimension of the null space is a conservative choice. `scale` is b, the
    inverse of epsilon per unit of l1. The draws are a float64 array of shape (draws, cells).
    """
    check_positive_float("subspace: scale", scale)
    shape = check_integer("subspace", "draws", draws), invariants.cells
    steps = check_integer("subspace", "steps", steps)
    null = null_space(invariants)
    loose = null.diagonal() > MAX_FIXED_VARIANCE
    noise = null.project(rng.laplace(scale=scale, size=shape))
    if not loose.any():
        return np.zeros(shape)
    for _ in range(steps):
        direction = null.project(rng.standard_normal(shape))
        line = pieces(noise[:, loose], direction[:, loose], scale)
        noise = noise + line.sample(rng)[:, None] * direction
    return null.project(noise)  # removes accumulated rounding errors
