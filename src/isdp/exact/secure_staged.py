"""Staged rejection in exact arithmetic, for a real release: l1 noise under totals that overlap.

The stages are those of `isdp.exact.staged`. Here free cells are differences of exact geometric
counts, and a coin of chance exp(-epsilon s), s a whole number, is a geometric count that reaches s.
So a draw uses up geometric counts alone, all of one law, and is otherwise arithmetic on integers.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from isdp.compiled import njit
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.coins import CHUNK, _geometric, _Words
from isdp.exact.staged import pilot, plan_stages
from isdp.io.progress import progress

MOST_CELLS = 1000


class StagedRelease:
    """Independent exact draws from P(u) proportional to exp(-epsilon ||u||_1).

    Parameters
    ----------
    invariants : Invariants
        What every draw u leaves unchanged: A u = 0.
    epsilon : Fraction
    most_tries : float
        What the expected tries are compared with.

    Attributes
    ----------
    expected_tries : float
        Estimate of the expected blocks of cells proposed a draw, the same each time. It decides
        whether to draw, not what; where it is above `most_tries`, it is a rough lower bound.

    Raises
    ------
    InputError
        If there are more than 1000 cells, or noise could leave 64-bit integers.
    """

    def __init__(self, invariants: Invariants, epsilon: Fraction, most_tries: float):
        if invariants.cells > MOST_CELLS:
            raise InputError(
                f"release: {invariants.cells} cells whose totals overlap are too many for "
                f"rejection; it takes at most {MOST_CELLS}"
            )
        self.cells = invariants.cells
        self.plan = plan_stages(invariants)
        self.geometric = _geometric(epsilon)
        weight = len(self.plan.free) + int(abs(self.plan.dependents.coefficients).sum())
        self.largest = 2**62 // max(weight, 1)  # a geometric count up to it stays within 64 bits
        if epsilon * self.largest < 64:
            raise InputError(
                f"release: epsilon {float(epsilon):g} is so small that noise under these "
                f"invariants could leave 64-bit integers; use a larger epsilon"
            )
        self.expected_tries = pilot(self.plan, float(epsilon), self.cells, most_tries)

    def draw(self, words: _Words, draws: int) -> np.ndarray:
        """Independent draws, int64 (draws, cells).

        Raises
        ------
        InputError
            If a count leaves what 64 bits can hold: once in e^64 counts, at most.
        """
        noise = np.zeros((draws, self.cells), dtype=np.int64)
        most = 2 * int(np.diff(self.plan.block_cells).max(initial=0)) + 1
        place = np.zeros(3, dtype=np.int64)
        counts = np.zeros(0, dtype=np.int64)
        with progress("drawing noise", draws) as at:
            while place[0] < draws:
                fresh = self.geometric.draw(words, max(CHUNK, most))
                if fresh.max() > self.largest:
                    raise InputError(
                        "release: a count came up that 64 bits do not hold; draw again"
                    )
                counts = np.concatenate([counts, fresh])
                counts = counts[_go_on(self.plan, counts, place, noise) :]
                at(place[0])
        return noise


@njit(cache=True)
def _go_on(plan, counts, place, noise):
    """Go on with the draws as far as `counts` reach; return how many were used.

    `place` is the draw, its part and its block that come next.
    """
    draw, part, block = place
    part_blocks, block_cells, free = plan.part_blocks, plan.block_cells, plan.free
    used = 0
    while draw < len(noise):
        row = noise[draw]
        while part < len(part_blocks) - 1:
            while block < part_blocks[part + 1]:
                if used + 2 * (block_cells[block + 1] - block_cells[block]) + 1 > len(counts):
                    place[0], place[1], place[2] = draw, part, block
                    return used
                for f in range(block_cells[block], block_cells[block + 1]):
                    row[free[f]] = counts[used] - counts[used + 1]
                    used += 2
                first, last = plan.block_dependents[block]
                if _fits(first, last, plan.dependents, counts[used], row):
                    block += 1
                used += 1
            if used == len(counts):
                place[0], place[1], place[2] = draw, part, block
                return used
            first, last = plan.part_dependents[part]
            if _fits(first, last, plan.dependents, counts[used], row):
                part += 1
            else:
                block = part_blocks[part]
            used += 1
        draw, part, block = draw + 1, 0, 0
    place[0], place[1], place[2] = draw, part, block
    return used


@njit(cache=True)
def _fits(first, last, dependents, left, noise):
    """Set the dependent cells; say if they are whole and their l1 norm is at most `left`."""
    for d in range(first, last):
        value = 0
        for entry in range(dependents.starts[d], dependents.starts[d + 1]):
            value += dependents.coefficients[entry] * noise[dependents.cells[entry]]
        if value % dependents.divisors[d] != 0:
            return False
        value //= dependents.divisors[d]
        noise[dependents.own[d]] = value
        left -= abs(value)
        if left < 0:
            return False
    return True
