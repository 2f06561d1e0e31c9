"""The integer vectors that invariants leave free, and exact linear algebra on them."""

from isdp.lattice.null_lattice import KernelLattice, degrees_of_freedom, kernel_lattice
from isdp.lattice.smith import SmithForm, smith_normal_form

__all__ = [
    "KernelLattice",
    "SmithForm",
    "degrees_of_freedom",
    "kernel_lattice",
    "smith_normal_form",
]
