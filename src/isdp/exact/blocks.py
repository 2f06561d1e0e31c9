"""Independent draws of l1 noise under totals of disjoint blocks, in time linear in the cells.

A double geometric variable is the difference of two geometric ones. Under one total over n cells
the noise is therefore X - Y, where X and Y are independent and each is a uniform weak composition
(n counts, zero allowed) of the same integer S, and P(S = s) is proportional to
C(s + n - 1, n - 1)^2 exp(-2 epsilon s). S comes from rejection under a hull of its log-concave
law; a composition comes from a random choice of bars among stars, 64 places at a time (see
`isdp.exact.compositions.compose`). No step approximates: what is left is the rounding of 53-bit
arithmetic, which `BlockSampler.error` bounds.

The generator is a pseudo-random one and logarithms are in floating point: for experiments, not for
the release of confidential data; `isdp.exact.release` is for that.
"""

from __future__ import annotations

import numpy as np

from isdp.checks import positive, refuse_overflow, whole
from isdp.compiled import njit
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.compositions import fill, words_from
from isdp.exact.rounding import block_error, counts_error
from isdp.exact.tries import refuse_bounds
from isdp.io.progress import tracked
from isdp.mechanisms.base import Mechanism, energy_served
from isdp.mechanisms.laplace import gamma_reach

CELLS_AT_ONCE = 10**7  # a tenth of a second
COUNTED_AT_ONCE = 2**21


def blocks_of(invariants: Invariants) -> np.ndarray | None:
    """Tell which block each cell is in, where the invariants are totals of disjoint blocks.

    A row counts as the total of its cells if its entries are all the same number. Rows may be
    nested: the totals of a set and of a part of it give that of the rest. Rows without cells, and
    rows that other rows' totals add up to (a grand total beside its parts), add nothing and are
    passed over.

    Parameters
    ----------
    invariants : Invariants

    Returns
    -------
    int64 array, shape (cells,), or None
        Blocks are numbered from 0 in the order of the rows; -1 marks a cell in no block. None if
        rows overlap without being nested, or weigh their cells unequally.
    """
    a = invariants.sparse
    labels = np.full(invariants.cells, -1, dtype=np.int64)
    smallest_first = np.argsort(np.diff(a.indptr), kind="stable")  # parts before their sum
    if not _label(a.indptr, a.indices, a.data, smallest_first, labels):
        return None
    _number(labels, np.zeros(len(smallest_first), dtype=np.int64))
    return labels


def block_sizes(blocks: np.ndarray) -> np.ndarray:
    """Count the cells in no block, and then those of each.

    A part of the cells at a time: there are tables of which no further copy fits.

    Parameters
    ----------
    blocks : int64 array, shape (cells,)
        From `blocks_of`.

    Returns
    -------
    int64 array, shape (blocks + 1,)
    """
    sizes = np.zeros(blocks.max(initial=-1) + 2, dtype=np.int64)
    for part in np.array_split(blocks, len(blocks) // COUNTED_AT_ONCE + 1):
        sizes += np.bincount(part + 1, minlength=len(sizes))
    return sizes


def block_order(invariants: Invariants) -> tuple[np.ndarray, np.ndarray] | None:
    """Sort the cells by block.

    Parameters
    ----------
    invariants : Invariants

    Returns
    -------
    order : int64 array, shape (cells,)
        The cells in no block first, then block after block.
    starts : int64 array, shape (blocks + 1,)
        Block b is ``order[starts[b]:starts[b + 1]]``.

    None in place of both if `blocks_of` says so.
    """
    labels = blocks_of(invariants)
    if labels is None:
        return None
    sizes = np.bincount(labels + 1, minlength=1)
    starts = np.cumsum(sizes)
    order = np.empty(len(labels), dtype=np.int64)
    _counting_sort(labels, starts - sizes, order)
    return order, starts


def refuse_large_sums(cells: int, epsilon: float) -> None:
    """Raise if the counts of noise in `cells` cells could add up to 2^53 or more.

    Parameters
    ----------
    cells : int
    epsilon : float

    Raises
    ------
    InputError
        If they could, but for a chance below 1e-20.
    """
    what = f"the sum of noise in {cells} cells at epsilon {epsilon:g}"
    advice = "use a larger epsilon or fewer cells"
    refuse_overflow("exact", what, gamma_reach(cells, epsilon), 53, advice)


def sample_blocks(
    rng: np.random.Generator, invariants: Invariants, epsilon: float, draws: int
) -> np.ndarray:
    """Draw independent l1 noise under a total or a partition, without a Markov chain.

    P(u) is proportional to exp(-epsilon ||u||_1) over the integer vectors u that leave the totals
    unchanged. Time and memory are linear in the cells, whatever epsilon is.

    Parameters
    ----------
    rng : numpy.random.Generator
    invariants : Invariants
        Totals of disjoint blocks, see `blocks_of`; cells in no block get free noise.
    epsilon : float
        Privacy loss per unit of the l1 norm, positive.
    draws : int

    Returns
    -------
    int64 array, shape (draws, cells)

    Raises
    ------
    InputError
        If the rows overlap, a setting is out of range, or sums could pass 2^53.

    Examples
    --------
    >>> noise = sample_blocks(np.random.default_rng(1), Invariants.total(5), 0.5, draws=10)
    >>> noise.shape, int(abs(noise.sum(axis=1)).max())
    ((10, 5), 0)
    """
    epsilon, draws = float(positive("epsilon", epsilon)), whole("exact", "draws", draws)
    refuse_large_sums(invariants.cells, epsilon)
    blocks = block_order(invariants)
    if blocks is None:
        raise InputError(
            "exact: these invariants are not totals of disjoint blocks; use the Markov chain, or "
            "for a small lattice isdp.exact.release"
        )
    order, starts = blocks
    noise = np.empty((draws, invariants.cells), dtype=np.int64)
    longest = int(np.diff(starts).max(initial=0))
    x, y = np.empty(longest, dtype=np.int64), np.empty(longest, dtype=np.int64)
    words = words_from(rng)
    for part in tracked("drawing noise", parts_of_draws(draws, invariants.cells)):
        fill(rng, words, order, starts, epsilon, x, y, noise[part])
    return noise


def parts_of_draws(draws: int, cells: int) -> list[slice]:
    """Divide draws into parts of about a tenth of a second each, between which progress shows."""
    rows = max(1, CELLS_AT_ONCE // cells)
    return [slice(first, first + rows) for first in range(0, draws, rows)]


class BlockSampler:
    """`sample_blocks` with its settings.

    Parameters
    ----------
    invariants : Invariants
        Totals of disjoint blocks.
    law : Mechanism
        Of weight exp(-rate ||u||_1), such as `GeneralizedLaplace`.

    Raises
    ------
    InputError
        If the rows overlap, the law is another, or sums could pass 2^53.

    Attributes
    ----------
    error : float
        Bound on the total variation distance between a draw's law and the law asked for.
    """

    method = "compositions"

    @staticmethod
    def fits(invariants: Invariants, law: Mechanism, lower=None) -> str:
        """Say why this sampler fits, or raise `InputError` with the reason why not."""
        refuse_bounds("compositions", lower)
        energy_served("compositions", law, [(1, False)])
        if blocks_of(invariants) is None:
            raise InputError("compositions: the invariants are not totals of disjoint blocks")
        return "the invariants are totals of disjoint blocks"

    def __init__(self, invariants: Invariants, law: Mechanism):
        self.fits(invariants, law)
        sizes = np.bincount(blocks_of(invariants) + 1)[1:]
        self.invariants, self.epsilon = invariants, law.energy.rate
        refuse_large_sums(int(sizes.max(initial=1)), self.epsilon)
        kinds, many = np.unique(sizes, return_counts=True)
        self.error = counts_error(2 * (invariants.cells - int(sizes.sum())), self.epsilon)
        for cells, blocks in zip(kinds.tolist(), many.tolist(), strict=True):
            self.error += blocks * block_error(cells, self.epsilon)

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw noise, int64 (draws, cells)."""
        return sample_blocks(rng, self.invariants, self.epsilon, draws)


@njit(cache=True)
def _label(indptr, indices, data, rows, labels):
    """Write the row of each cell's block into `labels`; False if the rows are no disjoint blocks.

    A row must hold all of every block that it meets. The total of its other cells then follows, and
    they make a block of their own.
    """
    size = np.zeros(len(rows), dtype=np.int64)  # cells of each block
    seen = np.zeros(len(rows), dtype=np.int64)  # those of them in the present row
    for row in rows:
        start, stop = indptr[row], indptr[row + 1]
        for entry in range(start, stop):
            if data[entry] != data[start]:
                return False
            if labels[indices[entry]] >= 0:
                seen[labels[indices[entry]]] += 1
        for entry in range(start, stop):
            label = labels[indices[entry]]
            if label < 0:
                labels[indices[entry]] = row
                size[row] += 1
            elif seen[label] != 0:  # its first cell in this row; 0 marks a block that has passed
                if seen[label] != size[label]:
                    return False
                seen[label] = 0
    return True


@njit(cache=True)
def _number(labels, numbers):
    """Replace rows by numbers from 0 in their order, those that made no block left out."""
    for row in labels:
        if row >= 0:
            numbers[row] = 1
    before = 0
    for row in range(len(numbers)):
        made = numbers[row]
        numbers[row] = before
        before += made
    for cell in range(len(labels)):
        if labels[cell] >= 0:
            labels[cell] = numbers[labels[cell]]


@njit(cache=True)
def _counting_sort(labels, position, order):
    for cell in range(len(labels)):
        order[position[labels[cell] + 1]] = cell
        position[labels[cell] + 1] += 1
