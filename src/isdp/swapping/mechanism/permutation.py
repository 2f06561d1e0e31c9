"""Permutation swapping of records within strata (Bailie, Gong and Meng 2023).

In each stratum, every record is selected with probability p, the swap rate. A selection of exactly
one record is discarded, and the selection in this stratum is repeated. A uniform derangement then
permutes the values of the swapping variable of the selected records. Let d_m be the number of
derangements of m points. A permutation that moves m != 1 of the n records has the probability

    P(sigma) = p^m (1 - p)^(n - m) / (d_m (1 - n p (1 - p)^(n - 1))).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isdp.arrays import BoolArray, IntArray
from isdp.checks import check_integer_array, check_probability, is_number
from isdp.constraints import Invariants
from isdp.errors import InputError
from isdp.swapping.mechanism.derangements import BitStream, derange, pseudo_random_bits

BernoulliSource = Callable[[int], BoolArray]


@dataclass(frozen=True, eq=False)
class Strata:
    """Records grouped by stratum.

    Attributes
    ----------
    order : int64 array, shape (records,)
        Record numbers, sorted by stratum.
    starts : int64 array, shape (strata + 1,)
        The position in `order` at which each stratum starts. The last entry is the number of
        records.
    """

    order: IntArray
    starts: IntArray

    @classmethod
    def from_labels(cls, labels: ArrayLike) -> Strata:
        """Group records by their labels.

        The label of a record is the value of its swap key, an integer or a string. Raise
        `InputError` if there is no record, or the labels have another type.
        """
        labels = np.asarray(labels)
        if labels.ndim != 1 or labels.size == 0 or labels.dtype.kind not in "iubSU":
            raise InputError(
                f"swapping: labels must be one integer or string per record without missing "
                f"values, got {labels.dtype} of shape {labels.shape}"
            )
        order = np.argsort(labels, kind="stable")
        inner = labels[order]
        starts = np.concatenate([[0], np.flatnonzero(inner[1:] != inner[:-1]) + 1, [len(labels)]])
        return cls(order, starts)

    @classmethod
    def from_sizes(cls, sizes: ArrayLike) -> Strata:
        """Group consecutive records into strata of the given sizes, and drop empty strata."""
        sizes = np.asarray(sizes, dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes[sizes > 0])])
        return cls(np.arange(starts[-1]), starts)

    @property
    def sizes(self) -> IntArray:
        """Number of records in each stratum, as an int64 array of shape (strata,)."""
        return np.diff(self.starts)

    @property
    def max_size(self) -> int:
        """Number of records b of the largest stratum."""
        return int(self.sizes.max())


def check_rate(rate: object) -> float:
    """Check that a swap rate is strictly between 0 and 1, and return it as a float."""
    if is_number(rate) and rate == 0:
        raise InputError(
            "swapping: a swap rate of 0 does not change the records and gives no privacy. Use a "
            "rate between 0 and 1."
        )
    if is_number(rate) and rate == 1:
        raise InputError(
            "swapping: a swap rate of 1 moves every record, so no finite epsilon holds. Use a rate "
            "between 0 and 1."
        )
    return check_probability("swapping: the swap rate, a share of the records (5 % is 0.05),", rate)


def draw_permutation(rng: np.random.Generator, strata: Strata, rate: float) -> IntArray:
    """Draw the swapping permutation in floating point, for experiments.

    The result lists, for each record, the number of the record whose value it takes. A record that
    is not selected takes its own value.
    """
    rate = check_rate(rate)
    return permute(strata, _bernoulli(rng, rate), pseudo_random_bits(rng), exact=False)


def _bernoulli(rng: np.random.Generator, rate: float) -> BernoulliSource:
    return lambda count: rng.random(count) < rate


def permute(
    strata: Strata, bernoulli: BernoulliSource, bits: BitStream, *, exact: bool
) -> IntArray:
    """Select records and permute them by derangements.

    ``bernoulli(k)`` returns k Bernoulli draws of the swap rate, as a bool array. The argument
    `exact` is that of `isdp.swapping.mechanism.derangements.derange`. The function checks that the
    permutation keeps every record in its stratum.
    """
    moved, taken = _moves(strata, bernoulli, bits, exact=exact)
    sigma = np.arange(len(strata.order))
    sigma[moved] = taken
    check_permutation(strata, sigma)
    return sigma


def _moves(
    strata: Strata, bernoulli: BernoulliSource, bits: BitStream, *, exact: bool
) -> tuple[IntArray, IntArray]:
    """Draw the records that move, and for each of them the record whose value it takes."""
    selected, counts = _select(strata, bernoulli)
    moved = strata.order[np.flatnonzero(selected)]
    return moved, moved[derange(bits, counts[counts > 0], exact=exact)]


def _select(strata: Strata, bernoulli: BernoulliSource) -> tuple[BoolArray, IntArray]:
    """Select records, in the order of the strata, and count them in each stratum."""
    firsts, sizes = strata.starts[:-1], strata.sizes
    selected = bernoulli(len(strata.order))
    selected[firsts[sizes == 1]] = False
    counts = np.add.reduceat(selected, firsts, dtype=np.int64)
    while (lone := np.flatnonzero(counts == 1)).size:
        within = np.concatenate([[0], np.cumsum(sizes[lone])])
        again = np.repeat(firsts[lone] - within[:-1], sizes[lone]) + np.arange(within[-1])
        selected[again] = fresh = bernoulli(len(again))
        counts[lone] = np.add.reduceat(fresh, within[:-1], dtype=np.int64)
    return selected, counts


def check_permutation(strata: Strata, sigma: IntArray) -> None:
    """Raise `InputError` unless `sigma` is a permutation that keeps every record in its stratum.

    The permutation then preserves the counts by stratum and swapping variable, and does not change
    the held variables.
    """
    stratum = np.empty(len(sigma), dtype=np.int64)
    stratum[strata.order] = np.repeat(np.arange(len(strata.sizes)), strata.sizes)
    _check_moves(len(sigma), slice(None), sigma, stratum, stratum[sigma])


def _check_moves(
    records: int, moved: IntArray | slice, taken: IntArray, stratum: IntArray, other: IntArray
) -> None:
    """Check that the moved records are permuted, each within its stratum."""
    hit = np.zeros(records, dtype=bool)
    hit[taken] = True
    if not hit[moved].all() or not np.array_equal(stratum, other):
        raise InputError(
            "swapping: the moved records are not a permutation within the strata. Do not publish "
            "this table, and report the fault."
        )


def swap(rng: np.random.Generator, strata: Strata, values: ArrayLike, rate: float) -> NDArray[Any]:
    """Swap the values of records within strata once, for experiments.

    Parameters
    ----------
    values : array, shape (records, ...)
        The swapping variable, or several variables that move together, with one row per record.

    Returns
    -------
    array like `values`
        The swapped values in the order of the records. The permutation is confidential. The number
        of moved records and all other results that depend on the permutation are confidential too.

    Examples
    --------
    >>> strata = Strata.from_labels([1, 1, 1, 2, 2])
    >>> swapped = swap(np.random.default_rng(5), strata, np.array(list("abcab")), 0.5)
    >>> sorted(swapped[:3].tolist()), sorted(swapped[3:].tolist())
    (['a', 'b', 'c'], ['a', 'b'])
    """
    values = np.asarray(values)
    if values.ndim == 0 or len(values) != len(strata.order):
        raise InputError(
            f"swapping: values must have one row for each of the {len(strata.order)} records, got "
            f"shape {values.shape}"
        )
    return values[draw_permutation(rng, strata, rate)]


@lru_cache(maxsize=16)
def invariants(shape: tuple[int, int, int]) -> Invariants:
    """Build the invariants of swapping for a table by swap key, swapping variable and others.

    The shape has the numbers of categories (J, K, L) of the swap key (V_Match), the swapping
    variable (V_Swap) and the other held variables (V_Hold). The invariants are the margin of swap
    key and held variables, and the margin of swap key and swapping variable. The cells are in
    row-major order.
    """
    return Invariants.margins(shape, held=((0, 2), (0, 1)))


def check_table(counts: ArrayLike) -> IntArray:
    """Return a table of counts as int64 of shape (J, K, L), or raise `InputError`."""
    name = "swapping: counts (swap key, swapping variable, other held variables)"
    return check_integer_array(name, counts, (None, None, None), 0)


def swap_table(rng: np.random.Generator, counts: ArrayLike, rate: float) -> IntArray:
    """Swap the records of a table of counts once, for experiments.

    The counts have shape (J, K, L), as for `isdp.swapping.expected_table`. The function checks that
    the swapped table has the same `invariants`.
    """
    counts = check_table(counts)
    strata = Strata.from_sizes(counts.sum(axis=(1, 2)))
    cell = np.repeat(np.arange(counts.size), counts.ravel())
    moved, taken = _moves(
        strata, _bernoulli(rng, check_rate(rate)), pseudo_random_bits(rng), exact=False
    )
    old, source, held = cell[moved], cell[taken], counts.shape[2]
    _check_moves(len(cell), moved, taken, old // counts[0].size, source // counts[0].size)
    new = source // held * held + old % held
    change = np.bincount(new, minlength=counts.size) - np.bincount(old, minlength=counts.size)
    invariants(counts.shape).check(change)
    return counts + change.reshape(counts.shape)
