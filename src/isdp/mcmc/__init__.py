"""Markov chains on the lattice for experiments, and couplings that bound their error.

The chains use pseudo-random numbers and floating point. Do not release their draws. Every function
raises `InputError` for an argument that is out of range.
"""

from isdp.mcmc.coupling import MeetingTimes, choose_lag, meeting_times, time_to_bound, tv_bound
from isdp.mcmc.independence_sampler import IndependenceSampler
from isdp.mcmc.metropolis import LatticeWalk, draw_chains, run_chains

__all__ = [
    "IndependenceSampler",
    "LatticeWalk",
    "MeetingTimes",
    "choose_lag",
    "draw_chains",
    "meeting_times",
    "run_chains",
    "time_to_bound",
    "tv_bound",
]
