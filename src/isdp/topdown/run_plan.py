"""Settings of a TopDown run: axes, budget, held totals, and passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from isdp.arrays import BoolArray
from isdp.checks import check_choice
from isdp.errors import InputError
from isdp.topdown.budget import Budget, Schema

if TYPE_CHECKING:
    from isdp.topdown.known_presence import KnownPresence

Passes = Literal["one", "isolate_total"]


@dataclass(frozen=True)
class Plan:
    """Settings of a run.

    Parameters
    ----------
    budget : Budget
        For every level of the hierarchy.
    held : tuple of str
        Levels whose regions have exact totals. The totals of all levels above are exact too.
    nonnegative : bool
        If false, counts may be negative, and cells that are zero at the parent are not dropped.
    passes : {"one", "isolate_total"}
        "one" uses all queries at once. "isolate_total" first estimates the totals of the regions
        from the query "total" alone; the other queries then keep them.
    structural_zeros : tuple of int
        Cells that are zero for every data set.
    one_pass_at : tuple of str
        Levels that use all queries at once, even with "isolate_total".
    known : KnownPresence, optional
        Groups of people that are known to be present or absent in the smallest regions. The group
        totals are then estimated first.

    Raises
    ------
    InputError
        If `passes` is unknown, a structural zero is not a cell, or `known` does not fit the other
        settings.
    """

    schema: Schema
    budget: Budget
    held: tuple[str, ...] = ()
    nonnegative: bool = True
    passes: Passes = "one"
    structural_zeros: tuple[int, ...] = ()
    one_pass_at: tuple[str, ...] = ()
    known: KnownPresence | None = None

    def __post_init__(self) -> None:
        unknown = set(self.structural_zeros) - set(range(self.schema.cells))
        if unknown:
            raise InputError(
                f"topdown: structural zeros {sorted(unknown)} are not cells; the cells are 0 to "
                f"{self.schema.cells - 1}"
            )
        check_choice("topdown: passes", self.passes, get_args(Passes))
        if self.known is not None:
            self._check_known(self.known)

    def _check_known(self, known: KnownPresence) -> None:
        if not self.nonnegative:
            raise InputError("topdown: known groups need nonnegative=True")
        group = known.group_of_cells(self.schema)
        possible_cells = np.bincount(group[self.possible], minlength=group.max() + 1)
        if known.allowed.shape[1] != len(possible_cells):
            raise InputError("topdown: the number of known groups does not fit the axes")
        if known.allowed[:, possible_cells == 0].any():
            raise InputError("topdown: all cells of an allowed group are structural zeros")

    def isolates_total(self, level: str) -> bool:
        """Return true if the totals of a level are estimated before its cells."""
        return self.passes == "isolate_total" and level not in self.one_pass_at

    @property
    def possible(self) -> BoolArray:
        """Mask of the cells that are not structural zeros, bool (cells,)."""
        possible = np.ones(self.schema.cells, dtype=bool)
        possible[list(self.structural_zeros)] = False
        return possible
