"""Independent l1 noise under totals of disjoint blocks, and uniform compositions: exact, from bits.

A double geometric variable is the difference of two geometric ones. Under one total over n cells
the noise is therefore X - Y, two independent uniform compositions (n counts, zero allowed) of one
sum S with P(S = s) in proportion to the square of C(s + n - 1, n - 1) exp(-epsilon s). Independent
geometric counts have the sum s with a chance in proportion to what is squared there. Kept with a
chance in proportion to the same, they are S and X in one.

A composition of s into n counts is a choice of n - 1 bars among s + n - 1 places: counts are the
gaps between them. Geometric counts laid end to end, a bar after each, make every place a bar with
the same chance, whatever the other places are. So all choices of as many bars as came out are
equally likely. Bars are then put at random places that have none, or taken from random ones that
have one, until they are as many as wanted: all choices of these are equally likely too.

Where epsilon is small there would be many places. Counts are then divided by a power of two.
Independent geometric counts written as x_i = 2^k q_i + r_i, with 0 <= r_i < 2^k, have independent
q_i and r_i, and given the r_i the q_i are a uniform composition of (total - sum of r_i) / 2^k.
Remainders are those of independent counts but for the last one, which makes this sum of the
quotients whole, and are kept with the chance that their quotients have.

The words are the operating system's for a release, or a seeded generator's for experiments.
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

CELLS_AT_ONCE = 1 << 15  # cells drawn at once: their arrays stay in the cache


class CompositionSampler(RandomBitSampler):
    """Independent draws of l1 noise under totals of disjoint blocks, of any size.

    P(u) is proportional to exp(-rate ||u||_1) over the integer vectors u that leave the totals
    unchanged. Time and memory are linear in the cells, whatever the rate is.

    Parameters
    ----------
    invariants : Invariants
        Totals of disjoint blocks, see `isdp.exact.disjoint.blocks`; cells in no block get free
        noise.
    target : Mechanism
        Of weight exp(-rate ||u||_1), such as `GeneralizedLaplace`.

    Raises
    ------
    InputError
        If the rows overlap, the law is another, or sums could pass 2^53.
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
            raise InputError(f"compositions: takes an epsilon of at most {MAX_RATE}")
        refuse_large_sums(invariants.cells, float(rate))
        self._free, self.cached_geometric = order[: starts[0]], cached_geometric(Fraction(rate))
        sizes = np.diff(starts)
        self._spans = [
            (_as_slice(cells), sizes[blocks]) for blocks, cells in group_blocks(order, starts)
        ]
        self._moving = len(self._free) + int(sizes[sizes > 1].sum())

    def draw(self, random_bits: BitSource, n_draws: int) -> np.ndarray:
        """Independent draws, int64 (n_draws, cells)."""
        noise = np.zeros((n_draws, self.invariants.cells), dtype=np.int64)
        with progress("drawing noise", n_draws * self._moving) as at:
            for first, part in parts(noise):
                free = self.cached_geometric.draw_difference(
                    random_bits, len(part) * len(self._free)
                )
                part[:, self._free] = free.reshape(len(part), len(self._free))
                drawn = first * self._moving + free.size
                at(drawn)
                for cells, sizes in self._spans:
                    inside = draw_block_noise(
                        random_bits, np.tile(sizes, len(part)), self.cached_geometric
                    )
                    part[:, cells] = inside.reshape(len(part), -1)
                    drawn += inside.size
                    at(drawn)
        return noise


def _as_slice(cells: np.ndarray) -> np.ndarray | slice:
    """Neighbouring cells in their order as a slice, which takes less time to write to."""
    first, beyond = int(cells[0]), int(cells[-1]) + 1
    in_order = beyond - first == len(cells) and bool((cells[1:] > cells[:-1]).all())
    return slice(first, beyond) if in_order else cells


def group_blocks(order: np.ndarray, starts: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Put blocks together that are drawn at once; those of one cell are left out.

    Parameters
    ----------
    order : int64 array, shape (cells,)
    starts : int64 array, shape (blocks + 1,)
        Block b is ``order[starts[b]:starts[b + 1]]``.

    Returns
    -------
    list of pairs of int64 arrays
        The blocks of each span, and their cells block after block.
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


def parts(noise: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Give rows of `noise` that are drawn at once, and the number of the first."""
    rows = max(1, CELLS_AT_ONCE // noise.shape[1])
    for first in range(0, len(noise), rows):
        yield first, noise[first : first + rows]


def draw_block_noise(random_bits: BitSource, sizes: np.ndarray, geometric: Geometric) -> np.ndarray:
    """Draw noise under totals of disjoint blocks.

    Parameters
    ----------
    sizes : int64 array, shape (blocks,)
        Cells of each block, 2 at least.

    Returns
    -------
    int64 array, shape (sum of sizes,)
        Block after block.
    """
    counts = negative_binomials(geometric.epsilon)
    laws = counts.indices(sizes)
    starts = np.cumsum(sizes) - sizes
    x, sums = np.empty(sizes.sum(), dtype=np.int64), np.empty(len(sizes), dtype=np.int64)
    left = np.arange(len(sizes))
    while len(left):
        sums[left] = _scatter(
            geometric.draw(random_bits, sizes[left].sum()), sizes, starts, left, x
        )
        left = left[~counts.keep(random_bits, laws[left], sums[left])]
    x -= draw_compositions(random_bits, sums, sizes, geometric)
    return x


def draw_compositions(
    random_bits: BitSource, totals: np.ndarray, sizes: np.ndarray, geometric: Geometric
) -> np.ndarray:
    """Draw uniform weak compositions, quickly if the totals are such as the counts add up to.

    Parameters
    ----------
    totals : int64 array, shape (compositions,)
    sizes : int64 array, shape (compositions,)
        Counts into which each is composed, 2 at least.

    Returns
    -------
    int64 array, shape (sum of sizes,)
        Composition after composition.
    """
    bits, coarse = geometric.bits, geometric.digits[-1][1]
    if bits == 0:
        return _compose_by_bars(random_bits, totals, sizes, coarse)
    counts = negative_binomials(coarse.rate)
    laws = counts.indices(sizes)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    remainders, quotients = np.empty(ends[-1], dtype=np.int64), np.empty_like(totals)
    left = np.arange(len(sizes))
    while len(left):
        fresh = geometric.draw_remainders(random_bits, sizes[left].sum())
        last = ends[left] - 1
        rest = totals[left] - _scatter(fresh, sizes, starts, left, remainders) + remainders[last]
        quotients[left], remainders[last] = np.divmod(rest, 1 << bits)
        kept = quotients[left] >= 0
        # exp(-epsilon r) for the last remainder r, by a count that reaches it
        kept[kept] = geometric.draw(random_bits, kept.sum()) >= remainders[last[kept]]
        kept[kept] = counts.keep(random_bits, laws[left[kept]], quotients[left[kept]])
        left = left[~kept]
    return (_compose_by_bars(random_bits, quotients, sizes, coarse) << bits) + remainders


def _compose_by_bars(
    random_bits: BitSource, totals: np.ndarray, sizes: np.ndarray, bar_gaps: TruncatedGeometric
) -> np.ndarray:
    """Compose totals by stars and bars, the bars a count of `target` apart to begin with."""
    lengths, starts, ahead = _place_ranges(totals, sizes)
    places, have = np.zeros(ahead, dtype=bool), np.zeros_like(sizes)
    bar_probability, at = -math.expm1(-bar_gaps.rate), np.zeros(2, dtype=np.int64)
    while at[0] < len(sizes):
        # a bar at each gap's end, but that each block's last gap ends beyond it
        gaps = bar_probability * ahead + len(sizes)
        drawn = bar_gaps.draw(
            random_bits, min(int(gaps + 2 * math.sqrt(gaps)) + 1, DRAWS_PER_CHUNK)
        )
        ahead -= _place_bars(drawn, starts, lengths, at, places, have)
    draw_numbers = random_bits.take if lengths.max() >> SHORT_BITS else random_bits.take_16_bit
    while missing := _estimate_positions(lengths, sizes, have):
        _correct_bars(draw_numbers(int(1.5 * missing) + 8), starts, lengths, sizes, places, have)
    return _gaps_between_bars(places, starts, lengths, sizes)


@njit(cache=True)
def _scatter(fresh, sizes, starts, which, into):
    """Write one block after another of those named into its place; return their sums."""
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
    """Tell how many places each composition has, where they start, and how many there are."""
    lengths, starts, room = np.empty_like(sizes), np.empty_like(sizes), 0
    for i in range(len(sizes)):
        lengths[i], starts[i] = totals[i] + sizes[i] - 1, room
        room += lengths[i]
    return lengths, starts, room


@njit(cache=True)
def _place_bars(gaps, starts, lengths, at, places, have):
    """Put bars the gaps apart; `at` is the block and the place in it that come next.

    What of a gap lies beyond the end of a block is dropped: the next one begins with a gap of its
    own, as it may, since every place is a bar whatever came before it. Returns the places passed.
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
    """Tell about how many tries it takes until all blocks have a bar less than counts."""
    tries = 0.0
    for block in range(len(have)):
        missing = sizes[block] - 1 - have[block]
        if missing != 0:
            fit = lengths[block] - have[block] if missing > 0 else have[block]
            tries += abs(missing) * _next_power_of_two(lengths[block]) / fit
    return tries


@njit(cache=True)
def _next_power_of_two(length):
    """Least power of two that is no smaller."""
    drawn = 1
    while drawn < length:
        drawn *= 2
    return drawn


@njit(cache=True)
def _correct_bars(numbers, starts, lengths, sizes, places, have):
    """Put bars at random places, or take them from there, as long as blocks and numbers are left.

    The low bits of a number are a place, uniform over a power of two. What is no place is passed
    over.
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
    """Count the places between bars, composition after composition."""
    gaps = np.empty(sizes.sum(), dtype=np.int64)
    at = 0
    for block in range(len(sizes)):
        gap = 0
        for place in range(starts[block], starts[block] + lengths[block]):
            # what is no bar is written over: without a branch, which could not be foretold
            gaps[at] = gap
            bar = np.int64(places[place])
            at += bar
            gap = (gap + 1) * (1 - bar)
        gaps[at] = gap
        at += 1
    return gaps
