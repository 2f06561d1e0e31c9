"""Permutation swapping: the mechanism of three censuses, made exact.

After J. Bailie, R. Gong and X.-L. Meng, *Can Swapping be Differentially Private?* (slides, 2023),
"the slides" in the docstrings. `swap` and `swap_table` are for experiments;
`permutation_for_release` draws in whole numbers from the operating system's randomness. Losses are
in nats for each unit of d_HAM, half the records that two datasets do not share; datasets with equal
invariants differ by 2 units at least. Every function raises `InputError` for a size, a rate, totals
or counts that are out of range.
"""

from isdp.swapping.budget import Rate, epsilon_bound, guarantee, rates_for, smallest_epsilon
from isdp.swapping.loss import smallest_worst_loss, worst_loss
from isdp.swapping.moments import expected_table, unmix
from isdp.swapping.permutation import Strata, invariants, swap, swap_table
from isdp.swapping.profile import epsilon_at
from isdp.swapping.secure import permutation_for_release
from isdp.swapping.universe import Loss, universe_loss, universe_lower_bound

__all__ = [
    "Loss",
    "Rate",
    "Strata",
    "epsilon_at",
    "epsilon_bound",
    "expected_table",
    "guarantee",
    "invariants",
    "permutation_for_release",
    "rates_for",
    "smallest_epsilon",
    "smallest_worst_loss",
    "swap",
    "swap_table",
    "universe_loss",
    "universe_lower_bound",
    "unmix",
    "worst_loss",
]
