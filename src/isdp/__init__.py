"""Integer noise that keeps mandated totals exact, with its diagnostics and its evidence.

The names follow *Integer Subspace Differential Privacy* (Dharangutte, Gao, Gong, Yu; AAAI 2023,
arXiv 2212.00936), "ISDP" in the docstrings. For the release of confidential data there is
`isdp.exact.release`; all other samplers use floating point and a pseudo-random generator, and are
for experiments.

Sub-packages and the names below load when they are first used, so that `import isdp` is cheap.
"""

from isdp.loading import when_first_used

__version__ = "0.2.0"
_HOMES = {
    "GeneralizedGaussian": "isdp.mechanisms",
    "GeneralizedLaplace": "isdp.mechanisms",
    "InputError": "isdp.errors",
    "Invariants": "isdp.constraints",
    "Polytope": "isdp.constraints",
}
_PACKAGES = (
    "accounting",
    "compare",
    "constraints",
    "diagnostics",
    "exact",
    "io",
    "lattice",
    "mcmc",
    "mechanisms",
    "plots",
    "postprocess",
    "privatize",
    "subspace",
    "swapping",
    "topdown",
)
__all__ = [*_HOMES, *_PACKAGES]
__getattr__, __dir__ = when_first_used(__name__, _HOMES, _PACKAGES)
