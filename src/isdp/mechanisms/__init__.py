"""Noise distributions on the lattice and their privacy guarantees."""

from isdp.mechanisms.base import Energy, Mechanism
from isdp.mechanisms.crossing import CrossingGaussian
from isdp.mechanisms.crossing_budget import (
    crossing_frontier,
    split_crossing_by_errors,
    split_crossing_by_weights,
)
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.mechanisms.generalized_laplace import (
    GeneralizedLaplace,
    double_geometric_noise,
    double_geometric_pmf,
)
from isdp.mechanisms.laplace_budget import (
    laplace_frontier,
    split_laplace_by_errors,
    split_laplace_by_weights,
)
from isdp.mechanisms.nested import NestedGaussian, NestedLaplace
from isdp.mechanisms.nested_budget import (
    nested_frontier,
    split_nested_by_errors,
    split_nested_by_weights,
)
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
    "crossing_frontier",
    "double_geometric_noise",
    "double_geometric_pmf",
    "laplace_frontier",
    "nested_frontier",
    "split_crossing_by_errors",
    "split_crossing_by_weights",
    "split_laplace_by_errors",
    "split_laplace_by_weights",
    "split_nested_by_errors",
    "split_nested_by_weights",
]
