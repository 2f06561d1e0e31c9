"""Tables that meet equalities and inequalities: A s = a and B s >= b (CDP, Section 2.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import eye_array

from isdp.checks import INT64_MAX, check_integer_vector
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError

TIME_LIMIT = 60  # seconds that the solver may look for a first table


@dataclass(frozen=True, eq=False)
class Polytope:
    """The integer tables s with A s = a and B s >= b.

    Parameters
    ----------
    equalities : Invariants
        A, with names for its rows.
    totals : int array, shape (equalities,)
        a.
    inequalities : Invariants
        B, with names for its rows. It may have no row.
    least : int array, shape (inequalities,)
        b.

    Raises
    ------
    InputError
        If the parts do not fit together or are not whole numbers.
    """

    equalities: Invariants
    totals: NDArray[np.int64]
    inequalities: Invariants
    least: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.equalities.cells != self.inequalities.cells:
            raise InputError(
                f"polytope: the equalities are on {self.equalities.cells} cells, the inequalities "
                f"on {self.inequalities.cells}; give both the same cells"
            )
        for name, side, matrix in (
            ("totals", self.totals, self.equalities),
            ("least", self.least, self.inequalities),
        ):
            side = check_integer_vector("polytope", name, side, matrix.constraints, INT64_MAX // 4)
            side.setflags(write=False)
            object.__setattr__(self, name, side)

    @classmethod
    def nonnegative(cls, equalities: Invariants, totals: ArrayLike) -> Polytope:
        """Tables of counts: A s = a, and no cell below zero."""
        cells = equalities.cells
        rows = Invariants(
            eye_array(cells, dtype=np.int64, format="csr"),
            [f"cell {i} is not negative" for i in range(cells)],
        )
        return cls(equalities, np.asarray(totals), rows, np.zeros(cells, dtype=np.int64))

    @classmethod
    def of_counts(cls, equalities: Invariants, counts: ArrayLike) -> Polytope:
        """Tables of counts with the same totals as a confidential table."""
        return cls.nonnegative(equalities, equalities.apply(counts))

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self.equalities.cells

    def around(self, centre: ArrayLike) -> Polytope:
        """Give the polytope of noise: all u for which `centre` + u lies in this one.

        Parameters
        ----------
        centre : int array, shape (cells,)
        """
        return Polytope(
            self.equalities,
            self.totals - self.equalities.apply(centre),
            self.inequalities,
            self.least - self.inequalities.apply(centre),
        )

    def slack(self, table: ArrayLike) -> NDArray[np.int64]:
        """B s - b of one table, int64 (inequalities,)."""
        slack: NDArray[np.int64] = self.inequalities.apply(table) - self.least
        return slack

    def contains(self, tables: ArrayLike) -> NDArray[np.bool_]:
        """Test for each table that it meets every condition, in exact integers.

        Parameters
        ----------
        tables : int array, shape (..., cells)

        Returns
        -------
        bool array, shape (...)
        """
        equal = (self.equalities.apply(tables) == self.totals).all(axis=-1)
        above = (self.inequalities.apply(tables) >= self.least).all(axis=-1)
        inside: NDArray[np.bool_] = np.logical_and(equal, above)
        return inside

    def check(self, tables: ArrayLike) -> None:
        """Raise unless every table meets every condition, in exact integers.

        Raises
        ------
        InputError
            Naming the first table and condition that is not met.
        """
        for values, wanted, names, sign, wrong in (
            (self.equalities.apply(tables), self.totals, self.equalities.names, "=", np.not_equal),
            (self.inequalities.apply(tables), self.least, self.inequalities.names, ">=", np.less),
        ):
            bad = wrong(values, wanted)
            if bad.any():
                *where, row = (int(i) for i in np.argwhere(bad)[0])
                raise InputError(
                    f"polytope: table {tuple(where)} breaks {names[row]!r}: it gives "
                    f"{values[(*where, row)]}, wanted {sign} {wanted[row]}"
                )

    def feasible_table(self) -> NDArray[np.int64]:
        """Find a table in the polytope by integer programming (HiGHS).

        Raises
        ------
        InputError
            If no table is found. The message names conditions that contradict each other, if the
            solver proves that fractions do not meet them either.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp  # slow to import, seldom needed

        a, b = (each.sparse.astype(float) for each in (self.equalities, self.inequalities))
        found = milp(
            np.zeros(self.cells),
            constraints=[
                LinearConstraint(a, self.totals, self.totals),
                LinearConstraint(b, self.least, np.inf),
            ],
            integrality=np.ones(self.cells),
            bounds=Bounds(-np.inf, np.inf),
            options={"time_limit": TIME_LIMIT},
        )
        if found.x is not None:
            table: NDArray[np.int64] = np.round(found.x).astype(np.int64)
            self.check(table)
            return table
        conflict = self.contradiction()
        if conflict:
            raise InputError(
                f"polytope: no table meets all conditions; these contradict each other: "
                f"{'; '.join(conflict)}"
            )
        raise InputError(
            f"polytope: fractions would meet all conditions, but no whole numbers were found "
            f"({found.message.strip()}); check the totals"
        )

    def contradiction(self) -> list[str]:
        """List conditions that contradict each other even for fractions; empty without such a set.

        All of them but any one can be met.
        """
        from isdp.constraints.contradictions import conflicting  # which needs this module

        sides = [*(f"= {a}" for a in self.totals), *(f">= {b}" for b in self.least)]
        names = [*self.equalities.names, *self.inequalities.names]
        return [f"{names[row]} ({sides[row]})" for row in conflicting(self)]
