"""Exact draws of l1 noise where many cells stand in the same totals: sums first, then shares.

The sums of the types come from `isdp.exact.overlapping.class_sums`. Each is then shared out within
its type by two uniform compositions, as under a total of the type's own.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError
from isdp.exact.bits.geometric import MAX_RATE, cached_geometric
from isdp.exact.bits.source import BitSource
from isdp.exact.disjoint.blocks import refuse_large_sums
from isdp.exact.disjoint.compositions import draw_compositions, group_blocks, parts
from isdp.exact.overlapping.class_sums import CellClassSums
from isdp.exact.sampler import RandomBitSampler, refuse_lower_bounds
from isdp.io.progress import progress
from isdp.mechanisms.base import Mechanism, Target, check_energy


class CellClassSampler(RandomBitSampler):
    """Independent draws of l1 noise by the sums of cells that stand in the same totals.

    Parameters
    ----------
    invariants : Invariants
        Any integers; quick where few totals go across many disjoint ones.
    target : Mechanism
        Of weight exp(-rate ||u||_1), such as `GeneralizedLaplace`.

    Attributes
    ----------
    expected_proposals : float
        From `isdp.exact.overlapping.class_sums.CellClassSums`.

    Raises
    ------
    InputError
        For another law, too many tries a draw, or sums that could pass 2^53.

    Examples
    --------
    >>> from isdp import GeneralizedLaplace
    >>> states_by_sex = np.arange(6000).reshape(3, 2, 1000)
    >>> totals = [*states_by_sex, states_by_sex[:, 0]]
    >>> held = Invariants.subsets([cells.ravel() for cells in totals], 6000)
    >>> noise = CellClassSampler(held, GeneralizedLaplace(0.1)).sample(np.random.default_rng(1), 2)
    >>> noise.shape, int(abs(noise.reshape(2, 3, 2, 1000).sum(axis=(1, 3))).max())
    ((2, 6000), 0)
    """

    method = "sums of types"

    reason = "the norm is l1, and few totals go across disjoint ones"

    def __init__(self, invariants: Invariants, target: Target | Mechanism, lower=None):
        refuse_lower_bounds(self.method, lower)
        check_energy(self.method, target, [(1, False)])
        self.invariants, rate = invariants, target.energy.rate
        if rate > MAX_RATE:
            raise InputError(f"sums of types: takes an epsilon of at most {MAX_RATE}")
        refuse_large_sums(invariants.cells, float(rate))
        kind, first = find_cell_classes(invariants)
        sizes = np.bincount(kind)
        order = np.argsort(kind, kind="stable")
        starts = np.concatenate([[0], np.cumsum(sizes)])
        epsilon = Fraction(rate)
        types = Invariants(invariants.sparse[:, first], invariants.names)
        self._sums, self.cached_geometric = (
            CellClassSums(types, sizes, epsilon),
            cached_geometric(epsilon),
        )
        self.expected_proposals = self._sums.expected_proposals
        self._first = order[starts[:-1]]
        self._spans = [(types, sizes[types], cells) for types, cells in group_blocks(order, starts)]

    def draw(self, random_bits: BitSource, n_draws: int) -> np.ndarray:
        """Independent draws, int64 (n_draws, cells)."""
        sums, less = self._sums.draw(random_bits, n_draws)
        more = sums + less
        noise = np.empty((n_draws, self.invariants.cells), dtype=np.int64)
        noise[:, self._first] = sums  # which is all of it for a type of one cell
        moving = n_draws * sum(len(cells) for _, _, cells in self._spans)
        with progress("drawing noise", moving) as at:
            drawn = 0
            for first, part in parts(noise):
                of = slice(first, first + len(part))
                for types, sizes, cells in self._spans:
                    counts = np.tile(sizes, len(part))
                    shares = draw_compositions(
                        random_bits, more[of, types].ravel(), counts, self.cached_geometric
                    )
                    shares -= draw_compositions(
                        random_bits, less[of, types].ravel(), counts, self.cached_geometric
                    )
                    part[:, cells] = shares.reshape(len(part), len(cells))
                    drawn += shares.size
                    at(drawn)
        return noise
