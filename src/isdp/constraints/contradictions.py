"""Irreducible sets of constraints that contradict each other."""

from __future__ import annotations

import numpy as np
import scipy

from isdp.constraints.polytope import Polytope
from isdp.errors import InputError

TIME_LIMIT = 60  # seconds per feasibility problem


def irreducible_conflict(polytope: Polytope) -> list[str]:
    """Name constraints that contradict each other, and do not without any one of them.

    Returns
    -------
    list of str
        Names, equalities first; none if all the constraints can be met together.

    Raises
    ------
    InputError
        If the solver does not decide a feasibility problem within a minute.
    """
    names = [*polytope.equalities.names, *polytope.inequalities.names]
    return [names[row] for row in conflicting(polytope)]


def conflicting(polytope: Polytope) -> list[int]:
    """Find the rows of `irreducible_conflict`, those of the equalities first.

    The algorithm is the deletion filter of Chinneck and Dravnieks (1991): it drops constraints one
    by one, and restores each without which the rest can be met. Numbers may be fractions.
    """
    rows = polytope.equalities.constraints + polytope.inequalities.constraints
    kept = np.ones(rows, dtype=bool)
    if _can_be_met(polytope, kept):
        return []
    for row in range(rows):
        kept[row] = False
        kept[row] = _can_be_met(polytope, kept)
    return np.flatnonzero(kept).tolist()


def _can_be_met(polytope: Polytope, kept) -> bool:
    equal, above = np.split(kept, [polytope.equalities.constraints])
    sides = (
        (polytope.equalities, polytope.totals, polytope.totals, equal),
        (polytope.inequalities, polytope.least, np.full(len(above), np.inf), above),
    )
    found = scipy.optimize.milp(
        np.zeros(polytope.cells),
        constraints=[
            scipy.optimize.LinearConstraint(
                matrix.sparse[np.flatnonzero(some)].astype(float), low[some], high[some]
            )
            for matrix, low, high, some in sides
            if some.any()
        ],
        bounds=scipy.optimize.Bounds(-np.inf, np.inf),
        options={"time_limit": TIME_LIMIT},
    )
    if found.status in (0, 2):  # met, or proved impossible
        return found.status == 0
    raise InputError(f"conflict: the solver reached no decision ({found.message.strip()})")
