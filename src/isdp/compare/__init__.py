"""The systems of the five papers on one table: release, privacy guarantee and errors.

A table has areas (rows) and cells (columns). Areas are in regions, and every system holds the total
of each region. Some systems hold more totals, which `System.held` names. Compare budgets only
within one flavour and one privacy unit. `isdp.commands.compare` compares the systems on a table and
totals of a user.
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
