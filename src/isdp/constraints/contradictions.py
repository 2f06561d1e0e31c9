"""Irreducible sets of constraints that contradict each other."""

import numpy as np
from numpy.typing import NDArray

from isdp.constraints.polytope import Polytope, find_point
from isdp.errors import InputError


def irreducible_conflict(polytope: Polytope) -> list[str]:
    """Find constraints that contradict each other, but not if any one of them is dropped.

    The algorithm is the deletion filter of Chinneck and Dravnieks (1991). This algorithm drops each
    constraint in turn, and restores it if the others are then feasible. A solution may contain
    fractions. Raise `InputError` if the solver does not decide a feasibility problem within a
    minute.

    The equalities come before the inequalities in the result, which is empty if there is no
    conflict.
    """
    names = [*polytope.equalities.names, *polytope.inequalities.names]
    kept = np.ones(len(names), dtype=bool)
    if _is_feasible(polytope, kept):
        return []
    for row in range(len(names)):
        kept[row] = False
        kept[row] = _is_feasible(polytope, kept)
    return [names[row] for row in np.flatnonzero(kept)]


def _is_feasible(polytope: Polytope, kept: NDArray[np.bool_]) -> bool:
    found = find_point(polytope, kept, integer=False)
    if found.status in (0, 2):  # the problem is feasible (0) or proved infeasible (2)
        return bool(found.status == 0)
    raise InputError(
        f"constraints: the solver did not find a contradiction in time ({found.message.strip()}). "
        f"Give fewer constraints"
    )
