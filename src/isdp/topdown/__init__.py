"""The TopDown algorithm, which measures, estimates and rounds a table at each level of a hierarchy.

The names follow the slides *The TopDown algorithm and invariants* (TDA). All steps after the
measurements are post-processing, so floating-point arithmetic and pseudo-random tie-breaking do not
affect the guarantee. By default, `run` draws noise in floating point, for experiments. With
`noise=draw_noise_for_release` the noise is exact.
"""

from isdp.constraints.hierarchy import Hierarchy
from isdp.topdown.budget import Budget, Schema
from isdp.topdown.descent import Release, run
from isdp.topdown.measurement_noise import draw_noise_for_release
from isdp.topdown.run_plan import Plan

__all__ = [
    "Budget",
    "Hierarchy",
    "Plan",
    "Release",
    "Schema",
    "draw_noise_for_release",
    "run",
]
