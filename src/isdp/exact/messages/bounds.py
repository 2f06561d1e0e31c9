"""Bounds on the noise of each cell: reading them, and whether any noise meets them."""

from __future__ import annotations

import numpy as np
import scipy

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError


def cell_bound(name: str, bound, cells: int, default: float) -> np.ndarray:
    """Check a bound and spread it over the cells; float, so that infinity stands for none."""
    if bound is None:
        return np.full(cells, default)
    bound = np.asarray(bound)
    if bound.dtype.kind not in "iu" or bound.shape not in ((), (cells,)):
        raise InputError(
            f"exact: {name} must be one integer or {cells} of them, one a cell, got {bound.dtype} "
            f"of shape {bound.shape}"
        )
    if np.abs(bound.astype(float)).max() > 2.0**52:
        raise InputError(f"exact: {name} goes beyond 2^52; leave the bound away")
    return np.broadcast_to(bound.astype(float), (cells,)).copy()


def refuse_infeasible(invariants: Invariants, lower: np.ndarray, upper: np.ndarray) -> None:
    """Raise unless some integer noise meets A u = 0 and the bounds."""
    crossed = np.flatnonzero(lower > upper)
    if crossed.size:
        cell = int(crossed[0])
        raise InputError(
            f"exact: cell {cell} has lower {lower[cell]:.0f} above upper {upper[cell]:.0f}"
        )
    if (lower <= 0).all() and (upper >= 0).all():
        return
    held = scipy.optimize.LinearConstraint(invariants.sparse.astype(float), 0, 0)
    kwargs = {"constraints": held} if invariants.constraints else {}
    found = scipy.optimize.milp(
        np.zeros(invariants.cells),
        integrality=np.ones(invariants.cells),
        bounds=scipy.optimize.Bounds(lower, upper),
        **kwargs,
    )
    if found.status == 2:
        raise InputError("exact: no integer noise meets both the invariants and the bounds")
