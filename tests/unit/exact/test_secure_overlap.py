"""Exact draws under totals that overlap: staged rejection and messages."""

import math
from fractions import Fraction

import numpy as np
import pytest

from isdp import GeneralizedLaplace, InputError, Invariants
from isdp.exact import release, secure_overlap
from isdp.exact.coins import _Words
from isdp.exact.messages import secure as messages
from isdp.exact.messages.sampler import DynamicSampler
from isdp.exact.messages.secure import SPARED, MessageRelease, rarer
from isdp.exact.secure_overlap import OverlapRelease
from isdp.exact.secure_staged import StagedRelease

QUARTER = Fraction(1, 4)
UNEVEN = Invariants([[1, 1, 1, 1, 0], [1, -1, 1, 2, 0]])


def pseudo(seed=3):
    return _Words(np.random.default_rng(seed).bytes)


@pytest.mark.parametrize("sampler", [MessageRelease, lambda *a: StagedRelease(*a, 1e6)])
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
    sampler = StagedRelease(Invariants.margins((3, 3)), QUARTER, 1e6)
    counts = sampler.geometric.draw(pseudo(), 1 << 20)

    class Dealt:
        def __init__(self, at_once):
            self.at, self.at_once = 0, at_once

        def draw(self, words, count):
            self.at += self.at_once
            return counts[self.at - self.at_once : self.at]

    found = []
    for at_once in (7, 100, 1 << 18):
        sampler.geometric = Dealt(at_once)
        found.append(sampler.draw(None, 8))
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


def test_a_count_beyond_64_bits_is_an_error_and_not_a_wrong_draw(monkeypatch):
    sampler = StagedRelease(Invariants.margins((2, 2)), QUARTER, 1e6)
    counts = np.zeros(1 << 16, dtype=np.int64)
    counts[5] = sampler.largest + 1
    monkeypatch.setattr(sampler, "geometric", type("Far", (), {"draw": lambda *_: counts})())
    with pytest.raises(InputError, match="64 bits"):
        sampler.draw(pseudo(), 1)


def test_chances_of_the_proposal_are_what_is_said_of_them():
    """All ways that each split of a small lattice can go, with their whole chances out of 2^63."""
    sampler = MessageRelease(Invariants.margins((2, 2)), Fraction(1))
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
    sampler = MessageRelease(Invariants.margins((3, 3)), QUARTER)
    noise, shares = sampler._propose(pseudo(), 3_000)
    norms = abs(noise).sum(axis=1)
    inside = norms <= sampler.radius
    logs = (63 * math.log(2) - np.log(shares.astype(float))).sum(axis=1)
    logs -= float(sampler.log_bound) + 0.25 * norms
    assert logs[inside].max() < 0
    assert logs[inside].max() > -1e-5  # and hardly any try is lost by it


def test_the_bound_is_the_normaliser_and_the_ball_reaches_far_enough():
    invariants = Invariants.margins((3, 3))
    sampler = MessageRelease(invariants, QUARTER)
    reference = DynamicSampler(invariants, GeneralizedLaplace(0.25)).log_normaliser
    # the windows leave some of the law to the tries outside
    assert reference - 1e-2 < float(sampler.log_bound) < reference + 1e-5
    theta, d = float(sampler.theta), sampler.dimension
    log = math.log(rarer()) - float(sampler.log_bound) - (1 - theta) * 0.25 * (sampler.radius + 1)
    assert log - d * math.log(math.tanh(theta * 0.25 / 2)) < 0


def test_tries_outside_the_ball_are_outside_and_kept_now_and_then():
    sampler = MessageRelease(UNEVEN, QUARTER)
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


def test_messages_are_taken_where_rejection_is_slow(monkeypatch):
    invariants = Invariants.margins((2, 8))
    quick = OverlapRelease(invariants, QUARTER)
    assert quick.messages is None
    assert not invariants.apply(quick.draw(pseudo(), 5)).any()
    assert quick.messages is None
    monkeypatch.setattr(secure_overlap, "MANY_TRIES", 100)
    assert not invariants.apply(quick.draw(pseudo(), 5)).any()
    assert quick.messages is not None
    monkeypatch.setattr(secure_overlap, "FEW_TRIES", 10)
    assert OverlapRelease(invariants, QUARTER).messages is not None
    monkeypatch.setattr(messages, "MOST_BYTES", 10)
    slow = OverlapRelease(invariants, QUARTER)
    assert slow.messages is None
    assert not invariants.apply(slow.draw(pseudo(), 5)).any()
    monkeypatch.setattr(secure_overlap, "MOST_TRIES", 20)
    with pytest.raises(InputError, match=r"about .* tries .* GB"):
        OverlapRelease(invariants, QUARTER)
