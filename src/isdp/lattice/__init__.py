"""The lattice of integer noise under invariants, and exact linear algebra over the integers."""

from isdp.lattice.connected_totals import MoveDistance
from isdp.lattice.distances import farthest_move, move_distance, nearest_move
from isdp.lattice.null_lattice import KernelLattice, degrees_of_freedom, kernel_lattice
from isdp.lattice.smith import SmithForm, smith_normal_form

__all__ = [
    "KernelLattice",
    "MoveDistance",
    "SmithForm",
    "degrees_of_freedom",
    "farthest_move",
    "kernel_lattice",
    "move_distance",
    "nearest_move",
    "smith_normal_form",
]
