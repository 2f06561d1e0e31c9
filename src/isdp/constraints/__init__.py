"""Linear equalities and inequalities of tables."""

from isdp.constraints.invariants import Invariants
from isdp.constraints.polytope import Polytope

__all__ = ["Invariants", "Polytope"]
