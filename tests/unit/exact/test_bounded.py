"""How seldom the fewest cells above zero are missed, with more digits."""

import math

import numpy as np
from flint import arb, arb_poly, ctx

from isdp import GeneralizedLaplace, Invariants
from isdp.exact.bounded import LOG_MISSED, BoundedSampler


def test_fewest_cells_above_zero_are_missed_as_seldom_as_is_said():
    """The number of cells that are not below zero, as a product of coins, at 400 bits."""
    rng = np.random.default_rng(5)
    for counts in (rng.integers(0, 3, 900), rng.integers(20, 90, 900), np.full(800, 7)):
        sampler = BoundedSampler(Invariants.total(len(counts)), GeneralizedLaplace(0.2), -counts)
        ((_, block),) = sampler._blocks
        with ctx.workprec(400):
            law = arb_poly([1])
            for deepest in counts.tolist():
                below = block._cells._log_share(deepest).exp() if deepest else arb(0)
                law *= arb_poly([below, 1 - below])
            missed = sum((law[n] for n in range(block._least)), arb(0))
        assert block._least > 1
        assert missed < math.exp(-LOG_MISSED)
