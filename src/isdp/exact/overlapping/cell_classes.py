"""Exact draws of l1 noise by cell classes: first the sums of the classes, then their cells.

`isdp.exact.overlapping.class_sums` draws the sums. Two uniform compositions distribute each sum
over the cells of its class.
"""

from fractions import Fraction

import numpy as np

from isdp.arrays import IntArray
from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError
from isdp.exact.bits.geometric import MAX_RATE, cached_geometric
from isdp.exact.bits.source import BitSource
from isdp.exact.disjoint.compositions import draw_compositions, group_blocks, row_batches
from isdp.exact.overflow import refuse_large_sums
from isdp.exact.overlapping.class_sums import MAX_SUMS, CellClassSums
from isdp.exact.sampler import RandomBitSampler
from isdp.io.progress import progress
from isdp.mechanisms.base import Mechanism, Target, check_energy


class CellClassSampler(RandomBitSampler):
    """Independent draws of l1 noise by way of the sums of cell classes (equal columns of A).

    The sampler is fast if few totals cross many disjoint totals. A draw may take at most `max_sums`
    proposed sums of classes on average. The constructor raises `InputError` if the weight has
    another form than exp(-rate ||u||_1), a draw takes too many proposals, or sums could exceed
    2^53.

    Attributes
    ----------
    expected_proposals : float
        See `isdp.exact.overlapping.class_sums.CellClassSums`.
    """

    method = "sums of types"
    reason = "the norm is l1, and few totals cross disjoint totals"

    def __init__(
        self,
        invariants: Invariants,
        target: Target | Mechanism,
        max_sums: float = MAX_SUMS,
    ):
        rate, self.invariants = check_energy(self.method, target, [(1, False)]).rate, invariants
        if rate > MAX_RATE:
            raise InputError(f"epsilon: must be at most {MAX_RATE}, got {float(rate):g}")
        refuse_large_sums(invariants.cells, float(rate))
        class_of_cell, first = find_cell_classes(invariants)
        sizes = np.bincount(class_of_cell)
        order = np.argsort(class_of_cell, kind="stable")
        starts = np.concatenate([[0], np.cumsum(sizes)])
        epsilon = Fraction(rate)
        classes = Invariants(invariants.sparse[:, first], invariants.names)
        self._sums = CellClassSums(classes, sizes, epsilon, max_sums)
        self._geometric = cached_geometric(epsilon)
        self.expected_proposals = self._sums.expected_proposals
        self._first = order[starts[:-1]]
        self._spans = [
            (classes, sizes[classes], cells) for classes, cells in group_blocks(order, starts)
        ]

    def draw(self, bits: BitSource, n_draws: int) -> IntArray:
        """See `RandomBitSampler.draw`."""
        sums, smaller = self._sums.draw(bits, n_draws)
        larger = sums + smaller
        noise = np.empty((n_draws, self.invariants.cells), dtype=np.int64)
        noise[:, self._first] = sums  # the noise of a class of one cell is its sum
        moving = n_draws * sum(len(cells) for _, _, cells in self._spans)
        with progress("drawing noise", moving) as report:
            drawn = 0
            for first, part in row_batches(noise):
                rows = slice(first, first + len(part))
                for classes, sizes, cells in self._spans:
                    counts = np.tile(sizes, len(part))
                    x, y = (
                        draw_compositions(
                            bits, totals[rows, classes].ravel(), counts, self._geometric
                        )
                        for totals in (larger, smaller)
                    )
                    part[:, cells] = (x - y).reshape(len(part), len(cells))
                    drawn += x.size
                    report(drawn)
        return noise
