"""Exact draws of l1 noise under totals of disjoint blocks, and of uniform compositions.

A discrete Laplace variable is the difference of two geometric variables. Under one total over n
cells, the noise is therefore X - Y. Here X and Y are independent uniform weak compositions of one
sum S into n parts. P(S = s) is proportional to the square of q(s) = C(s + n - 1, n - 1)
exp(-epsilon s). The sum of n independent geometric variables is s with a probability proportional
to q(s). If the variables are accepted with a probability proportional to q(s), their values are X
and their sum is S.

A weak composition of s into n parts places n - 1 bars in s + n - 1 positions (stars and bars). The
parts are the gaps between bars. Geometric variables are placed end to end, with a bar after each
variable. Every position is then a bar independently and with the same probability. All choices of
the same number of bars are therefore equally likely. Bars are then added at random free positions,
or random bars are removed, until their number is n - 1. All choices remain equally likely.

If epsilon is small, this algorithm would need many positions. The parts are therefore divided by a
power of two. Independent geometric variables x_i = 2^k q_i + r_i, with 0 <= r_i < 2^k, have
independent q_i and r_i. Given the r_i, the q_i are a uniform composition of (total - sum of r_i) /
2^k. All remainders but the last are drawn independently. The last remainder makes the sum of the
quotients an integer. The remainders are accepted with a probability proportional to the weight of
the last remainder times the probability of the sum of the quotients.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from isdp.arrays import BoolArray, IntArray
from isdp.compiled import njit
from isdp.constraints.blocks import block_order
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
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
from isdp.exact.overflow import refuse_large_sums
from isdp.exact.sampler import RandomBitSampler
from isdp.io.progress import progress
from isdp.mechanisms.base import Mechanism, Target, check_energy

CELLS_AT_ONCE = 1 << 15  # number of cells whose arrays fit in the processor's cache


class CompositionSampler(RandomBitSampler):
    """Independent draws of l1 noise under totals of disjoint or nested blocks, of any size.

    P(u) is proportional to exp(-rate ||u||_1) over the integer vectors u with A u = 0. Cells in no
    block are free. Time and memory are proportional to the number of cells, for any rate. The
    constructor raises `InputError` if the rows overlap, the weight has another form, or sums could
    exceed 2^53.
    """

    method = "compositions"
    reason = "the invariants are totals of disjoint blocks"

    def __init__(self, invariants: Invariants, target: Target | Mechanism):
        rate = check_energy(self.method, target, [(1, False)]).rate
        order, starts = block_order(self.method, invariants)
        self.invariants = invariants
        if rate > MAX_RATE:
            raise InputError(f"epsilon: must be at most {MAX_RATE}, got {float(rate):g}")
        refuse_large_sums(invariants.cells, float(rate))
        self._free, self._geometric = order[: starts[0]], cached_geometric(Fraction(rate))
        sizes = np.diff(starts)
        self._spans = [
            (_as_slice(cells), sizes[blocks]) for blocks, cells in group_blocks(order, starts)
        ]
        self._moving = len(self._free) + int(sizes[sizes > 1].sum())

    def draw(self, bits: BitSource, n_draws: int) -> IntArray:
        """See `RandomBitSampler.draw`."""
        noise = np.zeros((n_draws, self.invariants.cells), dtype=np.int64)
        with progress("drawing noise", n_draws * self._moving) as report:
            for first, part in row_batches(noise):
                free = self._geometric.draw_difference(bits, len(part) * len(self._free))
                part[:, self._free] = free.reshape(len(part), len(self._free))
                drawn = first * self._moving + free.size
                report(drawn)
                for cells, sizes in self._spans:
                    inside = draw_block_noise(bits, np.tile(sizes, len(part)), self._geometric)
                    part[:, cells] = inside.reshape(len(part), -1)
                    drawn += inside.size
                    report(drawn)
        return noise


def _as_slice(cells: IntArray) -> IntArray | slice:
    """Return a slice if the cells are consecutive, because it is faster to write to a slice."""
    first, beyond = int(cells[0]), int(cells[-1]) + 1
    in_order = beyond - first == len(cells) and bool((cells[1:] > cells[:-1]).all())
    return slice(first, beyond) if in_order else cells


def group_blocks(order: IntArray, starts: IntArray) -> list[tuple[IntArray, IntArray]]:
    """Group the blocks that are drawn together, and omit blocks of one cell.

    The arguments are the result of `isdp.constraints.blocks.block_order`. The result has a pair
    for each group: its blocks, and their cells in the order of the blocks.
    """
    sizes = np.diff(starts)
    blocks, cells = np.flatnonzero(sizes > 1), order[starts[0] :]
    if len(blocks) < len(sizes):
        cells = cells[np.repeat(sizes > 1, sizes)]
    ends = np.cumsum(sizes[blocks])
    cuts = np.flatnonzero(np.diff((ends - 1) // CELLS_AT_ONCE, append=-1)) + 1
    return [
        (blocks[first:last], cells[ends[first] - sizes[blocks[first]] : ends[last - 1]])
        for first, last in pairwise([0, *cuts.tolist()])
    ]


def row_batches(noise: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Yield the index of the first row of each batch, and the rows of `noise` in the batch."""
    rows = max(1, CELLS_AT_ONCE // noise.shape[1])
    for first in range(0, len(noise), rows):
        yield first, noise[first : first + rows]


def draw_block_noise(bits: BitSource, sizes: IntArray, geometric: Geometric) -> IntArray:
    """Draw noise under totals of disjoint blocks of 2 or more cells.

    The result has shape (sum of sizes,), with the cells in the order of the blocks.
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
    bits: BitSource, totals: IntArray, sizes: IntArray, geometric: Geometric
) -> IntArray:
    """Draw a uniform weak composition of each total into its number of parts, 2 or more.

    The numbers of parts are `sizes`. The result has shape (sum of sizes,), with the parts in the
    order of the compositions. Draws are fastest if the total of n parts is near the mean sum of n
    variables of `geometric`.
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
        quotients[left], remainders[last] = rest >> shift, rest & ((1 << shift) - 1)
        kept = quotients[left] >= 0
        # a geometric variable is at least the last remainder r with probability exp(-epsilon r)
        kept[kept] = geometric.draw(bits, kept.sum()) >= remainders[last[kept]]
        kept[kept] = distributions.keep(bits, indices[left[kept]], quotients[left[kept]])
        left = left[~kept]
    return (_compose_by_bars(bits, quotients, sizes, coarse) << shift) + remainders


def _compose_by_bars(
    bits: BitSource, totals: IntArray, sizes: IntArray, bar_gaps: TruncatedGeometric
) -> IntArray:
    """Draw compositions by stars and bars, with initial bars at distances from `bar_gaps`."""
    lengths, starts, ahead = _place_ranges(totals, sizes)
    places, n_bars = np.zeros(ahead, dtype=bool), np.zeros_like(sizes)
    bar_probability, position = -math.expm1(-bar_gaps.rate), np.zeros(2, dtype=np.int64)
    while position[0] < len(sizes):
        # each gap ends with a bar, except for the last gap of each block
        gaps = bar_probability * ahead + len(sizes)
        drawn = bar_gaps.draw(bits, min(int(gaps + 2 * math.sqrt(gaps)) + 1, DRAWS_PER_CHUNK))
        ahead -= _place_bars(drawn, starts, lengths, position, places, n_bars)
    draw_numbers = bits.take if lengths.max() >> SHORT_BITS else bits.take_16_bit
    while missing := _estimate_positions(lengths, sizes, n_bars):
        _correct_bars(draw_numbers(int(1.5 * missing) + 8), starts, lengths, sizes, places, n_bars)
    return _gaps_between_bars(places, starts, lengths, sizes)


@njit
def _scatter(
    fresh: IntArray, sizes: IntArray, starts: IntArray, which: IntArray, into: IntArray
) -> IntArray:
    """Write `fresh` into the cells of the blocks `which` in this order, and return their sums."""
    sums, used = np.zeros(len(which), dtype=np.int64), 0
    for i in range(len(which)):
        start = starts[which[i]]
        for cell in range(start, start + sizes[which[i]]):
            into[cell] = fresh[used]
            sums[i] += fresh[used]
            used += 1
    return sums


@njit
def _place_ranges(totals: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray, int]:
    """Return the number of positions and the start of each composition, and the total number."""
    lengths, starts, end = np.empty_like(sizes), np.empty_like(sizes), 0
    for i in range(len(sizes)):
        lengths[i], starts[i] = totals[i] + sizes[i] - 1, end
        end += lengths[i]
    return lengths, starts, end


@njit
def _place_bars(
    gaps: IntArray,
    starts: IntArray,
    lengths: IntArray,
    position: IntArray,
    places: BoolArray,
    n_bars: IntArray,
) -> int:
    """Place bars at distances `gaps`, and return the number of positions that were passed.

    The array `position` has the block and the place at which to continue, and is updated. The part
    of a gap beyond the end of a block is discarded, and the next block begins with a new gap. The
    new gap has the right distribution, because every position is a bar independently of the earlier
    positions.
    """
    block, place = position
    passed: int = -place
    for gap in gaps:
        if block == len(lengths):
            break
        place += gap
        if place < lengths[block]:
            places[starts[block] + place] = True
            n_bars[block] += 1
            place += 1
        else:
            passed += lengths[block]
            block, place = block + 1, 0
    position[0], position[1] = block, place
    return int(passed + place)


@njit
def _estimate_positions(lengths: IntArray, sizes: IntArray, n_bars: IntArray) -> float:
    """Estimate the number of random positions until every block has ``size - 1`` bars."""
    n_proposals = 0.0
    for block in range(len(n_bars)):
        missing = sizes[block] - 1 - n_bars[block]
        if missing != 0:
            useful = lengths[block] - n_bars[block] if missing > 0 else n_bars[block]
            n_proposals += abs(missing) * _next_power_of_two(lengths[block]) / useful
    return n_proposals


@njit
def _next_power_of_two(length: int) -> int:
    power = 1
    while power < length:
        power *= 2
    return power


@njit
def _correct_bars(
    numbers: NDArray[np.uint16] | NDArray[np.uint64],
    starts: IntArray,
    lengths: IntArray,
    sizes: IntArray,
    places: BoolArray,
    n_bars: IntArray,
) -> None:
    """Add or remove bars at random positions until all blocks are complete or no number is left.

    The low bits of a number are a position, which is uniform below a power of two. Positions beyond
    the block are rejected.
    """
    used = 0
    for block in range(len(n_bars)):
        start, length, wanted = starts[block], lengths[block], sizes[block] - 1
        mask = _next_power_of_two(length) - 1
        while n_bars[block] != wanted and used < len(numbers):
            place = np.int64(numbers[used]) & mask
            used += 1
            add = n_bars[block] < wanted
            if place < length and places[start + place] != add:
                places[start + place] = add
                n_bars[block] += 1 if add else -1


@njit
def _gaps_between_bars(
    places: BoolArray, starts: IntArray, lengths: IntArray, sizes: IntArray
) -> IntArray:
    """Return the gaps between bars in the order of the compositions."""
    gaps = np.empty(sizes.sum(), dtype=np.int64)
    n_gaps = 0
    for block in range(len(sizes)):
        gap = 0
        for place in range(starts[block], starts[block] + lengths[block]):
            # The loop has no branch, because the processor could not predict it. The next store
            # overwrites the gap unless this position is a bar.
            gaps[n_gaps] = gap
            bar = int(places[place])
            n_gaps += bar
            gap = (gap + 1) * (1 - bar)
        gaps[n_gaps] = gap
        n_gaps += 1
    return gaps
