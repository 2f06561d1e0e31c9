"""The five papers' systems on one table: what each releases, protects and gets wrong.

A table has areas (rows) and cells (columns); areas lie in regions, and the total of each region is
held by every system. What a system holds besides, it says. Budgets are compared within one flavour
and one unit alone; `isdp.compare.systems` gives every system's own. `compare` answers for a table
and totals that somebody has.

The names load when they are first used, with what each needs: compiled code is slow to load.
"""

from isdp.loading import when_first_used

_HOMES = {
    "Areas": "isdp.compare.areas",
    "Comparison": "isdp.compare.run",
    "ConditionedNoise": "isdp.compare.systems",
    "IntegerGaussian": "isdp.compare.systems",
    "IntegerLaplace": "isdp.compare.systems",
    "KNormNoise": "isdp.compare.systems",
    "ProjectedGaussianNoise": "isdp.compare.systems",
    "ProjectedLaplaceNoise": "isdp.compare.systems",
    "Share": "isdp.compare.measures",
    "Swapping": "isdp.compare.systems",
    "System": "isdp.compare.systems",
    "TopDown": "isdp.compare.systems",
    "compare": "isdp.compare.run",
    "errors_by_size": "isdp.compare.measures",
    "share_errors": "isdp.compare.measures",
    "summary": "isdp.compare.measures",
}
__all__ = [*_HOMES]
__getattr__, __dir__ = when_first_used(__name__, _HOMES)
