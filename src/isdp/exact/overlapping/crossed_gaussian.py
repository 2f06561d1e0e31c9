"""Exact draws of isotropic Gaussian noise under the totals of two crossing partitions.

This noise is crossing noise with terms for cells only. The rows of
`isdp.exact.overlapping.crossed_totals` are sets of regions, and the columns are groups of cells. A
draw takes time linear in the number of cells.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.sparse import vstack

from isdp.arrays import IntArray
from isdp.constraints.invariants import Invariants
from isdp.errors import MisfitError
from isdp.exact.bits.discrete_gaussian import gaussian_variance
from isdp.exact.bits.source import BitSource
from isdp.exact.nested.crossing_sampler import MAX_PROPOSALS, CrossingSampler
from isdp.exact.overlapping.crossed_totals import CrossedTotals, crossed_totals, incidence_of
from isdp.mechanisms.base import CrossingEnergy, Mechanism, Target, check_energy
from isdp.mechanisms.set_tree import SetTree


class CrossedTotalsSampler(CrossingSampler):
    """Independent exact draws from P(u) proportional to exp(-||u||^2 / (2 sigma^2)), for A u = 0.

    The invariants are the totals of two partitions of the cells, such as regions and classes, that
    cross with proportional numbers of cells. The cells are in any order.

    Raises
    ------
    InputError
        If the weight or the invariants have another form, draws take more than `max_proposals`, or
        sums of noise could exceed 64-bit integers.
    """

    method = "crossed totals"
    reason = "the noise is Gaussian, and the totals are those of two crossing partitions"
    setting = "sigma"
    remedy = "Use a larger sigma."

    def __init__(
        self,
        invariants: Invariants,
        target: Target | Mechanism,
        max_proposals: float = MAX_PROPOSALS,
    ):
        energy = check_energy(self.method, target, [(2, False)])
        crossed = crossed_totals(invariants)
        if crossed is None:
            raise MisfitError(
                f"{self.method}: the invariants must be the totals of two partitions, such as "
                f"regions and classes. The number of cells of each class must be proportional in "
                f"all regions"
            )
        self._places = crossed.product_places()
        order = np.argsort(self._places)
        totals = [incidence_of(labels[order]) for labels in (crossed.row, crossed.column)]
        product = Invariants(vstack(totals, format="csr"))
        of_cells = _energy(crossed, 1 / gaussian_variance(energy))
        super().__init__(product, Target(target.name, None, of_cells), max_proposals)
        self.invariants = invariants

    def draw(self, bits: BitSource, n_draws: int) -> IntArray:
        """See `RandomBitSampler.draw`."""
        return super().draw(bits, n_draws)[:, self._places]


def _energy(crossed: CrossedTotals, precision: Fraction) -> CrossingEnergy:
    """Return the energy that has terms for cells only."""
    regions, groups = (
        SetTree.from_columns({"set": np.repeat(np.arange(len(sizes)), sizes)})
        for sizes in (crossed.heights, crossed.widths)
    )
    zero = Fraction(0)
    no_terms = (zero, zero, zero)
    return CrossingEnergy(regions, groups, (no_terms, no_terms, (zero, zero, precision)))
