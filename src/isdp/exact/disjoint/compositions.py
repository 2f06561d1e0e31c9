"""Exact draws of independent l1 noise under totals of disjoint blocks, and of uniform compositions.

A discrete Laplace variable is the difference of two geometric variables. Under one total over n
cells the noise is therefore X - Y. X and Y are independent uniform weak compositions of one sum S
into n parts, with P(S = s) proportional to the square of C(s + n - 1, n - 1) exp(-epsilon s).
Independent geometric variables have the sum s with a probability proportional to what is squared
there. Accepted with a probability proportional to the same, they give S and X in one step.

A weak composition of s into n parts is a choice of n - 1 bars among s + n - 1 positions (stars and
bars): the parts are the gaps between bars. Geometric variables laid end to end, with a bar after
each, make every position a bar independently with the same probability. So all choices of the
resulting number of bars are equally likely. Bars are then added at random free positions, or
removed from random bars, until their number is right. All choices remain equally likely.

A small epsilon would need many positions. The parts are then divided by a power of two.
Independent geometric variables x_i = 2^k q_i + r_i, with 0 <= r_i < 2^k, have independent q_i and
r_i. Given the r_i, the q_i are a uniform composition of (total - sum of r_i) / 2^k. Remainders are
drawn independently, except the last one, which makes the quotients' sum an integer. They are
accepted with the probability of their quotients' sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np

from isdp.compiled import njit
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError, MisfitError
from isdp.exact.bits.geometric import (
    DRAWS_PER_CHUNK,
    MAX_RATE,
    SHORT_BITS,
    Geometric,
    TruncatedGeometric,
    cached_geometric,
)
from isdp.exact.bits.negative_binomial import negative_binomials
from isdp.exact.bits.source import BitSource
from isdp.exact.disjoint.blocks import block_order, refuse_large_sums
from isdp.exact.sampler import RandomBitSampler, refuse_lower_bounds
from isdp.io.progress import progress
from isdp.mechanisms.base import Mechanism, Target, check_energy

CELLS_AT_ONCE = 1 << 15  # their arrays stay in the processor's cache


class CompositionSampler(RandomBitSampler):
    """Independent draws of l1 noise under totals of disjoint blocks, of any size.

    P(u) is proportional to exp(-rate ||u||_1) over the integer vectors u that leave the totals
    unchanged. Time and memory are linear in the cells, whatever the rate is.

    Parameters
    ----------
    invariants : Invariants
        Totals of disjoint blocks, see `isdp.exact.disjoint.blocks`. Cells in no block are free.
    target : Mechanism
        Its weight is exp(-rate ||u||_1), as for `GeneralizedLaplace`.

    Raises
    ------
    InputError
        If the rows overlap, the weight has another form, or sums could exceed 2^53.
    """

    method = "compositions"

    reason = "the invariants are totals of disjoint blocks"

    def __init__(self, invariants: Invariants, target: Target | Mechanism, lower=None):
        refuse_lower_bounds(self.method, lower)
        check_energy(self.method, target, [(1, False)])
        blocks = block_order(invariants)
        if blocks is None:
            raise MisfitError("compositions: the invariants are not totals of disjoint blocks")
        order, starts = blocks
        self.invariants, rate = invariants, target.energy.rate
        if rate > MAX_RATE:
            raise InputError(f"compositions: epsilon must be at most {MAX_RATE}")
        refuse_large_sums(invariants.cells, float(rate))
        self._free, self._geometric = order[: starts[0]], cached_geometric(Fraction(rate))
        sizes = np.diff(starts)
        self._spans = [
            (_as_slice(cells), sizes[blocks]) for blocks, cells in group_blocks(order, starts)
        ]
        self._moving = len(self._free) + int(sizes[sizes > 1].sum())

    def draw(self, bits: BitSource, n_draws: int) -> np.ndarray:
        """Draw independent noise vectors, int64 (n_draws, cells)."""
        noise = np.zeros((n_draws, self.invariants.cells), dtype=np.int64)
        with progress("drawing noise", n_draws * self._moving) as at:
            for first, part in row_batches(noise):
                free = self._geometric.draw_difference(bits, len(part) * len(self._free))
                part[:, self._free] = free.reshape(len(part), len(self._free))
                drawn = first * self._moving + free.size
                at(drawn)
                for cells, sizes in self._spans:
                    inside = draw_block_noise(bits, np.tile(sizes, len(part)), self._geometric)
                    part[:, cells] = inside.reshape(len(part), -1)
                    drawn += inside.size
                    at(drawn)
        return noise


def _as_slice(cells: np.ndarray) -> np.ndarray | slice:
    """Return consecutive cells as a slice, which is faster to write to."""
    first, beyond = int(cells[0]), int(cells[-1]) + 1
    in_order = beyond - first == len(cells) and bool((cells[1:] > cells[:-1]).all())
    return slice(first, beyond) if in_order else cells


def group_blocks(order: np.ndarray, starts: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Group blocks that are drawn together; blocks of one cell are left out.

    Parameters
    ----------
    order : int64 array, shape (cells,)
    starts : int64 array, shape (blocks + 1,)
        Block b is ``order[starts[b]:starts[b + 1]]``.

    Returns
    -------
    list of pairs of int64 arrays
        The blocks of each group, and their cells block after block.
    """
    sizes = np.diff(starts)
    blocks, cells = np.flatnonzero(sizes > 1), order[starts[0] :]
    if len(blocks) < len(sizes):
        cells = cells[np.repeat(sizes > 1, sizes)]
    ends = np.cumsum(sizes[blocks])
    after = np.flatnonzero(np.diff((ends - 1) // CELLS_AT_ONCE, append=-1)) + 1
    return [
        (blocks[first:last], cells[ends[first] - sizes[blocks[first]] : ends[last - 1]])
        for first, last in pairwise([0, *after.tolist()])
    ]


def row_batches(noise: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the rows of `noise` that are drawn together, after the index of the first."""
    rows = max(1, CELLS_AT_ONCE // noise.shape[1])
    for first in range(0, len(noise), rows):
        yield first, noise[first : first + rows]


def draw_block_noise(bits: BitSource, sizes: np.ndarray, geometric: Geometric) -> np.ndarray:
    """Draw noise under totals of disjoint blocks.

    Parameters
    ----------
    sizes : int64 array, shape (blocks,)
        Cells of each block, at least 2.

    Returns
    -------
    int64 array, shape (sum of sizes,)
        Block after block.
    """
    distributions = negative_binomials(geometric.epsilon)
    indices = distributions.indices(sizes)
    starts = np.cumsum(sizes) - sizes
    x, sums = np.empty(sizes.sum(), dtype=np.int64), np.empty(len(sizes), dtype=np.int64)
    left = np.arange(len(sizes))
    while len(left):
        sums[left] = _scatter(geometric.draw(bits, sizes[left].sum()), sizes, starts, left, x)
        left = left[~distributions.keep(bits, indices[left], sums[left])]
    x -= draw_compositions(bits, sums, sizes, geometric)
    return x


def draw_compositions(
    bits: BitSource, totals: np.ndarray, sizes: np.ndarray, geometric: Geometric
) -> np.ndarray:
    """Draw uniform weak compositions; totals near the sum of geometric variables are the fastest.

    Parameters
    ----------
    totals : int64 array, shape (compositions,)
    sizes : int64 array, shape (compositions,)
        The number of parts of each composition, at least 2.

    Returns
    -------
    int64 array, shape (sum of sizes,)
        The parts, composition after composition.
    """
    shift, coarse = geometric.bits, geometric.digits[-1][1]
    if shift == 0:
        return _compose_by_bars(bits, totals, sizes, coarse)
    distributions = negative_binomials(coarse.rate)
    indices = distributions.indices(sizes)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    remainders, quotients = np.empty(ends[-1], dtype=np.int64), np.empty_like(totals)
    left = np.arange(len(sizes))
    while len(left):
        fresh = geometric.draw_remainders(bits, sizes[left].sum())
        last = ends[left] - 1
        rest = totals[left] - _scatter(fresh, sizes, starts, left, remainders) + remainders[last]
        quotients[left], remainders[last] = np.divmod(rest, 1 << shift)
        kept = quotients[left] >= 0
        # a geometric variable reaches the last remainder r with the probability exp(-epsilon r)
        kept[kept] = geometric.draw(bits, kept.sum()) >= remainders[last[kept]]
        kept[kept] = distributions.keep(bits, indices[left[kept]], quotients[left[kept]])
        left = left[~kept]
    return (_compose_by_bars(bits, quotients, sizes, coarse) << shift) + remainders


def _compose_by_bars(
    bits: BitSource, totals: np.ndarray, sizes: np.ndarray, bar_gaps: TruncatedGeometric
) -> np.ndarray:
    """Compose totals by stars and bars; the first bars are separated by draws of `bar_gaps`."""
    lengths, starts, ahead = _place_ranges(totals, sizes)
    places, have = np.zeros(ahead, dtype=bool), np.zeros_like(sizes)
    bar_probability, at = -math.expm1(-bar_gaps.rate), np.zeros(2, dtype=np.int64)
    while at[0] < len(sizes):
        # a bar at the end of each gap, except for the last gap of each block
        gaps = bar_probability * ahead + len(sizes)
        drawn = bar_gaps.draw(bits, min(int(gaps + 2 * math.sqrt(gaps)) + 1, DRAWS_PER_CHUNK))
        ahead -= _place_bars(drawn, starts, lengths, at, places, have)
    draw_numbers = bits.take if lengths.max() >> SHORT_BITS else bits.take_16_bit
    while missing := _estimate_positions(lengths, sizes, have):
        _correct_bars(draw_numbers(int(1.5 * missing) + 8), starts, lengths, sizes, places, have)
    return _gaps_between_bars(places, starts, lengths, sizes)


@njit(cache=True)
def _scatter(fresh, sizes, starts, which, into):
    """Write `fresh` into the cells of the given blocks, block after block; return their sums."""
    sums, at = np.zeros(len(which), dtype=np.int64), 0
    for i in range(len(which)):
        start = starts[which[i]]
        for cell in range(start, start + sizes[which[i]]):
            into[cell] = fresh[at]
            sums[i] += fresh[at]
            at += 1
    return sums


@njit(cache=True)
def _place_ranges(totals, sizes):
    """Return the number of positions of each composition, their starts, and their total."""
    lengths, starts, end = np.empty_like(sizes), np.empty_like(sizes), 0
    for i in range(len(sizes)):
        lengths[i], starts[i] = totals[i] + sizes[i] - 1, end
        end += lengths[i]
    return lengths, starts, end


@njit(cache=True)
def _place_bars(gaps, starts, lengths, at, places, have):
    """Place bars separated by `gaps`; return the number of positions passed.

    ``at`` = (block, position) is the place to resume from, and is updated. The part of a gap beyond
    the end of a block is dropped: the next block begins with a new gap, as every position is a bar
    independently of those before it.
    """
    block, place = at
    passed = -place
    for gap in gaps:
        if block == len(lengths):
            break
        place += gap
        if place < lengths[block]:
            places[starts[block] + place] = True
            have[block] += 1
            place += 1
        else:
            passed += lengths[block]
            block, place = block + 1, 0
    at[0], at[1] = block, place
    return passed + place


@njit(cache=True)
def _estimate_positions(lengths, sizes, have):
    """Estimate the random positions needed until every block has ``size - 1`` bars."""
    n_proposals = 0.0
    for block in range(len(have)):
        missing = sizes[block] - 1 - have[block]
        if missing != 0:
            fit = lengths[block] - have[block] if missing > 0 else have[block]
            n_proposals += abs(missing) * _next_power_of_two(lengths[block]) / fit
    return n_proposals


@njit(cache=True)
def _next_power_of_two(length):
    """Smallest power of two that is at least `length`."""
    drawn = 1
    while drawn < length:
        drawn *= 2
    return drawn


@njit(cache=True)
def _correct_bars(numbers, starts, lengths, sizes, places, have):
    """Add or remove bars at random positions until the blocks are complete or numbers run out.

    The low bits of a number are a position, uniform below a power of two. Positions beyond the
    block are rejected.
    """
    used = 0
    for block in range(len(have)):
        start, length, wanted = starts[block], lengths[block], sizes[block] - 1
        mask = _next_power_of_two(length) - 1
        while have[block] != wanted and used < len(numbers):
            place = np.int64(numbers[used]) & mask
            used += 1
            more = have[block] < wanted
            if place < length and places[start + place] != more:
                places[start + place] = more
                have[block] += 1 if more else -1


@njit(cache=True)
def _gaps_between_bars(places, starts, lengths, sizes):
    """Return the gaps between bars, composition after composition."""
    gaps = np.empty(sizes.sum(), dtype=np.int64)
    at = 0
    for block in range(len(sizes)):
        gap = 0
        for place in range(starts[block], starts[block] + lengths[block]):
            # without a branch, which the processor could not predict: the next store overwrites the
            # gap unless this position is a bar
            gaps[at] = gap
            bar = np.int64(places[place])
            at += bar
            gap = (gap + 1) * (1 - bar)
        gaps[at] = gap
        at += 1
    return gaps
