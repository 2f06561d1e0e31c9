"""The trees that are tried for one lattice, and which of them takes the least time."""

from __future__ import annotations

from collections.abc import Callable

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.elimination.tree import EliminationForest, build_forest
from isdp.exact.elimination.truncation import Plan

QUICK = 1e8  # products, a tenth of a second: not worth seeking a second tree


class CandidateTrees:
    """Two ways to merge cells: by few products, and one total after the other.

    The first is best where windows are narrow, and ways to split are added up one by one. The
    second has few sums open at a time, also while two sets are merged, so that convolutions along
    wide windows are as small as they can be.

    Parameters
    ----------
    invariants, power, order
        As in `isdp.exact.elimination.tree.build_forest`.

    Raises
    ------
    InputError
        As from `build_forest`.
    """

    def __init__(self, invariants: Invariants, power: int, order=None):
        self._arguments = invariants, power, order
        self._sought = build_forest(*self._arguments)
        self._in_turn: EliminationForest | None = None

    def cheapest(
        self,
        plan_of: Callable[[EliminationForest, bool], Plan],
        most_bytes: float,
        convolve: bool = True,
    ) -> tuple[EliminationForest, Plan]:
        """Choose the tree that takes the fewest products of those that memory allows.

        The second is sought only where the first takes more than 1e8 products or too much memory.

        Parameters
        ----------
        plan_of : callable
            ``plan_of(layout, convolve)`` lays the windows out, with convolutions or without.
        convolve : bool
            Whether convolutions may be used, which take more memory.
        """

        def within(plan: Plan) -> bool:
            return plan.bytes <= most_bytes

        plan = plan_of(self._sought, convolve)
        if plan.products <= QUICK and within(plan):
            return self._sought, plan
        if self._in_turn is None:
            self._in_turn = self._lay_out_in_turn()
        plans = [(self._sought, plan), (self._in_turn, plan_of(self._in_turn, convolve))]
        if convolve and not any(within(plan) for _, plan in plans):
            plans += [(layout, plan_of(layout, False)) for layout, _ in plans]
        return min(plans, key=lambda pair: (not within(pair[1]), pair[1].products))

    def _lay_out_in_turn(self) -> EliminationForest:
        try:
            return build_forest(*self._arguments, by_totals=True)
        except InputError:  # sums of other sets of cells may have larger coefficients
            return self._sought
