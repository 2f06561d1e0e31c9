"""Both samplers of the release under totals that overlap draw from the law, and from one law."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from isdp import GeneralizedLaplace, Invariants
from isdp.exact import enumerate_law
from isdp.exact.coins import BitSource
from isdp.exact.messages import DynamicSampler, convolution, windows
from isdp.exact.messages import rejection as messages
from isdp.exact.messages.rejection import MessageSampler
from isdp.exact.staged import StagedSampler
from tests.laws import CUTS, binned, cell_law, l1
from tests.statistical.checks import ALPHA, LawRejected, check_law, check_mean, count_points

LATTICES = {
    "2 x 3 table": Invariants.margins((2, 3)),
    "free cell, entries other than 0 and 1": Invariants([[2, 3, 0], [4, 6, 0]]),
    "a sum and an alternating sum": Invariants([[1, 1, 1, 1], [1, -1, 1, 2]]),
    "nested sums that overlap": Invariants([[1, 1, 1, 0], [0, 1, 1, 1]]),
}
SAMPLERS = {
    "messages": lambda invariants, epsilon: MessageSampler(invariants, l1(epsilon)),
    "staged": lambda invariants, epsilon: StagedSampler(invariants, l1(epsilon)),
}
DRAWS = 5_000


def pseudo(seed=31):
    return BitSource(np.random.default_rng(seed).bytes)


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", LATTICES)
def test_law_on_lattices_small_enough_to_enumerate(sampler, name):
    invariants = LATTICES[name]
    law = enumerate_law(invariants, GeneralizedLaplace(0.5))
    drawn = SAMPLERS[sampler](invariants, Fraction(1, 2)).draw(pseudo(), DRAWS)
    check_law(count_points(drawn, law.points), np.append(law.pmf, 0.0))
    norms = abs(law.points).sum(axis=1)
    sd = np.sqrt((law.pmf * norms**2).sum() - (law.pmf * norms).sum() ** 2)
    check_mean(abs(drawn).sum(axis=1), (law.pmf * norms).sum(), sd)
    off = SAMPLERS[sampler](invariants, Fraction(9, 16)).draw(pseudo(), DRAWS)
    with pytest.raises(LawRejected):
        check_mean(abs(off).sum(axis=1), (law.pmf * norms).sum(), sd)


def test_messages_that_are_wrong_make_a_law_that_is_right():
    """Weights off by a tenth change the proposal alone, if the bound allows for it."""
    invariants = LATTICES["2 x 3 table"]
    law = enumerate_law(invariants, GeneralizedLaplace(0.5))
    sampler = MessageSampler(invariants, l1("1/2"))
    messages = sampler.filled.messages
    leaf = min(messages, key=lambda number: number)
    half = len(messages[leaf]) // 2
    messages[leaf] = messages[leaf] * np.where(np.arange(-half, half + 1) % 2, 0.9, 1.0)
    sampler.log_bound += Fraction(6, 5)  # six cells, each less than a sixth of it
    drawn = sampler.draw(pseudo(), DRAWS)
    check_law(count_points(drawn, law.points), np.append(law.pmf, 0.0))
    # and without the coins, the law is off
    noise, shares = sampler._propose(pseudo(), 2 * DRAWS)
    noise = noise[(shares > 0).all(axis=1)]
    with pytest.raises(LawRejected):
        check_law(count_points(noise, law.points), np.append(law.pmf, 0.0))


def test_convolutions_of_few_bits_make_a_law_that_is_right(monkeypatch):
    """Messages that are too large cost tries, as many as they are too large by, and no more."""
    monkeypatch.setattr(windows, "PLACE", 0.0)
    monkeypatch.setattr(convolution, "WIDEST", 3)
    invariants = Invariants.total(4)
    law = enumerate_law(invariants, GeneralizedLaplace(0.9))
    sampler = MessageSampler(invariants, l1("9/10"))
    assert sampler.filled.plan.convolutions
    drawn = sampler.draw(pseudo(), DRAWS)
    check_law(count_points(drawn, law.points), np.append(law.pmf, 0.0))
    # they are too large: of the tries as many fall among splits as the law's weight is of the bound
    hit = 1 / law.pmf.max() / np.exp(float(sampler.log_bound))  # no noise has the weight 1
    assert hit < 0.1
    _, shares = sampler._propose(pseudo(), DRAWS)
    check_mean((shares > 0).all(axis=1), hit, np.sqrt(hit * (1 - hit)))


def test_a_small_ball_and_the_tries_outside_make_one_law(monkeypatch):
    """Much of the law lies outside of a small ball, where the other tries take over."""
    invariants, epsilon = LATTICES["2 x 3 table"], Fraction(1, 2)
    law = enumerate_law(invariants, GeneralizedLaplace(0.5))
    sampler = MessageSampler(invariants, l1(epsilon))
    norms = abs(law.points).sum(axis=1)
    sampler.radius = 4
    outside = law.pmf[norms > 4].sum()
    assert 0.1 < outside < 0.5
    # every other try is one outside, and the bound gives way so that no coin is above 1
    monkeypatch.setattr(messages, "RARE_BITS", 1)
    sampler.theta, sampler.log_bound = Fraction(1, 2), Fraction(3)
    drawn = sampler._try(pseudo(), 20 * DRAWS)
    inside = abs(drawn).sum(axis=1) <= 4
    # each noise is kept by its kind of try, which every other is, with its weight over the bound
    share = 1 / law.pmf.max() / np.exp(3) / 2
    kept = np.repeat([1, 0], [len(drawn), 20 * DRAWS - len(drawn)])
    check_mean(kept, share, np.sqrt(share * (1 - share)))
    check_law(count_points(drawn, law.points), np.append(law.pmf, 0.0))
    check_mean(~inside, outside, np.sqrt(outside * (1 - outside)))


@pytest.mark.parametrize("shape", [(2, 30), (3, 5)])
def test_both_samplers_and_the_one_in_floating_point_draw_from_one_law(shape):
    invariants, epsilon = Invariants.margins(shape), Fraction(1, 4)
    draws = [make(invariants, epsilon).draw(pseudo(), 3_000) for make in SAMPLERS.values()]
    floating = DynamicSampler(invariants, GeneralizedLaplace(0.25))
    draws.append(floating.sample(np.random.default_rng(5), 3_000))
    norms = [abs(drawn).sum(axis=1) for drawn in draws]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert stats.ks_2samp(norms[i], norms[j]).pvalue > ALPHA
        assert stats.ks_2samp(draws[i][:, 0], draws[j][:, 0]).pvalue > ALPHA
    off = StagedSampler(invariants, l1("3/10")).draw(pseudo(), 3_000)
    assert stats.ks_2samp(norms[0], abs(off).sum(axis=1)).pvalue < ALPHA
    pmf = cell_law(invariants, GeneralizedLaplace(0.25), 0, CUTS)
    for drawn in draws[:2]:
        check_law(binned(drawn[:, 0], CUTS), pmf)
