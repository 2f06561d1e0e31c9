"""Projection of a polytope onto some variables by exact Fourier-Motzkin elimination.

The elimination uses Python's integers and does not round. A point of the kept variables satisfies
the implied constraints if and only if real values of the other variables exist. Integer values need
not exist, but they always exist for the polytopes of `isdp.constraints.presence`.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy

from isdp.constraints.invariants import Invariants
from isdp.constraints.polytope import Polytope
from isdp.errors import InputError

Row = tuple[int, ...]  # the coefficients of a constraint, and its right-hand side at the end
TOLERANCE = 1e-7


@dataclass(frozen=True, eq=False)
class ImpliedConstraints:
    """Constraints on the kept variables that a polytope implies.

    Attributes
    ----------
    polytope : Polytope
        The implied constraints, with the kept variables in the order of `keep`.
    peak : int
        Maximum number of inequalities during the elimination.
    """

    polytope: Polytope
    peak: int


def implied_constraints(
    polytope: Polytope, keep: Iterable[int], max_inequalities: int = 20_000
) -> ImpliedConstraints:
    """Eliminate all variables except those to keep.

    The source is the slides *The TopDown algorithm and invariants*, "Implied Constraints". If an
    equality contains the next variable, the elimination solves it for this variable. Otherwise the
    elimination combines each lower bound on the variable with each upper bound. The next variable
    is the one that creates the fewest inequalities. Repeated and weaker inequalities are dropped.
    Raise `InputError` if `keep` is invalid, the constraints contradict each other, or there are too
    many inequalities.

    Parameters
    ----------
    keep : iterable of int
        Cells of the polytope to keep.
    max_inequalities : int
        Maximum number of inequalities, which may grow doubly exponentially.
    """
    keep = [int(variable) for variable in keep]
    if len(set(keep)) != len(keep) or not set(keep) <= set(range(polytope.cells)):
        raise InputError(
            f"implied_constraints: keep must be distinct cells from 0 to {polytope.cells - 1}"
        )
    equal = _rows(polytope.equalities, polytope.totals)
    above = _strongest(_rows(polytope.inequalities, polytope.lower_bounds))
    peak = len(above)
    remaining = set(range(polytope.cells)) - set(keep)
    while remaining:
        pivot, variable = _next_variable(equal, above, remaining)
        remaining.remove(variable)
        if pivot is not None:
            equal = [_substitute(row, pivot, variable) for row in equal if row is not pivot]
            above = [_substitute(row, pivot, variable) for row in above]
        else:
            above = _combine(above, variable)
        equal = _nonzero(equal)
        above = _strongest(above)
        peak = max(peak, len(above))
        if peak > max_inequalities:
            raise InputError(
                f"implied_constraints: there are more than {max_inequalities} inequalities. Split "
                f"the problem, or use the subset bounds in isdp.constraints.presence"
            )
    return ImpliedConstraints(_polytope(equal, above, keep), peak)


def irredundant(polytope: Polytope) -> Polytope:
    """Drop each inequality that the remaining ones imply.

    The result contains the same points. The rows of the result are not unique if there are
    equalities.
    """
    rows, bounds = polytope.inequalities.matrix.astype(float), polytope.lower_bounds
    equalities = polytope.equalities.matrix.astype(float)
    kept = np.ones(len(rows), dtype=bool)
    for row in range(len(rows)):
        kept[row] = False
        found = scipy.optimize.linprog(
            rows[row],
            A_ub=-rows[kept] if kept.any() else None,
            b_ub=-bounds[kept] if kept.any() else None,
            A_eq=equalities if len(equalities) else None,
            b_eq=polytope.totals if len(equalities) else None,
            bounds=(None, None),
        )
        kept[row] = found.status != 0 or found.fun < bounds[row] - TOLERANCE
    names = [name for name, stays in zip(polytope.inequalities.names, kept, strict=True) if stays]
    inequalities = Invariants(polytope.inequalities.sparse[np.flatnonzero(kept)], names)
    return Polytope(polytope.equalities, polytope.totals, inequalities, bounds[kept])


def _rows(matrix: Invariants, sides) -> list[Row]:
    dense = matrix.matrix.tolist()
    return [_reduced((*row, int(side))) for row, side in zip(dense, sides, strict=True)]


def _reduced(row: Row) -> Row:
    divisor = math.gcd(*row)
    return tuple(entry // divisor for entry in row) if divisor > 1 else row


def _nonzero(equal: list[Row]) -> list[Row]:
    for row in equal:
        if not any(row[:-1]) and row[-1]:
            raise _contradiction("equalities")
    return list(dict.fromkeys(row for row in equal if any(row[:-1])))


def _contradiction(constraints: str) -> InputError:
    return InputError(
        f"implied_constraints: the {constraints} contradict each other. Correct the totals"
    )


def _strongest(above: list[Row]) -> list[Row]:
    """Keep the strongest of the inequalities with proportional coefficients.

    The bounds are compared after division by the common divisor of the coefficients.
    """
    best: dict[Row, tuple[int, int]] = {}
    for row in above:
        *coefficients, bound = row
        divisor = math.gcd(*coefficients)
        if not divisor:
            if bound > 0:
                raise _contradiction("inequalities")
            continue
        direction = tuple(entry // divisor for entry in coefficients)
        other = best.get(direction)
        if other is None or bound * other[1] > other[0] * divisor:
            best[direction] = (bound, divisor)
    return [
        _reduced((*(entry * divisor for entry in direction), bound))
        for direction, (bound, divisor) in best.items()
    ]


def _next_variable(
    equal: list[Row], above: list[Row], remaining: set[int]
) -> tuple[Row | None, int]:
    for row in equal:
        for variable in sorted(remaining):
            if row[variable]:
                return row, variable

    def added_inequalities(variable):
        low = sum(row[variable] > 0 for row in above)
        high = sum(row[variable] < 0 for row in above)
        return low * high - low - high

    return None, min(sorted(remaining), key=added_inequalities)


def _substitute(row: Row, pivot: Row, variable: int) -> Row:
    """Scale a row by a positive number and add a multiple of the pivot that cancels a variable."""
    if not row[variable]:
        return row
    scale, share = abs(pivot[variable]), row[variable] * (1 if pivot[variable] > 0 else -1)
    return _reduced(tuple(scale * a - share * b for a, b in zip(row, pivot, strict=True)))


def _combine(above: list[Row], variable: int) -> list[Row]:
    low = [row for row in above if row[variable] > 0]
    high = [row for row in above if row[variable] < 0]
    rest = [row for row in above if not row[variable]]
    return rest + [
        _reduced(tuple(-h[variable] * a + g[variable] * b for a, b in zip(g, h, strict=True)))
        for g in low
        for h in high
    ]


def _polytope(equal: list[Row], above: list[Row], keep: list[int]) -> Polytope:
    def part(rows, word):
        matrix = np.array([[row[v] for v in keep] for row in rows], dtype=object)
        sides = np.array([row[-1] for row in rows], dtype=np.int64)
        names = [f"implied {word} {number}" for number in range(len(rows))]
        return Invariants(matrix.reshape(len(rows), len(keep)), names), sides

    return Polytope(*part(equal, "equality"), *part(above, "bound"))
