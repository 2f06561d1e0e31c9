"""The two frameworks on covariances, and conditioning beside them.

`NullSpace.project` and the bases of `isdp.subspace.bases` are the frameworks themselves: noise e
becomes Pi_N e (SDP, Corollary 3.2) or Q w (Theorem 3.3). Here is what they do to a covariance, and
what conditioning on the invariants does, which is the same thing for noise that is round and
another thing in general (Theorem 4.2).
"""

from __future__ import annotations

import numpy as np

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace.null_space import null_space


def projected_covariance(covariance, invariants: Invariants) -> np.ndarray:
    """Pi_N S Pi_N: covariance of noise of covariance S once it is projected.

    Parameters
    ----------
    covariance : array, shape (cells, cells)
        Symmetric.
    """
    null = null_space(invariants)
    return null.project(null.project(_symmetric(covariance, invariants)).T)


def conditioned_covariance(covariance, invariants: Invariants) -> np.ndarray:
    """S - S C' (C S C')^+ C S: covariance of normal noise given that the invariants are met.

    Parameters
    ----------
    covariance : array, shape (cells, cells)
        Symmetric and positive definite.
    """
    covariance = _symmetric(covariance, invariants)
    rows = invariants.matrix.astype(float)
    crossed = rows @ covariance
    return covariance - crossed.T @ np.linalg.pinv(crossed @ rows.T, hermitian=True) @ crossed


def maps_null_space_to_itself(covariance, invariants: Invariants) -> bool:
    """Whether S v has no part outside N for v in N; then projecting and conditioning agree.

    Both covariances have S's own block on N, less what the correlation with the row space explains:
    the two differ by that part alone, which is zero exactly if the blocks do not mix.
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
