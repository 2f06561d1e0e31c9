"""Covariances of projected, extended and conditioned noise (SDP, Theorems 3.1, 3.3 and 4.2).

`NullSpace.project` and `isdp.subspace.bases` implement the two frameworks: noise e becomes Pi_N e
(Corollary 3.2) or Q w (Theorem 3.3). This module computes the covariance after projection and after
conditioning on the invariants. They agree for spherical noise, but not in general (Theorem 4.2).
"""

from __future__ import annotations

import numpy as np

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace.null_space import null_space


def projected_covariance(covariance, invariants: Invariants) -> np.ndarray:
    """Compute Pi_N S Pi_N, the covariance of projected noise; S is symmetric, (cells, cells)."""
    null = null_space(invariants)
    return null.project(null.project(_symmetric(covariance, invariants)).T)


def conditioned_covariance(covariance, invariants: Invariants) -> np.ndarray:
    """Compute S - S C' (C S C')^+ C S, the covariance of normal noise given the invariants.

    S is symmetric and positive definite, of shape (cells, cells).
    """
    covariance = _symmetric(covariance, invariants)
    rows = invariants.matrix.astype(float)
    crossed = rows @ covariance
    return covariance - crossed.T @ np.linalg.pinv(crossed @ rows.T, hermitian=True) @ crossed


def maps_null_space_to_itself(covariance, invariants: Invariants) -> bool:
    """Return True if S v is in N for all v in N; projecting and conditioning then agree.

    The conditioned covariance is the block of S on N minus the part that the correlation with the
    row space explains. That part is zero exactly if S has no entries between the two spaces.
    """
    covariance = _symmetric(covariance, invariants)
    null = null_space(invariants)
    inside = null.project(covariance)  # rows projected: S Pi_N
    outside = inside - null.project(inside.T).T
    return bool(np.abs(outside).max() <= 1e-9 * np.abs(covariance).max())


def _symmetric(covariance, invariants: Invariants) -> np.ndarray:
    covariance = np.asarray(covariance, dtype=float)
    cells = invariants.cells
    if covariance.shape != (cells, cells) or not np.array_equal(covariance, covariance.T):
        raise InputError(f"subspace: the covariance must be symmetric, {cells} x {cells}")
    return covariance
