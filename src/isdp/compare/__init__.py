"""The five papers' systems on one table: what each releases, protects and gets wrong.

A table has areas (rows) and cells (columns); areas lie in regions, and the total of each region is
held by every system. What a system holds besides, it says. Budgets are compared within one flavour
and one unit alone; `isdp.compare.systems` gives every system's own. `compare` answers for a table
and totals that somebody has.
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
