"""Covariances of projected, extended and conditioned noise (SDP, Theorems 3.1, 3.3 and 4.2).

`NullSpace.project` replaces noise e by its projection Pi_N e (Corollary 3.2). The bases Q of
`isdp.subspace.bases` map noise w to Q w (Theorem 3.3). This module computes the covariance after
projection, and after conditioning on the invariants. The two are equal for spherical noise, and
differ in general (Theorem 4.2).

SDP is *Subspace Differential Privacy*.
"""

import numpy as np

from isdp.constraints.invariants import Invariants
from isdp.subspace.null_space import null_space


def projected_covariance(covariance: np.ndarray, invariants: Invariants) -> np.ndarray:
    """Compute Pi_N S Pi_N, the covariance of projected noise with covariance S.

    S is symmetric, of shape (cells, cells).
    """
    null = null_space(invariants)
    return null.project(null.project(covariance).T)


def conditioned_covariance(covariance: np.ndarray, invariants: Invariants) -> np.ndarray:
    """Compute S - S C' (C S C')^+ C S, the covariance of normal noise given C e = 0.

    S is symmetric and positive definite, of shape (cells, cells). C is the matrix of invariants.
    """
    rows = invariants.matrix.astype(float)
    crossed = rows @ covariance
    return covariance - crossed.T @ np.linalg.pinv(crossed @ rows.T, hermitian=True) @ crossed
