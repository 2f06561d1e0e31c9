"""Integer noise that keeps given totals of a table exact.

The names follow *Integer Subspace Differential Privacy* (Dharangutte, Gao, Gong, Yu; AAAI 2023,
arXiv 2212.00936), which the docstrings cite as ISDP. `privatize` adds noise to a table of counts
for release. `draw_noise` draws noise from a seeded generator or from the operating system.
"""

__version__ = "0.3.0"

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
    testing,
    topdown,
)
from isdp.accounting import PrivacyGuarantee
from isdp.commands.privatize.dataframe import privatize_frame as privatize
from isdp.commands.shared.noise_levels import NoiseLevels
from isdp.commands.shared.request import NoiseRequest
from isdp.constraints import Invariants, Polytope
from isdp.errors import InputError
from isdp.exact import draw_noise
from isdp.mechanisms import (
    CrossingGaussian,
    GeneralizedGaussian,
    GeneralizedLaplace,
    NestedGaussian,
    NestedLaplace,
    SetTree,
)
from isdp.removed_names import refuse_removed_names
from isdp.streams import SYSTEM_RANDOMNESS

__all__ = [
    "SYSTEM_RANDOMNESS",
    "CrossingGaussian",
    "GeneralizedGaussian",
    "GeneralizedLaplace",
    "InputError",
    "Invariants",
    "NestedGaussian",
    "NestedLaplace",
    "NoiseLevels",
    "NoiseRequest",
    "Polytope",
    "PrivacyGuarantee",
    "SetTree",
    "accounting",
    "commands",
    "compare",
    "constraints",
    "diagnostics",
    "draw_noise",
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
    "testing",
    "topdown",
]

refuse_removed_names()
