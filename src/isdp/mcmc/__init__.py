"""Markov chains on the lattice, for experiments, and couplings that bound their error.

Every function raises `InputError` for settings that are out of range.
"""

from isdp.mcmc.coupling import MeetingTimes, choose_lag, meeting_times, time_to_bound, tv_bound
from isdp.mcmc.independence_sampler import IndependenceSampler
from isdp.mcmc.metropolis import LatticeWalk, run_chains, sample

__all__ = [
    "IndependenceSampler",
    "LatticeWalk",
    "MeetingTimes",
    "choose_lag",
    "meeting_times",
    "run_chains",
    "sample",
    "time_to_bound",
    "tv_bound",
]
