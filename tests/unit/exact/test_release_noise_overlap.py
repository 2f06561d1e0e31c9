"""Exact draws under totals that overlap: sums of cell classes and messages."""

import math

import numpy as np
import pytest

from isdp import GeneralizedLaplace, Invariants
from isdp.exact import select_sampler
from isdp.exact.bits.source import BitSource
from isdp.exact.elimination.laplace_sampler import EliminationSampler, proposal_ratio
from isdp.exact.elimination.truncated_sampler import TruncatedEliminationSampler
from isdp.exact.overlapping.cell_classes import CellClassSampler
from tests.distributions import l1

QUARTER = l1("1/4")
UNEVEN = Invariants([[1, 1, 1, 1, 0], [1, -1, 1, 2, 0]])


def pseudo(seed=3):
    return BitSource(np.random.default_rng(seed).bytes)


@pytest.mark.parametrize("sampler", [EliminationSampler, CellClassSampler])
@pytest.mark.parametrize(
    "invariants",
    [Invariants.margins((3, 4)), UNEVEN, Invariants([[2, 3, 0], [4, 6, 0]]), Invariants([[5]])],
)
def test_every_draw_keeps_the_totals_and_a_source_decides_it(sampler, invariants):
    drawn = sampler(invariants, QUARTER).draw(pseudo(), 50)
    assert drawn.shape == (50, invariants.cells)
    assert not invariants.apply(drawn).any()
    assert (drawn == sampler(invariants, QUARTER).draw(pseudo(), 50)).all()
    assert sampler(invariants, QUARTER).draw(pseudo(), 0).shape == (0, invariants.cells)


def test_the_bound_is_the_normaliser_and_the_ball_reaches_far_enough():
    invariants = Invariants.margins((3, 3))
    sampler = EliminationSampler(invariants, QUARTER)
    reference = TruncatedEliminationSampler(invariants, GeneralizedLaplace(0.25)).log_normaliser
    # the windows leave some of the distribution to the proposals outside
    assert reference - 1e-2 < float(sampler.log_bound) < reference + 1e-5
    theta, d = float(sampler.theta), sampler.dimension
    log = (
        math.log(proposal_ratio())
        - float(sampler.log_bound)
        - (1 - theta) * 0.25 * (sampler.radius + 1)
    )
    assert log - d * math.log(math.tanh(theta * 0.25 / 2)) < 0


def test_messages_are_taken_where_many_draws_take_many_tries():
    invariants = Invariants.margins((2, 8, 2), ((0, 1), (1, 2)))
    few, many = (select_sampler(QUARTER, Invariants.margins((4, 4)), n_draws=n) for n in (1, 10**5))
    assert (few.method, many.method) == ("sums of types", "messages")
    for chosen in (few, many):
        assert not Invariants.margins((4, 4)).apply(chosen.draw(pseudo(), 5)).any()
    assert select_sampler(QUARTER, invariants, quick=True).method != "messages"
