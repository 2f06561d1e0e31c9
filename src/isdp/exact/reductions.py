"""Reductions of a target distribution to independent parts, or to fewer cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isdp.constraints.independent_parts import Part, independent_parts
from isdp.constraints.invariants import Invariants
from isdp.exact.bits.source import BitSource
from isdp.exact.sampler import RandomBitSampler
from isdp.exact.tied_cells import TiedCells, merge_tied_cells
from isdp.io.progress import tracked
from isdp.mechanisms.base import Energy, Mechanism, Target

if TYPE_CHECKING:
    from isdp.exact.selection import ExactSampler

Select = Callable[[Target | Mechanism, Invariants], "ExactSampler"]


def select_reduced_sampler(
    invariants: Invariants, target: Target | Mechanism, select: Select
) -> IndependentPartsSampler | TiedCellsSampler | None:
    """Set up a sampler that reduces the target to smaller targets, or return None.

    ``select(target, invariants)`` selects a sampler for a smaller target.
    """
    energy = target.energy
    if energy is None or not energy.product:
        return None
    parts = independent_parts(invariants)
    if len(parts) > 1:
        return IndependentPartsSampler(invariants, parts, target, select)
    merged = merge_tied_cells(invariants)
    if merged is None:
        return None
    return TiedCellsSampler(invariants, merged, target.name, energy, select)


class IndependentPartsSampler(RandomBitSampler):
    """Draws of independent parts of the noise. Equal parts share a sampler and are drawn together.

    Attributes
    ----------
    expected_proposals : float
        The sum of the parts' expected proposals.
    """

    method = "independent parts"

    def __init__(
        self, invariants: Invariants, parts: list[Part], target: Target | Mechanism, select: Select
    ):
        self.invariants = invariants
        alike: dict[Invariants, list[NDArray[np.int64]]] = {}
        for cells, held in parts:
            alike.setdefault(Invariants(held.sparse), []).append(cells)
        self._groups = [(np.stack(cells), select(target, held)) for held, cells in alike.items()]
        methods = (f"{len(cells)} by {chosen.method}" for cells, chosen in self._groups)
        self.reason = f"the totals join no two of these parts: {', '.join(methods)}"
        self.expected_proposals = sum(
            len(cells) * chosen.expected_proposals for cells, chosen in self._groups
        )

    def draw(self, bits: BitSource, n_draws: int) -> NDArray[np.int64]:
        """See `RandomBitSampler.draw`."""
        noise = np.zeros((n_draws, self.invariants.cells), dtype=np.int64)
        for cells, chosen in tracked("drawing noise", self._groups):
            drawn = chosen.draw(bits, n_draws * len(cells))
            noise[:, cells.ravel()] = drawn.reshape(n_draws, cells.size)
        return noise


class TiedCellsSampler(RandomBitSampler):
    """Draws of one cell of each set of tied cells, from which the other cells follow."""

    def __init__(
        self, invariants: Invariants, merged: TiedCells, name: str, energy: Energy, select: Select
    ):
        self.invariants, self._merged = invariants, merged
        energy = energy._replace(rate=energy.rate * merged.times)
        self._chosen = select(Target(name, energy), merged.invariants)
        self.method, self.expected_proposals = self._chosen.method, self._chosen.expected_proposals
        self.reason = (
            f"{merged.times} tied cells are equivalent to one cell with {merged.times} times the "
            f"rate; "
            f"then {self._chosen.reason}"
        )

    def draw(self, bits: BitSource, n_draws: int) -> NDArray[np.int64]:
        """See `RandomBitSampler.draw`."""
        return self._merged.expand(self._chosen.draw(bits, n_draws))
