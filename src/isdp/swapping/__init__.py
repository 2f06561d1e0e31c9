"""Permutation swapping: the mechanism of three censuses, made exact.

After J. Bailie, R. Gong and X.-L. Meng, *Can Swapping be Differentially Private?* (slides, 2023),
"the slides" in the docstrings. `swap` and `swap_table` are for experiments;
`permutation_for_release` draws in whole numbers from the operating system's randomness. Losses are
in nats for each unit of d_HAM, half the records that two datasets do not share; datasets with equal
invariants differ by 2 units at least. Every function raises `InputError` for a size, a rate, totals
or counts that are out of range.
"""

from isdp.swapping.accuracy import expected_table, unmix
from isdp.swapping.mechanism.exact_permutation import permutation_for_release
from isdp.swapping.mechanism.permutation import Strata, invariants, swap, swap_table
from isdp.swapping.privacy.bound import Rate, epsilon_bound, guarantee, rates_for, smallest_epsilon
from isdp.swapping.privacy.worst_case import smallest_worst_loss, worst_loss

__all__ = [
    "Rate",
    "Strata",
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
    "unmix",
    "worst_loss",
]
