"""Linear invariants of a table, and inequalities."""

from isdp.constraints.invariants import Invariants
from isdp.constraints.polytope import Polytope

__all__ = ["Invariants", "Polytope"]
