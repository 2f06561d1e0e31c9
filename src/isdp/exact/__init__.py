"""Exact laws and exact draws: no Markov chain, no convergence error.

`select_sampler` says which perfect sampler fits and why; `sample` draws by it; `release` draws in
exact arithmetic from the operating system's randomness; `total_law` and `enumerate_law` are laws to
judge samplers by.
"""

from isdp.exact.distributions import TotalLaw, total_law
from isdp.exact.enumeration import EnumeratedLaw, enumerate_law
from isdp.exact.release_noise import release
from isdp.exact.selection import ExactSampler, sample, select_sampler

__all__ = [
    "EnumeratedLaw",
    "ExactSampler",
    "TotalLaw",
    "enumerate_law",
    "release",
    "sample",
    "select_sampler",
    "total_law",
]
