"""What a run of TopDown is told: axes, budget, what is held, and the passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from isdp.checks import check_choice
from isdp.errors import InputError
from isdp.topdown.budget import Budget, Schema

if TYPE_CHECKING:
    from isdp.topdown.known_presence import KnownPresence

PASSES = ("one", "isolate_total")


@dataclass(frozen=True)
class Plan:
    """Settings of a run.

    Parameters
    ----------
    budget : Budget
        For every level of the hierarchy.
    held : tuple of str
        Levels whose regions keep their true totals. The levels above them keep theirs as well.
    nonnegative : bool
        False lets counts fall below zero, and nothing is dropped that is zero at the parent.
    passes : {"one", "isolate_total"}
        All queries at once, or first the regions' totals from the query "total" alone, which the
        other queries then have to meet.
    structural_zeros : tuple of int
        Cells that nobody can be in, whatever the data are.
    one_pass_at : tuple of str
        Levels that take all queries at once, whatever `passes` says.
    known : KnownPresence, optional
        Kinds of people that the smallest regions are known to have or not. Totals by kind are then
        estimated first, and totals with them.

    Raises
    ------
    InputError
        If `passes` is unknown, a structural zero is no cell, or what is known does not fit the
        rest.
    """

    schema: Schema
    budget: Budget
    held: tuple[str, ...] = ()
    nonnegative: bool = True
    passes: str = "one"
    structural_zeros: tuple[int, ...] = ()
    one_pass_at: tuple[str, ...] = ()
    known: KnownPresence | None = None

    def __post_init__(self):
        unknown = set(self.structural_zeros) - set(range(self.schema.cells))
        if unknown:
            raise InputError(f"topdown: structural zeros {sorted(unknown)} are no cells")
        check_choice("topdown: passes", self.passes, PASSES)
        if self.known is not None:
            self._check_known()

    def _check_known(self) -> None:
        if not self.nonnegative:
            raise InputError("topdown: what is known of kinds cannot be kept with negative counts")
        kind = self.known.group_of_cells(self.schema)
        kinds = np.bincount(kind[self.possible], minlength=kind.max() + 1)
        if self.known.allowed.shape[1] != len(kinds):
            raise InputError("topdown: what is known of kinds does not fit the axes")
        if self.known.allowed[:, kinds == 0].any():
            raise InputError("topdown: a kind that is allowed has structural zeros alone")

    def isolates_total(self, level: str) -> bool:
        """Whether a level's totals are estimated before its cells."""
        return self.passes == "isolate_total" and level not in self.one_pass_at

    @property
    def possible(self) -> np.ndarray:
        """Cells that are no structural zeros, bool (cells,)."""
        possible = np.ones(self.schema.cells, dtype=bool)
        possible[list(self.structural_zeros)] = False
        return possible
