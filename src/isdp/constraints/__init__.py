"""What must stay exact: linear invariants, and inequalities beside them."""

from isdp.constraints.invariants import Invariants
from isdp.constraints.polytope import Polytope

__all__ = ["Invariants", "Polytope"]
