"""Draws of noise without a Markov chain, and exact distributions for comparison.

`draw_noise` draws with the sampler that `select_sampler` selects. `total_distribution` and
`enumerate_distribution` compute distributions with which samplers are compared. `sum_variances`
bounds the variances of sums of noise with terms for sets of cells. `NestedAccuracy` computes the
exact distributions of totals of nested noise.
"""

from isdp.exact.distributions import SumDistribution, TotalDistribution, total_distribution
from isdp.exact.enumeration import EnumeratedDistribution, enumerate_distribution
from isdp.exact.nested.accuracy import NestedAccuracy
from isdp.exact.nested.weighted_sums import sum_variances
from isdp.exact.release_noise import draw_noise
from isdp.exact.selection import ExactSampler, select_sampler

__all__ = [
    "EnumeratedDistribution",
    "ExactSampler",
    "NestedAccuracy",
    "SumDistribution",
    "TotalDistribution",
    "draw_noise",
    "enumerate_distribution",
    "select_sampler",
    "sum_variances",
    "total_distribution",
]
