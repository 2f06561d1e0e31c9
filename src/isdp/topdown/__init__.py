"""TopDown: noisy measurements level by level, estimated, rounded and split among the children.

The names follow the slides on the Census TopDown algorithm, "TDA" in the docstrings. Everything
after the measurements is post-processing: floating point and pseudo-random ties there harm no
guarantee. The noise that `run` draws by default is floating point too, and is for experiments;
`noise=draw_noise_for_release` is exact.
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
