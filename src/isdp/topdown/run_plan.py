"""Settings of a TopDown run: axes, budget, exact totals and passes."""

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
    """Settings of a TopDown run.

    Parameters
    ----------
    held : tuple of str
        Levels whose regions have exact totals. The totals of all levels above these levels are
        exact too.
    nonnegative : bool
        If false, counts may be negative, and cells that are zero at the parent are kept.
    passes : {"one", "isolate_total"}
        "one" uses all queries at once. "isolate_total" first estimates the totals of the regions
        from the query "total" alone. The other queries do not change these totals.
    structural_zeros : tuple of int
        Cells that are zero in every data set.
    one_pass_at : tuple of str
        Levels that use all queries at once, even if `passes` is "isolate_total".
    known : KnownPresence, optional
        Groups of people that are known to be present or absent in the smallest regions. With known
        groups, the group totals are estimated first.

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
                f"topdown: structural_zeros: {sorted(unknown)} are not cells. Use cells from 0 to "
                f"{self.schema.cells - 1}."
            )
        check_choice("topdown: passes", self.passes, get_args(Passes))
        if self.known is not None:
            self._check_known(self.known)

    def _check_known(self, known: KnownPresence) -> None:
        if not self.nonnegative:
            raise InputError(
                "topdown: known: known groups need nonnegative counts. Set nonnegative=True, or "
                "omit the known groups"
            )
        group = known.group_of_cells(self.schema)
        possible_cells = np.bincount(group[self.possible], minlength=group.max() + 1)
        if known.allowed.shape[1] != len(possible_cells):
            raise InputError(
                f"topdown: known: {known.allowed.shape[1]} groups do not fit the axes. Give one "
                f"column for each of the {len(possible_cells)} groups."
            )
        if known.allowed[:, possible_cells == 0].any():
            raise InputError(
                "topdown: known: all cells of an allowed group are structural zeros. Correct the "
                "list of groups or of structural zeros."
            )

    def isolates_total(self, level: str) -> bool:
        """Return True if the totals of a level are estimated before its cells."""
        return self.passes == "isolate_total" and level not in self.one_pass_at

    @property
    def possible(self) -> BoolArray:
        """Bool array of shape (cells,) that is false for structural zeros."""
        possible = np.ones(self.schema.cells, dtype=bool)
        possible[list(self.structural_zeros)] = False
        return possible
