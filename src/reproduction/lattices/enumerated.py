"""Small lattices, which are enumerated for the table `lattice_statements`."""

import numpy as np
import scipy

from isdp.constraints.invariants import Invariants
from isdp.exact.enumeration import enumerate_distribution
from isdp.mechanisms.base import Mechanism
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.mechanisms.generalized_laplace import GeneralizedLaplace

GRID = Invariants(np.zeros((0, 2), dtype=np.int64))  # no invariants on two cells
SMALL = {
    "2 x 2 margins": Invariants.margins((2, 2)),
    "total of 3 cells": Invariants.total(3),
    "2 x 3 margins": Invariants.margins((2, 3)),
    "two crossing totals": Invariants.subsets([[0, 1, 2], [1, 2, 3]], 4),
}
PAPER = {
    "4 x 4 margins": Invariants.margins((4, 4)),
    # two records in each region of three sets
    "14 records": Invariants([[(i % 7 + 1) >> k & 1 for i in range(14)] for k in range(3)]),
}
OTHERS = {
    "2 x 2 x 2 margins": Invariants.margins((2, 2, 2), ((0, 1), (0, 2), (1, 2))),
    "three pairs of 4 cells": Invariants.subsets([[0, 1], [1, 2], [0, 2]], 4),  # a divisor of 2
    "no invariants": GRID,
}
EPSILONS = 0.5, 1.0
SIGMAS = 1.5, 3.0
LAPLACE, L2_LAPLACE = GeneralizedLaplace(0.5), GeneralizedLaplace(0.5, "l2")
GAUSSIAN = GeneralizedGaussian(1.5)
GAUSSIAN_RADIUS = 8  # in sigmas


def list_points(invariants: Invariants, radius: float) -> np.ndarray:
    """List the lattice points with an l2 norm of up to `radius`, int64 of shape (point, cell)."""
    return enumerate_distribution(invariants, GeneralizedLaplace(1, "l2"), radius).points


def list_outputs(invariants: Invariants, mechanism: Mechanism) -> np.ndarray:
    """List the lattice points outside which the noise has a probability below 1e-9."""
    if isinstance(mechanism, GeneralizedGaussian):
        return list_points(invariants, GAUSSIAN_RADIUS * mechanism.sigma)
    return enumerate_distribution(invariants, mechanism).points


def probability(mechanism: Mechanism, points: np.ndarray) -> np.ndarray:
    """Compute the probabilities of the points, which add up to 1."""
    return scipy.special.softmax(mechanism.log_weight(points))
