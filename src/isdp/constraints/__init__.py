"""Linear equalities and inequalities of tables."""

from isdp.constraints.intervals import CellIntervals, cell_intervals
from isdp.constraints.invariants import Invariants
from isdp.constraints.polytope import Polytope

__all__ = ["CellIntervals", "Invariants", "Polytope", "cell_intervals"]
