"""Permutation swapping: the mechanism of three censuses, made exact.

After J. Bailie, R. Gong and X.-L. Meng, *Can Swapping be Differentially Private?* (slides, 2023),
"the slides" in the docstrings. `swap` and `swap_table` are for experiments;
`permutation_for_release` draws in whole numbers from the operating system's randomness. Losses are
in nats for each unit of d_HAM, half the records that two datasets do not share; datasets with equal
invariants differ by 2 units at least. Every function raises `InputError` for a size, a rate, totals
or counts that are out of range.
"""

from isdp.swapping.accuracy import debias_table, expected_table
from isdp.swapping.mechanism.exact_permutation import permutation_for_release
from isdp.swapping.mechanism.permutation import Strata, invariants, swap, swap_table
from isdp.swapping.privacy.bound import (
    Rate,
    epsilon_bound,
    guarantee,
    min_epsilon,
    rates_with_epsilon,
)
from isdp.swapping.privacy.worst_case import min_worst_case_loss, worst_case_loss

__all__ = [
    "Rate",
    "Strata",
    "debias_table",
    "epsilon_bound",
    "expected_table",
    "guarantee",
    "invariants",
    "min_epsilon",
    "min_worst_case_loss",
    "permutation_for_release",
    "rates_with_epsilon",
    "swap",
    "swap_table",
    "worst_case_loss",
]
