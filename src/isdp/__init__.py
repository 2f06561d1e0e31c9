"""Integer noise that keeps mandated totals exact, with its diagnostics and its evidence.

The names follow *Integer Subspace Differential Privacy* (Dharangutte, Gao, Gong, Yu; AAAI 2023,
arXiv 2212.00936), "ISDP" in the docstrings. For the release of confidential data there is
`isdp.exact.release`; all other samplers use floating point and a pseudo-random generator, and are
for experiments.
"""

from isdp.errors import InputError
from isdp.invariants import Invariants
from isdp.mechanisms import DoubleGeometric, GeneralizedGaussian, GeneralizedLaplace

__all__ = [
    "DoubleGeometric",
    "GeneralizedGaussian",
    "GeneralizedLaplace",
    "InputError",
    "Invariants",
]
