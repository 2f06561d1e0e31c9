"""Integer noise that keeps mandated totals exact, with its diagnostics and its evidence.

The names follow *Integer Subspace Differential Privacy* (Dharangutte, Gao, Gong, Yu; AAAI 2023,
arXiv 2212.00936), "ISDP" in the docstrings. For the release of confidential data there is
`isdp.exact.release`; all else takes a pseudo-random generator, and is for experiments.
"""

__version__ = "0.2.0"

from isdp import (
    accounting,
    commands,
    compare,
    constraints,
    diagnostics,
    exact,
    io,
    lattice,
    mcmc,
    mechanisms,
    plots,
    postprocess,
    subspace,
    swapping,
    topdown,
)
from isdp.constraints import Invariants, Polytope
from isdp.errors import InputError
from isdp.mechanisms import GeneralizedGaussian, GeneralizedLaplace

__all__ = [
    "GeneralizedGaussian",
    "GeneralizedLaplace",
    "InputError",
    "Invariants",
    "Polytope",
    "accounting",
    "commands",
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
    "subspace",
    "swapping",
    "topdown",
]
