"""Markov chains on the lattice, for experiments, and couplings that bound their error.

The names load when they are first used, with what each needs: compiled code is slow to load.
"""

from isdp.loading import when_first_used

_HOMES = {
    "Diagnosis": "isdp.mcmc.paired_diagnosis",
    "IndependenceSampler": "isdp.mcmc.independence",
    "LatticeWalk": "isdp.mcmc.metropolis",
    "MeetingTimes": "isdp.mcmc.coupling",
    "PairedRows": "isdp.mcmc.paired_rows",
    "choose_lag": "isdp.mcmc.coupling",
    "diagnose": "isdp.mcmc.paired_diagnosis",
    "diagnosis_of": "isdp.mcmc.paired_diagnosis",
    "meeting_times": "isdp.mcmc.coupling",
    "paired_meeting_times": "isdp.mcmc.paired_coupling",
    "run_chains": "isdp.mcmc.metropolis",
    "sample": "isdp.mcmc.metropolis",
    "time_to_bound": "isdp.mcmc.coupling",
    "tv_bound": "isdp.mcmc.coupling",
}
__all__ = [*_HOMES]
__getattr__, __dir__ = when_first_used(__name__, _HOMES)
