"""Permutation swapping: the mechanism of three censuses, made exact.

After J. Bailie, R. Gong and X.-L. Meng, *Can Swapping be Differentially Private?* (slides, 2023),
"the slides" in the docstrings. `swap` and `swap_table` are for experiments, `swap_for_release`
draws in whole numbers from the operating system's randomness. Losses are in nats for each unit of
d_HAM, half the records that two datasets do not share; datasets with equal invariants differ by 2
units at least.

The names load when they are first used, with what each needs: compiled code is slow to load.
"""

from isdp.loading import when_first_used

_HOMES = {
    "Loss": "isdp.swapping.universe",
    "Rate": "isdp.swapping.budget",
    "Strata": "isdp.swapping.permutation",
    "epsilon_at": "isdp.swapping.profile",
    "epsilon_bound": "isdp.swapping.budget",
    "expected_table": "isdp.swapping.moments",
    "guarantee": "isdp.swapping.budget",
    "invariants": "isdp.swapping.permutation",
    "rates_for": "isdp.swapping.budget",
    "smallest_epsilon": "isdp.swapping.budget",
    "smallest_worst_loss": "isdp.swapping.loss",
    "swap": "isdp.swapping.permutation",
    "swap_for_release": "isdp.swapping.secure",
    "swap_table": "isdp.swapping.permutation",
    "universe_loss": "isdp.swapping.universe",
    "universe_lower_bound": "isdp.swapping.universe",
    "unmix": "isdp.swapping.moments",
    "worst_loss": "isdp.swapping.loss",
}
__all__ = [*_HOMES]
__getattr__, __dir__ = when_first_used(__name__, _HOMES)
