"""Laws that are those of smaller ones: independent parts, and cells that move together."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from isdp.checks import whole
from isdp.constraints.invariants import Invariants
from isdp.constraints.parts import Part, independent_parts
from isdp.exact.mirrored import Merged, merge_mirrored
from isdp.mechanisms.base import Energy, Mechanism


class _Chosen(Protocol):
    """What `isdp.exact.choose` returns."""

    method: str
    reason: str
    error: float

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw noise, int64 (draws, cells)."""


class _Faster(NamedTuple):
    """A law of the same form that falls more quickly; all that a sampler asks of one."""

    name: str
    energy: Energy


def reduce(
    invariants: Invariants, law: Mechanism, choose: Callable[[Invariants, Mechanism], _Chosen]
) -> PartsSampler | MergedSampler | None:
    """Set up samplers for the smaller laws that this one is made of.

    Parameters
    ----------
    invariants : Invariants
    law : Mechanism
    choose : callable
        ``choose(invariants, law)`` chooses a sampler for each of them.

    Returns
    -------
    PartsSampler, MergedSampler or None
        None if the law does not factorise, or all cells hang together and none is another's mirror.

    Raises
    ------
    InputError
        If a part has no perfect sampler.
    """
    if law.energy is None or not law.energy.product:
        return None
    parts = independent_parts(invariants)
    if len(parts) > 1:
        return PartsSampler(invariants, parts, law, choose)
    merged = merge_mirrored(invariants)
    return None if merged is None else MergedSampler(invariants, merged, law, choose)


class PartsSampler:
    """Draws part by part; parts alike share a sampler, and their draws are made at once.

    Attributes
    ----------
    method, reason : str
    error : float
        The parts' bounds, added up.
    """

    method = "independent parts"

    def __init__(self, invariants: Invariants, parts: list[Part], law: Mechanism, choose):
        self.invariants = invariants
        alike: dict[Invariants, list[np.ndarray]] = {}
        for cells, held in parts:
            alike.setdefault(Invariants(held.sparse), []).append(cells)
        self._groups = [(np.stack(cells), choose(held, law)) for held, cells in alike.items()]
        told = (f"{len(cells)} by {chosen.method}" for cells, chosen in self._groups)
        self.reason = f"no totals join these parts, which are drawn apart: {', '.join(told)}"
        self.error = sum(len(cells) * chosen.error for cells, chosen in self._groups)

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw noise, int64 (draws, cells)."""
        noise = np.zeros((whole("exact", "draws", draws), self.invariants.cells), dtype=np.int64)
        for cells, chosen in self._groups:
            drawn = chosen.sample(rng, draws * len(cells))
            noise[:, cells.ravel()] = drawn.reshape(len(noise), -1)
        return noise


class MergedSampler:
    """Draws one cell of each set that moves together.

    Attributes
    ----------
    method, reason : str
    error : float
    """

    def __init__(self, invariants: Invariants, merged: Merged, law: Mechanism, choose):
        self._merged = merged
        energy = law.energy._replace(rate=law.energy.rate * merged.times)
        self._chosen = choose(merged.invariants, _Faster(law.name, energy))
        self.method, self.error = self._chosen.method, self._chosen.error
        self.reason = (
            f"cells move together by {merged.times}, as one with {merged.times} times the rate; "
            f"then {self._chosen.reason}"
        )

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw noise, int64 (draws, cells)."""
        return self._merged.spread(self._chosen.sample(rng, draws))
