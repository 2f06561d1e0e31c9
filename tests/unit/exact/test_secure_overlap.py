"""Exact draws under totals that overlap: staged rejection and messages."""

import math
from fractions import Fraction

import numpy as np
import pytest

from isdp import GeneralizedLaplace, InputError, Invariants
from isdp.exact import choose, release
from isdp.exact.coins import BitSource
from isdp.exact.messages.rejection import SPARED, MessageSampler, rarer
from isdp.exact.messages.sampler import DynamicSampler
from isdp.exact.staged import StagedSampler
from tests.laws import l1

QUARTER = l1("1/4")
UNEVEN = Invariants([[1, 1, 1, 1, 0], [1, -1, 1, 2, 0]])


def pseudo(seed=3):
    return BitSource(np.random.default_rng(seed).bytes)


@pytest.mark.parametrize("sampler", [MessageSampler, StagedSampler])
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


def test_few_counts_at_a_time_give_the_same_draws_as_many(monkeypatch):
    """The loop stops wherever counts run out and goes on there."""
    sampler = StagedSampler(Invariants.margins((3, 3)), QUARTER)
    counts = sampler._geometric.draw(pseudo(), 1 << 20)

    class Dealt:
        def __init__(self, at_once):
            self.at, self.at_once = 0, at_once

        def draw(self, words, count):
            self.at += self.at_once
            return counts[self.at - self.at_once : self.at]

    found = []
    for at_once in (7, 100, 1 << 18):
        sampler._geometric = Dealt(at_once)
        found.append(sampler.draw(None, 8))
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


def test_a_count_beyond_64_bits_is_an_error_and_not_a_wrong_draw(monkeypatch):
    sampler = StagedSampler(Invariants.margins((2, 2)), QUARTER)
    counts = np.zeros(1 << 16, dtype=np.int64)
    counts[5] = sampler._largest + 1
    monkeypatch.setattr(sampler, "_geometric", type("Far", (), {"draw": lambda *_: counts})())
    with pytest.raises(InputError, match="64 bits"):
        sampler.draw(pseudo(), 1)


def test_chances_of_the_proposal_are_what_is_said_of_them():
    """All ways that each split of a small lattice can go, with their whole chances out of 2^63."""
    sampler = MessageSampler(Invariants.margins((2, 2)), l1(1))
    noise, shares = sampler._propose(pseudo(), 20_000)
    chance = {}
    for cells, own in zip(noise[:, 0].tolist(), shares.tolist(), strict=True):
        found = Fraction(math.prod(own), 1 << 63 * len(own))
        assert chance.setdefault(cells, found) == found
    spared = len(shares[0]) * SPARED
    assert 1 - 2 * spared - 1e-4 < sum(chance.values()) <= 1
    a = math.exp(-1)
    for cell, own in chance.items():  # the noise of a 2 x 2 table is one number, k four times
        law = (1 - a**4) / (1 + a**4) * a ** (4 * abs(cell))
        assert float(own) == pytest.approx(law, rel=1e-6)


def test_the_bound_holds_with_every_chance_inside_the_ball():
    sampler = MessageSampler(Invariants.margins((3, 3)), QUARTER)
    noise, shares = sampler._propose(pseudo(), 3_000)
    norms = abs(noise).sum(axis=1)
    inside = norms <= sampler.radius
    logs = (63 * math.log(2) - np.log(shares.astype(float))).sum(axis=1)
    logs -= float(sampler.log_bound) + 0.25 * norms
    assert logs[inside].max() < 0
    assert logs[inside].max() > -1e-5  # and hardly any try is lost by it


def test_the_bound_is_the_normaliser_and_the_ball_reaches_far_enough():
    invariants = Invariants.margins((3, 3))
    sampler = MessageSampler(invariants, QUARTER)
    reference = DynamicSampler(invariants, GeneralizedLaplace(0.25)).log_normaliser
    # the windows leave some of the law to the tries outside
    assert reference - 1e-2 < float(sampler.log_bound) < reference + 1e-5
    theta, d = float(sampler.theta), sampler.dimension
    log = math.log(rarer()) - float(sampler.log_bound) - (1 - theta) * 0.25 * (sampler.radius + 1)
    assert log - d * math.log(math.tanh(theta * 0.25 / 2)) < 0


def test_tries_outside_the_ball_are_outside_and_kept_now_and_then():
    sampler = MessageSampler(UNEVEN, QUARTER)
    heads, noise = sampler._try_outside(pseudo(), 40_000)
    assert heads.any()
    assert (abs(noise[heads]).sum(axis=1) > sampler.radius).all()
    assert not sampler_applied(noise[heads]).any()


def sampler_applied(noise):
    return Invariants(UNEVEN.matrix[:, :4]).apply(noise)


@pytest.mark.parametrize(
    ("shape", "held"), [((6, 6), ((0,), (1,))), ((10, 2, 5), ((0, 1), (1, 2)))]
)
def test_what_the_sampler_for_experiments_takes_comes_out(shape, held):
    invariants = Invariants.margins(shape, held)
    noise = release(invariants, "1/4", source=np.random.default_rng(4).bytes)
    assert not invariants.apply(noise).any()
    assert noise.any()


def test_messages_are_taken_where_many_draws_take_many_tries():
    invariants = Invariants.margins((2, 8, 2), ((0, 1), (1, 2)))
    few, many = (choose(Invariants.margins((4, 4)), QUARTER, draws=n) for n in (1, 10**5))
    assert (few.method, many.method) == ("staged rejection", "messages")
    for chosen in (few, many):
        assert not Invariants.margins((4, 4)).apply(chosen.draw(pseudo(), 5)).any()
    assert choose(invariants, QUARTER, quick=True).method != "messages"


def test_where_neither_is_practical_it_is_said_of_both():
    with pytest.raises(InputError, match=r"may take .* tries.* GB"):
        choose(Invariants.margins((12, 12)), QUARTER)
