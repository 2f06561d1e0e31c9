"""The systems of the five papers for the release of a table, with a common interface.

A table has areas (rows) and cells (columns). Each area is in a region, and every system releases
the total of each region without error. Some systems release more totals without error, which
`System.held` names. Compare only budgets of the same flavour and privacy unit.
`isdp.commands.compare` compares the systems on a user's table.
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
