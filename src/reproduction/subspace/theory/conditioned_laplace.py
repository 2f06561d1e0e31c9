"""Laplace noise conditioned on the invariants, the continuous limit of ISDP's noise.

Its density on the null space is proportional to exp(-||u||_1 / scale), the limit of the integer
distribution as the scale grows. Under a total it is K-norm noise, which has an exact sampler. In
general this module uses the hit-and-run walk.
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
    """Draw by many short hit-and-run walks in parallel, one walk per draw.

    Each step moves along a random line of the null space to an exact draw from the distribution on
    that line. The walks start from projected noise and are independent. Their convergence depends
    on `steps`; the squared dimension of the null space is a conservative choice. `scale` is b, the
    inverse of epsilon per unit of l1. The draws are float64 of shape (draws, cells).
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
