"""Checks of lower bounds on the noise of cells."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from isdp.arrays import FloatArray
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError


def cell_bound(bound: ArrayLike | None, cells: int) -> FloatArray:
    """Check a lower bound, and return one float per cell, which is -inf without a bound."""
    if bound is None:
        return np.full(cells, -np.inf)
    bound = np.asarray(bound)
    if bound.dtype.kind not in "iu" or bound.shape not in ((), (cells,)):
        raise InputError(
            f"lower: must be one integer or {cells} integers, one per cell, got {bound.dtype} "
            f"of shape {bound.shape}"
        )
    if np.abs(bound.astype(float)).max() > 2.0**52:
        raise InputError("lower: must lie between -2^52 and 2^52. Omit larger bounds.")
    return np.broadcast_to(bound.astype(float), (cells,)).copy()


def refuse_infeasible(invariants: Invariants, lower: FloatArray) -> None:
    """Raise `InputError` if no integer noise u with A u = 0 satisfies the bounds."""
    if (lower <= 0).all():
        return
    totals = scipy.optimize.LinearConstraint(invariants.sparse.astype(float), 0, 0)
    found = scipy.optimize.milp(
        np.zeros(invariants.cells),
        integrality=np.ones(invariants.cells),
        bounds=scipy.optimize.Bounds(lower, np.inf),
        constraints=totals if invariants.constraints else None,
    )
    if found.status == 2:
        raise InputError(
            "lower: no integer noise satisfies both the invariants and the bounds. Use smaller "
            "bounds or fewer invariants."
        )
