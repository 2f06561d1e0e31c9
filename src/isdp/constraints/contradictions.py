"""Irreducible sets of constraints that contradict each other."""

from __future__ import annotations

import numpy as np
import scipy

from isdp.constraints.polytope import Polytope
from isdp.errors import InputError

TIME_LIMIT = 60  # time limit of each feasibility problem in seconds


def irreducible_conflict(polytope: Polytope) -> list[str]:
    """Find constraints that contradict each other, but not if any one of them is dropped.

    The algorithm is the deletion filter of Chinneck and Dravnieks (1991). This algorithm drops each
    constraint in turn, and restores it if the others are then feasible. A solution may contain
    fractions. Raise `InputError` if the solver does not decide a feasibility problem within a
    minute.

    Returns
    -------
    list of str
        The equalities come before the inequalities. The list is empty if there is no conflict.
    """
    names = [*polytope.equalities.names, *polytope.inequalities.names]
    kept = np.ones(len(names), dtype=bool)
    if _is_feasible(polytope, kept):
        return []
    for row in range(len(names)):
        kept[row] = False
        kept[row] = _is_feasible(polytope, kept)
    return [names[row] for row in np.flatnonzero(kept)]


def _is_feasible(polytope: Polytope, kept) -> bool:
    kept_equalities, kept_inequalities = np.split(kept, [polytope.equalities.constraints])
    infinite = np.full(polytope.inequalities.constraints, np.inf)
    parts = (
        (polytope.equalities, polytope.totals, polytope.totals, kept_equalities),
        (polytope.inequalities, polytope.lower_bounds, infinite, kept_inequalities),
    )
    found = scipy.optimize.milp(
        np.zeros(polytope.cells),
        constraints=[
            scipy.optimize.LinearConstraint(
                matrix.sparse[np.flatnonzero(rows)].astype(float), low[rows], high[rows]
            )
            for matrix, low, high, rows in parts
            if rows.any()
        ],
        bounds=scipy.optimize.Bounds(-np.inf, np.inf),
        options={"time_limit": TIME_LIMIT},
    )
    if found.status in (0, 2):  # the problem is feasible (0) or proved infeasible (2)
        return found.status == 0
    raise InputError(
        f"constraints: the solver did not find a contradiction in time ({found.message.strip()}). "
        f"Give fewer constraints"
    )
