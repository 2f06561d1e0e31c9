"""Noise distributions on the lattice and their privacy guarantees."""

from isdp.mechanisms.base import Energy, Mechanism
from isdp.mechanisms.crossing import CrossingGaussian
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.mechanisms.generalized_laplace import (
    GeneralizedLaplace,
    double_geometric_noise,
    double_geometric_pmf,
)
from isdp.mechanisms.nested import NestedGaussian, NestedLaplace
from isdp.mechanisms.set_tree import SetTree

__all__ = [
    "CrossingGaussian",
    "Energy",
    "GeneralizedGaussian",
    "GeneralizedLaplace",
    "Mechanism",
    "NestedGaussian",
    "NestedLaplace",
    "SetTree",
    "double_geometric_noise",
    "double_geometric_pmf",
]
