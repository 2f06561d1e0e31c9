"""Exact laws and exact draws: no Markov chain, no convergence error.

`sample` picks the perfect sampler that fits and `choose` says which and why; `release` draws in
exact arithmetic from the operating system's randomness; `total_law` and `enumerate_law` are laws to
judge samplers by.

The names load when they are first used, with what each needs: compiled code is slow to load.
"""

from isdp.loading import when_first_used

_HOMES = {
    "EnumeratedLaw": "isdp.exact.laws",
    "ExactSampler": "isdp.exact.choice",
    "TotalLaw": "isdp.exact.laws",
    "choose": "isdp.exact.choice",
    "enumerate_law": "isdp.exact.laws",
    "release": "isdp.exact.secure",
    "sample": "isdp.exact.choice",
    "total_law": "isdp.exact.laws",
}
__all__ = [*_HOMES]
__getattr__, __dir__ = when_first_used(__name__, _HOMES)
