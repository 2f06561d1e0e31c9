"""Permutation swapping of records within strata (Bailie, Gong and Meng, the listing).

In each stratum on its own: every record is selected with the swap rate p; a selection of exactly
one record is thrown away and drawn anew for the whole stratum; the values of the swapping variable
of the selected records are permuted by a uniform derangement. The law of the permutation is

    P(sigma) = p^m (1 - p)^(n - m) / (d_m (1 - n p (1 - p)^(n - 1)))

for the m points that it moves of n, m = 1 being impossible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from isdp.checks import check_probability, is_number
from isdp.constraints import Invariants
from isdp.errors import InputError
from isdp.swapping.mechanism.derangements import BitStream, derange, pseudo_random_bits

BernoulliSource = Callable[[int], np.ndarray]


@dataclass(frozen=True, eq=False)
class Strata:
    """Records in the order of their strata.

    Attributes
    ----------
    order : int64 array, shape (records,)
        Numbers of the records, stratum after stratum.
    starts : int64 array, shape (strata + 1,)
        Where each stratum begins in `order`, and the end.
    """

    order: np.ndarray
    starts: np.ndarray

    @classmethod
    def from_labels(cls, labels) -> Strata:
        """Build the strata of records that share a label.

        Parameters
        ----------
        labels : array of whole numbers or of text, shape (records,)
            The value of the swap key of each record.

        Raises
        ------
        InputError
            If there is no record, or the labels are of another kind, such as decimal numbers or
            missing values.
        """
        labels = np.asarray(labels)
        if labels.ndim != 1 or labels.size == 0 or labels.dtype.kind not in "iubSU":
            raise InputError(
                f"swapping: the strata need one label a record, whole numbers or text without "
                f"missing values; got {labels.dtype} of shape {labels.shape}"
            )
        order = np.argsort(labels, kind="stable")
        inner = labels[order]
        starts = np.concatenate([[0], np.flatnonzero(inner[1:] != inner[:-1]) + 1, [len(labels)]])
        return cls(order, starts)

    @classmethod
    def from_sizes(cls, sizes) -> Strata:
        """Build strata of the given sizes from records that stand in this order; empty ones go."""
        sizes = np.asarray(sizes, dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes[sizes > 0])])
        return cls(np.arange(starts[-1]), starts)

    @property
    def sizes(self) -> np.ndarray:
        """Number of records in each stratum, int64 (strata,)."""
        return np.diff(self.starts)

    @property
    def max_size(self) -> int:
        """Size b of the largest stratum."""
        return int(self.sizes.max())


def check_rate(rate) -> float:
    """Return a swap rate as a float."""
    if is_number(rate) and rate == 0:
        raise InputError(
            "swapping: at a swap rate of 0 the records come out as they are and no privacy is "
            "left; take one between 0 and 1"
        )
    if is_number(rate) and rate == 1:
        raise InputError(
            "swapping: at a swap rate of 1 no record can stay where it is, which rules datasets "
            "out, so that no finite epsilon holds; take one between 0 and 1"
        )
    return check_probability("swapping: the swap rate, a share of the records (5 % is 0.05),", rate)


def draw_permutation(rng: np.random.Generator, strata: Strata, rate: float) -> np.ndarray:
    """Draw the permutation that swaps the records, in floating point, for experiments.

    Parameters
    ----------
    rate : float
        Chance p with which a record is selected, strictly between 0 and 1.

    Returns
    -------
    int64 array, shape (records,)
        The record that each record takes its new value from; itself where nothing moves.
    """
    rate = check_rate(rate)
    return permute(strata, _coins(rng, rate), pseudo_random_bits(rng), exact=False)


def _coins(rng: np.random.Generator, rate: float) -> BernoulliSource:
    return lambda count: rng.random(count) < rate


def permute(strata: Strata, toss: BernoulliSource, words: BitStream, *, exact: bool) -> np.ndarray:
    """Select and derange, with the given coins and words.

    Parameters
    ----------
    toss : callable
        ``toss(k)`` returns k coins, each true with the swap rate as its chance; bool (k,).
    exact : bool
        As in `isdp.swapping.mechanism.derangements.derange`.

    Returns
    -------
    int64 array, shape (records,)
        Checked: a permutation that leaves every record in its stratum.
    """
    moved, taken = _moves(strata, toss, words, exact=exact)
    sigma = np.arange(len(strata.order))
    sigma[moved] = taken
    check_permutation(strata, sigma)
    return sigma


def _moves(
    strata: Strata, toss: BernoulliSource, words: BitStream, *, exact: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Select the records that move, and the record that each of them takes its value from."""
    selected, counts = _select(strata, toss)
    moved = strata.order[np.flatnonzero(selected)]
    return moved, moved[derange(words, counts[counts > 0], exact=exact)]


def _select(strata: Strata, toss: BernoulliSource) -> tuple[np.ndarray, np.ndarray]:
    """Which places in the strata's order are selected, and how many of each stratum."""
    firsts, sizes = strata.starts[:-1], strata.sizes
    selected = toss(len(strata.order))
    selected[firsts[sizes == 1]] = False
    counts = np.add.reduceat(selected, firsts, dtype=np.int64)
    while (lone := np.flatnonzero(counts == 1)).size:
        within = np.concatenate([[0], np.cumsum(sizes[lone])])
        again = np.repeat(firsts[lone] - within[:-1], sizes[lone]) + np.arange(within[-1])
        selected[again] = fresh = toss(len(again))
        counts[lone] = np.add.reduceat(fresh, within[:-1], dtype=np.int64)
    return selected, counts


def check_permutation(strata: Strata, sigma: np.ndarray) -> None:
    """Check that a permutation of the records leaves each in its stratum, in whole numbers.

    Such a permutation keeps every count of stratum x swapping variable, and all that is held.

    Raises
    ------
    InputError
        If it does not.
    """
    stratum = np.empty(len(sigma), dtype=np.int64)
    stratum[strata.order] = np.repeat(np.arange(len(strata.sizes)), strata.sizes)
    _check_moves(len(sigma), slice(None), sigma, stratum, stratum[sigma])


def _check_moves(records: int, moved, taken, stratum: np.ndarray, other: np.ndarray) -> None:
    """Check that the records taken are those that move, and in the same stratum one by one."""
    hit = np.zeros(records, dtype=bool)
    hit[taken] = True
    if not hit[moved].all() or not np.array_equal(stratum, other):
        raise InputError("swapping: the records moved are no permutation within the strata")


def swap(rng: np.random.Generator, strata: Strata, values, rate: float) -> np.ndarray:
    """Swap the values of records within strata once, for experiments.

    Parameters
    ----------
    values : array, shape (records, ...)
        The swapping variable, or several that go together, a row a record.

    Returns
    -------
    array like `values`
        A copy, in the records' order. Which record got whose value is confidential, and so is
        anything that depends on it, such as the share that moved.

    Examples
    --------
    >>> strata = Strata.from_labels([1, 1, 1, 2, 2])
    >>> swapped = swap(np.random.default_rng(5), strata, np.array(list("abcab")), 0.5)
    >>> sorted(swapped[:3].tolist()), sorted(swapped[3:].tolist())
    (['a', 'b', 'c'], ['a', 'b'])
    """
    values = check_values(strata, values)
    return values[draw_permutation(rng, strata, rate)]


def check_values(strata: Strata, values) -> np.ndarray:
    """Return the values as an array with one row for each record.

    Raises
    ------
    InputError
        If the numbers of records differ.
    """
    values = np.asarray(values)
    if values.ndim == 0 or len(values) != len(strata.order):
        raise InputError(
            f"swapping: values of shape {values.shape} for {len(strata.order)} records; wanted a "
            f"row a record"
        )
    return values


@lru_cache(maxsize=16)
def invariants(shape: tuple[int, int, int]) -> Invariants:
    """Build the totals that swapping keeps in a table of key x swapping variable x the rest held.

    Parameters
    ----------
    shape : tuple of three ints
        Categories (J, K, L) of V_Match, of V_Swap and of what V_Hold has beyond V_Match.

    Returns
    -------
    Invariants
        On the cells in row-major order: the margins (J, L), which are V_Hold, and (J, K), which
        are V_Match x V_Swap.
    """
    return Invariants.margins(shape, held=((0, 2), (0, 1)))


def check_table(counts) -> np.ndarray:
    """Return a table of counts as int64 with three axes.

    Raises
    ------
    InputError
        If it has not three axes, or holds anything but whole numbers from 0 up.
    """
    counts = np.asarray(counts)
    if counts.ndim != 3 or counts.dtype.kind not in "iu" or counts.size == 0 or counts.min() < 0:
        raise InputError(
            f"swapping: wanted a table of counts from 0 up with the axes key, swapping variable "
            f"and the rest held, got {counts.dtype} of shape {counts.shape}"
        )
    return counts.astype(np.int64, copy=False)


def swap_table(rng: np.random.Generator, counts, rate: float) -> np.ndarray:
    """Swap the records of a table once and count them again, for experiments.

    Parameters
    ----------
    counts : int array, shape (J, K, L)
        Records by key, swapping variable and the rest held.

    Returns
    -------
    int64 array, shape (J, K, L)
        Checked in whole numbers: the totals of `invariants` are as before.
    """
    counts = check_table(counts)
    strata = Strata.from_sizes(counts.sum(axis=(1, 2)))
    cell = np.repeat(np.arange(counts.size), counts.ravel())
    moved, taken = _moves(
        strata, _coins(rng, check_rate(rate)), pseudo_random_bits(rng), exact=False
    )
    old, source, held = cell[moved], cell[taken], counts.shape[2]
    _check_moves(len(cell), moved, taken, old // counts[0].size, source // counts[0].size)
    new = source // held * held + old % held
    change = np.bincount(new, minlength=counts.size) - np.bincount(old, minlength=counts.size)
    invariants(counts.shape).check(change)
    return counts + change.reshape(counts.shape)
