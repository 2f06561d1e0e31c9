"""Permutation swapping: the mechanism, its exact accuracy, and its privacy loss.

The package follows the slides *Can Swapping be Differentially Private?* (Bailie, Gong and Meng
2023). `swap` and `swap_table` are for experiments. `permutation_for_release` is exact and uses
random bits of the operating system. Losses are in nats per unit of d_HAM, which is half the number
of records that two datasets do not share. Different datasets with equal invariants are at least 2
units apart. Every function raises `InputError` for a size, a rate or counts that are out of range.
"""

from isdp.swapping.accuracy import debias_table, expected_table
from isdp.swapping.mechanism.exact_permutation import permutation_for_release
from isdp.swapping.mechanism.permutation import Strata, invariants, swap, swap_table
from isdp.swapping.privacy.bound import (
    Rate,
    epsilon_bound,
    guarantee_of,
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
    "guarantee_of",
    "invariants",
    "min_epsilon",
    "min_worst_case_loss",
    "permutation_for_release",
    "rates_with_epsilon",
    "swap",
    "swap_table",
    "worst_case_loss",
]
