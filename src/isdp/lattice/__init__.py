"""The lattice of integer noise under invariants, and exact linear algebra over the integers."""

from isdp.lattice.null_lattice import KernelLattice, degrees_of_freedom, kernel_lattice
from isdp.lattice.smith import SmithForm, smith_normal_form

__all__ = [
    "KernelLattice",
    "SmithForm",
    "degrees_of_freedom",
    "kernel_lattice",
    "smith_normal_form",
]
