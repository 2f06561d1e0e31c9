"""The systems of the five papers, which release one table under a common interface.

A table has areas (rows) and cells (columns). Areas are in regions, and every system holds the total
of each region. Some systems hold more totals, which `System.held` names. Compare only budgets of
the same flavour and privacy unit. `isdp.commands.compare` compares the systems on a user's table.
"""

from isdp.compare.areas import Areas
from isdp.compare.systems import (
    ConditionedNoise,
    IntegerGaussian,
    IntegerLaplace,
    KNormNoise,
    ProjectedGaussianNoise,
    ProjectedLaplaceNoise,
    Swapping,
    System,
    TopDown,
)

__all__ = [
    "Areas",
    "ConditionedNoise",
    "IntegerGaussian",
    "IntegerLaplace",
    "KNormNoise",
    "ProjectedGaussianNoise",
    "ProjectedLaplaceNoise",
    "Swapping",
    "System",
    "TopDown",
]
