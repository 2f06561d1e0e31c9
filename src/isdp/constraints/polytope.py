"""Polytopes of tables that satisfy linear equalities and inequalities.

The definition is from Gong and Meng (2020), *Congenial Differential Privacy under Mandated
Disclosure*, Section 2.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import eye_array

from isdp.checks import INT64_MAX, check_integer_array
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError

MAX_BOUND = INT64_MAX // 4
TIME_LIMIT = 60  # time limit of a search for a point in seconds


@dataclass(frozen=True, eq=False)
class Polytope:
    """The integer tables s with A s = a and B s >= b.

    Parameters
    ----------
    equalities : Invariants
        The matrix A with names for its rows.
    totals : int array, shape (equalities,)
        The vector a.
    inequalities : Invariants
        The matrix B with names for its rows. The matrix may have no rows.
    lower_bounds : int array, shape (inequalities,)
        The vector b.

    Raises
    ------
    InputError
        If the matrices have different numbers of cells, or a vector has the wrong shape or type.
    """

    equalities: Invariants
    totals: NDArray[np.int64]
    inequalities: Invariants
    lower_bounds: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.equalities.cells != self.inequalities.cells:
            raise InputError(
                f"polytope: the equalities have {self.equalities.cells} cells and the inequalities "
                f"have {self.inequalities.cells}. Give both the same cells"
            )
        for name, side, matrix in (
            ("totals", self.totals, self.equalities),
            ("lower_bounds", self.lower_bounds, self.inequalities),
        ):
            shape = (matrix.constraints,)
            side = check_integer_array(f"polytope: {name}", side, shape, -MAX_BOUND, MAX_BOUND)
            side.setflags(write=False)
            object.__setattr__(self, name, side)

    @classmethod
    def nonnegative(cls, equalities: Invariants, totals: ArrayLike) -> Polytope:
        """Return the polytope of tables s with A s = a and no negative cell."""
        cells = equalities.cells
        rows = Invariants(
            eye_array(cells, dtype=np.int64, format="csr"),
            [f"cell {i} is not negative" for i in range(cells)],
        )
        return cls(equalities, np.asarray(totals), rows, np.zeros(cells, dtype=np.int64))

    @classmethod
    def of_counts(cls, equalities: Invariants, counts: ArrayLike) -> Polytope:
        """Return the polytope of nonnegative tables with the same totals as `counts`."""
        return cls.nonnegative(equalities, equalities.apply(counts))

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.equalities.cells

    def around(self, centre: ArrayLike) -> Polytope:
        """Return the polytope of noise u for which ``centre + u`` lies in this polytope.

        The centre, such as a confidential table, has shape (cells,).
        """
        return Polytope(
            self.equalities,
            self.totals - self.equalities.apply(centre),
            self.inequalities,
            self.lower_bounds - self.inequalities.apply(centre),
        )

    def slack(self, table: ArrayLike) -> NDArray[np.int64]:
        """Return B s - b for one table s, an int64 array of shape (inequalities,)."""
        slack: NDArray[np.int64] = self.inequalities.apply(table) - self.lower_bounds
        return slack

    def contains(self, tables: ArrayLike) -> NDArray[np.bool_]:
        """Return a bool array (...) that marks the contained tables of an array (..., cells)."""
        equal = (self.equalities.apply(tables) == self.totals).all(axis=-1)
        above = (self.inequalities.apply(tables) >= self.lower_bounds).all(axis=-1)
        return np.asarray(np.logical_and(equal, above))

    def check(self, tables: ArrayLike) -> None:
        """Raise `InputError` unless the polytope contains every table of an array (..., cells).

        The test is exact. The message names the first table that fails and its constraint.
        """
        for names, violated in (
            (self.equalities.names, self.equalities.apply(tables) != self.totals),
            (self.inequalities.names, self.inequalities.apply(tables) < self.lower_bounds),
        ):
            if violated.any():
                *table, row = (int(i) for i in np.argwhere(violated)[0])
                raise InputError(
                    f"polytope: table {tuple(table)} violates {names[row]!r}. Correct the table or "
                    f"the constraint"
                )

    def feasible_table(self) -> NDArray[np.int64]:
        """Find a table in the polytope by integer programming (HiGHS).

        Raise `InputError` if no table is found within a minute.
        """
        rows = self.equalities.constraints + self.inequalities.constraints
        found = find_point(self, np.ones(rows, dtype=bool), integer=True)
        if found.x is None:
            raise InputError(
                f"polytope: no table satisfies all constraints ({found.message.strip()}). "
                f"Check the totals and the bounds"
            )
        table: NDArray[np.int64] = np.round(found.x).astype(np.int64)
        self.check(table)
        return table


def find_point(
    polytope: Polytope, kept: NDArray[np.bool_], *, integer: bool
) -> scipy.optimize.OptimizeResult:
    """Find a point that satisfies the constraints that `kept` marks (HiGHS), in at most a minute.

    The equalities come before the inequalities. The point may contain fractions unless `integer`.
    """
    kept_equalities, kept_inequalities = np.split(kept, [polytope.equalities.constraints])
    infinite = np.full(polytope.inequalities.constraints, np.inf)
    parts = (
        (polytope.equalities, polytope.totals, polytope.totals, kept_equalities),
        (polytope.inequalities, polytope.lower_bounds, infinite, kept_inequalities),
    )
    return scipy.optimize.milp(
        np.zeros(polytope.cells),
        constraints=[
            scipy.optimize.LinearConstraint(
                matrix.sparse[np.flatnonzero(rows)].astype(float), low[rows], high[rows]
            )
            for matrix, low, high, rows in parts
            if rows.any()
        ],
        integrality=np.full(polytope.cells, integer),
        bounds=scipy.optimize.Bounds(-np.inf, np.inf),
        options={"time_limit": TIME_LIMIT},
    )
