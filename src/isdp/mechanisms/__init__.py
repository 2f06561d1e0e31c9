"""Noise laws on the lattice, and what they guarantee."""

from isdp.mechanisms.base import Mechanism
from isdp.mechanisms.gaussian import GeneralizedGaussian
from isdp.mechanisms.laplace import DoubleGeometric, GeneralizedLaplace, double_geometric_noise

__all__ = [
    "DoubleGeometric",
    "GeneralizedGaussian",
    "GeneralizedLaplace",
    "Mechanism",
    "double_geometric_noise",
]
