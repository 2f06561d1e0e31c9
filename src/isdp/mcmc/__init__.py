"""Markov chains on the lattice, for experiments, and couplings that bound their error."""

from isdp.mcmc.coupling import MeetingTimes, choose_lag, meeting_times, time_to_bound, tv_bound
from isdp.mcmc.independence import IndependenceSampler
from isdp.mcmc.metropolis import LatticeWalk, run_chains, sample
from isdp.mcmc.paired_coupling import paired_meeting_times
from isdp.mcmc.paired_diagnosis import Diagnosis, diagnose, diagnosis_of
from isdp.mcmc.paired_rows import PairedRows

__all__ = [
    "Diagnosis",
    "IndependenceSampler",
    "LatticeWalk",
    "MeetingTimes",
    "PairedRows",
    "choose_lag",
    "diagnose",
    "diagnosis_of",
    "meeting_times",
    "paired_meeting_times",
    "run_chains",
    "sample",
    "time_to_bound",
    "tv_bound",
]
