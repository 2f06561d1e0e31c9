"""TopDown: noisy measurements level by level, estimated, rounded and split among the children.

The names follow the slides on the Census TopDown algorithm, "TDA" in the docstrings. Everything
after the measurements is post-processing: floating point and pseudo-random ties there harm no
guarantee. The noise that `run` draws by default is floating point too, and is for experiments;
`noise=draw_noise_for_release` is exact.

The names load when they are first used, with what each needs.
"""

from isdp.loading import when_first_used

_HOMES = {
    "Budget": "isdp.topdown.budget",
    "Hierarchy": "isdp.constraints.hierarchy",
    "Plan": "isdp.topdown.plan",
    "Release": "isdp.topdown.descent",
    "Schema": "isdp.topdown.budget",
    "draw_noise_for_release": "isdp.topdown.noise",
    "run": "isdp.topdown.descent",
}
__all__ = [*_HOMES]
__getattr__, __dir__ = when_first_used(__name__, _HOMES)
