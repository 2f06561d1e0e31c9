"""Exact laws and exact draws: no Markov chain, no convergence error.

`select_sampler` says which perfect sampler fits and why; `sample` draws by it; `release` draws in
exact arithmetic from the operating system's randomness; `total_distribution` and
`enumerate_distribution` are distributions to judge samplers by.
"""

from isdp.exact.distributions import TotalDistribution, total_distribution
from isdp.exact.enumeration import EnumeratedDistribution, enumerate_distribution
from isdp.exact.release_noise import release
from isdp.exact.selection import ExactSampler, sample, select_sampler

__all__ = [
    "EnumeratedDistribution",
    "ExactSampler",
    "TotalDistribution",
    "enumerate_distribution",
    "release",
    "sample",
    "select_sampler",
    "total_distribution",
]
