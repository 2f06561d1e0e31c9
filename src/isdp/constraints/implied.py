"""Projection of a polytope onto some variables by exact Fourier-Motzkin elimination.

The elimination is exact over the rationals, in Python's integers. A point of the kept variables
meets the implied constraints if and only if real values of the other variables exist. Whole values
need not exist; `isdp.constraints.presence` treats a family where they always do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy

from isdp.constraints.invariants import Invariants
from isdp.constraints.polytope import Polytope
from isdp.errors import InputError

Row = tuple[int, ...]  # coefficients, and last the bound: coefficients . x >= bound
TOLERANCE = 1e-7


@dataclass(frozen=True, eq=False)
class ImpliedConstraints:
    """Constraints that are implied for the kept variables.

    Attributes
    ----------
    polytope : Polytope
        On the kept variables, in the order they were named.
    peak : int
        Maximum number of inequalities during the elimination.
    """

    polytope: Polytope
    peak: int


def implied_constraints(
    polytope: Polytope, keep: Iterable[int], most: int = 20_000
) -> ImpliedConstraints:
    """Eliminate all variables but some (TDA, "Implied Constraints").

    An equality that holds a variable replaces it; otherwise each inequality that bounds it from
    below is added to each that bounds it from above. The variable that makes the fewest new
    inequalities goes first. Equal and weaker inequalities are dropped after each step.

    Parameters
    ----------
    keep : iterable of int
        Variables (cells of the polytope) that stay.
    most : int
        Maximum number of inequalities, which may grow doubly exponentially.

    Raises
    ------
    InputError
        If the constraints contradict each other, or there are more than `most` of them.
    """
    keep = [int(variable) for variable in keep]
    if len(set(keep)) != len(keep) or not set(keep) <= set(range(polytope.cells)):
        raise InputError(f"implied constraints: {keep} are not distinct among {polytope.cells}")
    equal = _rows(polytope.equalities, polytope.totals)
    above = _strongest(_rows(polytope.inequalities, polytope.least))
    peak = len(above)
    left = set(range(polytope.cells)) - set(keep)
    while left:
        pivot, variable = _cheapest(equal, above, left)
        left.remove(variable)
        if pivot is not None:
            equal = [_replace(row, pivot, variable) for row in equal if row is not pivot]
            above = [_replace(row, pivot, variable) for row in above]
        else:
            above = _combine(above, variable)
        equal = _meaningful(equal)
        above = _strongest(above)
        peak = max(peak, len(above))
        if peak > most:
            raise InputError(
                f"implied constraints: more than {most} inequalities with {len(left)} variables "
                f"still to go; split the problem, or use bounds on subsets (presence)"
            )
    return ImpliedConstraints(_polytope(equal, above, keep), peak)


def irredundant(polytope: Polytope) -> Polytope:
    """Drop the inequalities that the others imply, one after the other.

    What is left describes the same points, and is not unique where there are equalities: compare
    sets of points, never lists of rows.
    """
    rows = polytope.inequalities.matrix.astype(float)
    equalities = polytope.equalities.matrix.astype(float)
    stays = np.ones(len(rows), dtype=bool)
    for row in range(len(rows)):
        stays[row] = False
        least = scipy.optimize.linprog(
            rows[row],
            A_ub=-rows[stays] if stays.any() else None,
            b_ub=-polytope.least[stays] if stays.any() else None,
            A_eq=equalities if len(equalities) else None,
            b_eq=polytope.totals if len(equalities) else None,
            bounds=(None, None),
        )
        stays[row] = least.status != 0 or least.fun < polytope.least[row] - TOLERANCE
    names = [name for name, kept in zip(polytope.inequalities.names, stays, strict=True) if kept]
    kept = Invariants(polytope.inequalities.sparse[np.flatnonzero(stays)], names)
    return Polytope(polytope.equalities, polytope.totals, kept, polytope.least[stays])


def _rows(matrix: Invariants, sides) -> list[Row]:
    dense = matrix.matrix.tolist()
    return [_reduced((*row, int(side))) for row, side in zip(dense, sides, strict=True)]


def _reduced(row: Row) -> Row:
    divisor = math.gcd(*row)
    return tuple(entry // divisor for entry in row) if divisor > 1 else row


def _meaningful(equal: list[Row]) -> list[Row]:
    """Drop 0 = 0 and repetitions; refuse 0 = 1."""
    for row in equal:
        if not any(row[:-1]) and row[-1]:
            raise InputError("implied constraints: the equalities contradict each other")
    return list(dict.fromkeys(row for row in equal if any(row[:-1])))


def _strongest(above: list[Row]) -> list[Row]:
    """Keep, of inequalities in one direction, the one that asks for most.

    Two rows have one direction if their coefficients agree once divided by their common divisor;
    bounds are compared as fractions, by multiplying across.
    """
    best: dict[Row, tuple[int, int]] = {}
    for row in above:
        *coefficients, bound = row
        divisor = math.gcd(*coefficients)
        if not divisor:
            if bound > 0:
                raise InputError("implied constraints: the constraints contradict each other")
            continue
        direction = tuple(entry // divisor for entry in coefficients)
        other = best.get(direction)
        if other is None or bound * other[1] > other[0] * divisor:
            best[direction] = (bound, divisor)
    return [
        _reduced((*(entry * divisor for entry in direction), bound))
        for direction, (bound, divisor) in best.items()
    ]


def _cheapest(equal: list[Row], above: list[Row], left: set[int]) -> tuple[Row | None, int]:
    """Choose an equality and its variable, or else the variable with the fewest combinations."""
    for row in equal:
        for variable in sorted(left):
            if row[variable]:
                return row, variable

    def grown(variable):
        low = sum(row[variable] > 0 for row in above)
        high = sum(row[variable] < 0 for row in above)
        return low * high - low - high

    return None, min(sorted(left), key=grown)


def _replace(row: Row, pivot: Row, variable: int) -> Row:
    """Add the multiple of an equality that takes the variable out; the row's sense is kept."""
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
