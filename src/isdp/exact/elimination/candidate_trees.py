"""Candidate elimination trees of a lattice, and the selection of the fastest tree."""

from collections.abc import Callable

from isdp.arrays import IntArray
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.elimination.memory_forecast import MAX_BYTES
from isdp.exact.elimination.tree import EliminationForest, build_forest
from isdp.exact.elimination.truncation import TruncationPlan

QUICK_PRODUCTS = 1e8  # number of products that take less time than the search for a second tree


class CandidateTrees:
    """Trees for two elimination orders: by the number of products, and by totals.

    The first order is best for narrow windows, whose splits are summed term by term. The second
    order keeps the frontier small, so that convolutions of wide windows are as small as possible.
    The arguments and errors are those of `isdp.exact.elimination.tree.build_forest`.
    """

    def __init__(self, invariants: Invariants, power: int, order: IntArray | None = None):
        self._arguments = invariants, power, order
        self._by_products = build_forest(*self._arguments)
        self._by_totals: EliminationForest | None = None

    def cheapest(
        self,
        plan_of: Callable[[EliminationForest, bool], TruncationPlan],
        convolve: bool = True,
    ) -> tuple[EliminationForest, TruncationPlan]:
        """Choose the tree that needs the fewest products and at most 2 GB of memory.

        The second tree is built only if the first needs more than 1e8 products or too much memory.
        ``plan_of(forest, convolve)`` returns a plan with or without convolutions. If `convolve` is
        False, no plan has convolutions, which need more memory.
        """

        def within(plan: TruncationPlan) -> bool:
            return plan.bytes <= MAX_BYTES

        plan = plan_of(self._by_products, convolve)
        if plan.products <= QUICK_PRODUCTS and within(plan):
            return self._by_products, plan
        if self._by_totals is None:
            self._by_totals = self._build_by_totals()
        plans = [(self._by_products, plan), (self._by_totals, plan_of(self._by_totals, convolve))]
        if convolve and not any(within(plan) for _, plan in plans):
            plans += [(forest, plan_of(forest, False)) for forest, _ in plans]
        return min(plans, key=lambda pair: (not within(pair[1]), pair[1].products))

    def _build_by_totals(self) -> EliminationForest:
        try:
            return build_forest(*self._arguments, by_totals=True)
        except InputError:  # the coefficients of this tree may be too large
            return self._by_products
