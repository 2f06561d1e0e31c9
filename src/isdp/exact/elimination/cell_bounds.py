"""Lower bounds on the noise of cells: their format and their feasibility."""

from __future__ import annotations

import numpy as np
import scipy

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError


def cell_bound(bound, cells: int) -> np.ndarray:
    """Check a lower bound and broadcast it to the cells; float, with -inf for no bound."""
    if bound is None:
        return np.full(cells, -np.inf)
    bound = np.asarray(bound)
    if bound.dtype.kind not in "iu" or bound.shape not in ((), (cells,)):
        raise InputError(
            f"exact: lower must be one integer or {cells}, one per cell, not {bound.dtype} "
            f"of shape {bound.shape}"
        )
    if np.abs(bound.astype(float)).max() > 2.0**52:
        raise InputError("exact: lower exceeds 2^52; leave it out")
    return np.broadcast_to(bound.astype(float), (cells,)).copy()


def refuse_infeasible(invariants: Invariants, lower: np.ndarray) -> None:
    """Refuse bounds that no integer noise with A u = 0 meets."""
    if (lower <= 0).all():
        return
    held = scipy.optimize.LinearConstraint(invariants.sparse.astype(float), 0, 0)
    kwargs = {"constraints": held} if invariants.constraints else {}
    found = scipy.optimize.milp(
        np.zeros(invariants.cells),
        integrality=np.ones(invariants.cells),
        bounds=scipy.optimize.Bounds(lower, np.inf),
        **kwargs,
    )
    if found.status == 2:
        raise InputError("exact: no integer noise meets both the invariants and the bounds")
