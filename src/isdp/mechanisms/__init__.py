"""Noise distributions on the lattice and their privacy guarantees."""

from isdp.mechanisms.base import Energy, Mechanism
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.mechanisms.generalized_laplace import (
    GeneralizedLaplace,
    double_geometric_noise,
    double_geometric_pmf,
)

__all__ = [
    "Energy",
    "GeneralizedGaussian",
    "GeneralizedLaplace",
    "Mechanism",
    "double_geometric_noise",
    "double_geometric_pmf",
]
