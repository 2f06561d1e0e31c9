"""Laws that are those of smaller ones: independent parts, and cells that move together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from isdp.constraints.independent_parts import Part, independent_parts
from isdp.constraints.invariants import Invariants
from isdp.exact.bits.source import BitSource
from isdp.exact.sampler import RandomBitSampler
from isdp.exact.tied_cells import TiedCells, merge_tied_cells
from isdp.io.progress import tracked
from isdp.mechanisms.base import Mechanism, Target

if TYPE_CHECKING:
    from isdp.exact.selection import ExactSampler


def reduce(
    invariants: Invariants, target: Target | Mechanism, select: Callable[..., ExactSampler]
) -> IndependentPartsSampler | TiedCellsSampler | None:
    """Set up samplers for the smaller laws that this one is made of.

    Parameters
    ----------
    select : callable
        ``select(law, invariants)`` sets up a sampler for each of them.

    Returns
    -------
    IndependentPartsSampler, TiedCellsSampler or None
        None if the law does not factorise, or all cells hang together and none is another's mirror.

    Raises
    ------
    InputError
        If a part has no perfect sampler.
    """
    if target.energy is None or not target.energy.product:
        return None
    parts = independent_parts(invariants)
    if len(parts) > 1:
        return IndependentPartsSampler(invariants, parts, target, select)
    merged = merge_tied_cells(invariants)
    return None if merged is None else TiedCellsSampler(invariants, merged, target, select)


class IndependentPartsSampler(RandomBitSampler):
    """Draws part by part; parts alike share a sampler, and their draws are made at once.

    Attributes
    ----------
    expected_proposals : float
        The parts' tries, added up.
    """

    method = "independent parts"

    def __init__(
        self, invariants: Invariants, parts: list[Part], target: Target | Mechanism, select
    ):
        self.invariants = invariants
        alike: dict[Invariants, list[np.ndarray]] = {}
        for cells, held in parts:
            alike.setdefault(Invariants(held.sparse), []).append(cells)
        self._groups = [(np.stack(cells), select(target, held)) for held, cells in alike.items()]
        told = (f"{len(cells)} by {chosen.method}" for cells, chosen in self._groups)
        self.reason = f"no totals join these parts, which are drawn apart: {', '.join(told)}"
        self.expected_proposals = sum(
            len(cells) * chosen.expected_proposals for cells, chosen in self._groups
        )

    def draw(self, random_bits: BitSource, n_draws: int) -> np.ndarray:
        """Independent draws, int64 (n_draws, cells)."""
        noise = np.zeros((n_draws, self.invariants.cells), dtype=np.int64)
        for cells, chosen in tracked("drawing noise", self._groups):
            drawn = chosen.draw(random_bits, n_draws * len(cells))
            noise[:, cells.ravel()] = drawn.reshape(n_draws, cells.size)
        return noise


class TiedCellsSampler(RandomBitSampler):
    """Draws one cell of each set that moves together."""

    def __init__(
        self, invariants: Invariants, merged: TiedCells, target: Target | Mechanism, select
    ):
        self.invariants, self._merged = invariants, merged
        energy = target.energy._replace(rate=target.energy.rate * merged.times)
        self._chosen = select(Target(target.name, energy), merged.invariants)
        self.method, self.expected_proposals = self._chosen.method, self._chosen.expected_proposals
        self.reason = (
            f"cells move together by {merged.times}, as one with {merged.times} times the rate; "
            f"then {self._chosen.reason}"
        )

    def draw(self, random_bits: BitSource, n_draws: int) -> np.ndarray:
        """Independent draws, int64 (n_draws, cells)."""
        return self._merged.spread(self._chosen.draw(random_bits, n_draws))
