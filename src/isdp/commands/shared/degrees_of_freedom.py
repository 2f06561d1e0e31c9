"""The degrees of freedom under the held totals, and the cells that these totals reveal."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import vstack

from isdp.commands.shared.invariants_file import HeldTotals
from isdp.constraints.blocks import block_sizes, blocks_of
from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError
from isdp.exact.overlapping.crossed_totals import CrossedTotals, crossed_totals
from isdp.lattice.smith import smith_normal_form

MAX_CELL_CLASSES = 5000  # the Smith normal form of this size takes about ten seconds


class DegreesOfFreedom(NamedTuple):
    """The invariants, and the cells that they determine, reveal modulo m or leave free.

    Attributes
    ----------
    invariants : Invariants
        The held totals. A total that is a sum of other totals may be left out.
    blocks : int64 array, shape (cells,), or None
        The block of each cell, from `isdp.constraints.blocks.blocks_of`, or None if the totals
        overlap.
    degrees : int
        The rank of the lattice of the noise.
    steps : int array, shape (cells,)
        The greatest common divisor of all noise values of a cell. Most cells have a step of 1. A
        determined cell, whose count is published exactly, has a step of 0. A step of m reveals the
        count modulo m.
    kernel : tuple of dict, or None
        For overlapping totals that are not crossed, a basis of the lattice of the sums of noise
        over each cell class (cells with the same totals). Each vector maps a class to its entry.
    crossed : CrossedTotals or None
        The two crossing partitions, such as regions and classes, whose totals are held. None if the
        totals have another form.
    """

    invariants: Invariants
    blocks: np.ndarray | None
    degrees: int
    steps: np.ndarray
    kernel: tuple[dict[int, int], ...] | None = None
    crossed: CrossedTotals | None = None

    @property
    def determined(self) -> np.ndarray:
        """The cells that are published exactly, as an int64 array."""
        return np.flatnonzero(self.steps == 0)

    @property
    def revealed_residues(self) -> np.ndarray:
        """The cells whose counts are published modulo their step, as an int64 array."""
        return np.flatnonzero(self.steps > 1)

    @property
    def single_move(self) -> bool:
        """True if two cells have the same totals, so that one person can change cell alone."""
        if self.blocks is not None:
            return bool(block_sizes(self.blocks).max() > 1)
        return len(find_cell_classes(self.invariants)[1]) < self.invariants.cells

    @property
    def single_change(self) -> bool:
        """True if a cell has no total, so that its count can change alone."""
        if self.blocks is not None:
            return bool((self.blocks < 0).any())
        held = self.invariants
        return bool((np.bincount(held.sparse.indices, minlength=held.cells) == 0).any())


def find_degrees_of_freedom(held: list[HeldTotals]) -> DegreesOfFreedom:
    """Build the invariants from the held totals, and find their free and determined cells."""
    invariants = _invariants(_without_implied(held))
    blocks = blocks_of(invariants)
    if blocks is not None:
        sizes = block_sizes(blocks)
        alone = (sizes[blocks + 1] == 1) & (blocks >= 0)
        return DegreesOfFreedom(
            invariants, blocks, len(blocks) - len(sizes) + 1, 1 - alone.astype(np.int8)
        )
    crossed = crossed_totals(invariants)
    if crossed is not None:
        steps = np.ones(invariants.cells, dtype=np.int8)
        return DegreesOfFreedom(invariants, None, crossed.degrees, steps, crossed=crossed)
    return DegreesOfFreedom(invariants, None, *_under_overlapping_totals(invariants))


def _under_overlapping_totals(
    invariants: Invariants,
) -> tuple[int, np.ndarray, tuple[dict[int, int], ...]]:
    """Find the degrees of freedom, the steps and the kernel.

    Some noise attains every vector in the lattice of the sums over cell classes. Two cells of one
    class can exchange any number of persons, so a determined cell is the only cell of its class.
    """
    classes, first = find_cell_classes(invariants)
    if len(first) > MAX_CELL_CLASSES:
        raise InputError(
            f"--invariants: these totals divide the cells into {len(first)} classes, and the "
            f"maximum is {MAX_CELL_CLASSES}. Hold fewer totals."
        )
    form = smith_normal_form(invariants.sparse[:, first])
    steps = [0] * len(first)
    for vector in form.kernel:
        for i, entry in vector.items():
            steps[i] = math.gcd(steps[i], entry)
    several = np.bincount(classes) > 1
    # counts have at most 12 digits, so a step of 2^62 reveals as much as a larger step
    found = np.where(several, 1, [min(step, 2**62) for step in steps])
    return invariants.cells - form.rank, found[classes].astype(np.int64), form.kernel


def _without_implied(held: list[HeldTotals]) -> list[HeldTotals]:
    kept = list(held)
    for one in held:
        others = [other for other in kept if other is not one]
        if any(implies(other.labels, one.labels) for other in others):
            kept = others
    return kept


def implies(fine: np.ndarray, coarse: np.ndarray) -> bool:
    """Return True if every group of `coarse` is a union of groups of `fine`."""
    if (fine[coarse >= 0] < 0).any():
        return False
    inside = fine >= 0
    labels, groups = coarse[inside], fine[inside]
    of_group = np.empty(groups.max(initial=-1) + 1, dtype=np.int64)
    of_group[groups] = labels
    return bool((of_group[groups] == labels).all())


def _invariants(held: list[HeldTotals]) -> Invariants:
    names = [f"{one.name} {i + 1}" for one in held for i in range(one.totals)]
    return Invariants(vstack([one.incidence() for one in held], format="csr"), names)
