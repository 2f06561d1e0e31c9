"""Exact laws and exact draws: no Markov chain, no convergence error.

`sample` picks the perfect sampler that fits and `choose` says which and why; `release` draws in
exact arithmetic from the operating system's randomness; `total_law` and `enumerate_law` are laws to
judge samplers by.
"""

from isdp.exact.distributions import TotalLaw, total_law
from isdp.exact.enumeration import EnumeratedLaw, enumerate_law
from isdp.exact.release_noise import release
from isdp.exact.selection import ExactSampler, choose, sample

__all__ = [
    "EnumeratedLaw",
    "ExactSampler",
    "TotalLaw",
    "choose",
    "enumerate_law",
    "release",
    "sample",
    "total_law",
]
