"""Staged rejection and variable elimination draw from the same, exact distribution."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from isdp import GeneralizedLaplace, Invariants
from isdp.exact import enumerate_distribution, total_distribution
from isdp.exact.bits.source import BitSource
from isdp.exact.elimination import TruncatedEliminationSampler
from isdp.exact.elimination.laplace_sampler import EliminationSampler, proposal_ratio
from isdp.exact.overlapping.cell_classes import CellClassSampler
from isdp.testing import (
    FALSE_ALARM_RATE,
    DistributionError,
    check_distribution,
    check_mean,
    count_points,
)
from tests.distributions import CUTS, binned, cell_distribution, l1

LATTICES = {
    "2 x 3 table": Invariants.margins((2, 3)),
    "free cell, entries other than 0 and 1": Invariants([[2, 3, 0], [4, 6, 0]]),
    "a sum and an alternating sum": Invariants([[1, 1, 1, 1], [1, -1, 1, 2]]),
    "nested sums that overlap": Invariants([[1, 1, 1, 0], [0, 1, 1, 1]]),
}
SAMPLERS = {
    "messages": lambda invariants, epsilon: EliminationSampler(invariants, l1(epsilon)),
    "staged": lambda invariants, epsilon: CellClassSampler(invariants, l1(epsilon)),
}
DRAWS = 5_000


def pseudo(seed=31):
    return BitSource(np.random.default_rng(seed).bytes)


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", LATTICES)
def test_distribution_on_lattices_small_enough_to_enumerate(sampler, name):
    invariants = LATTICES[name]
    law = enumerate_distribution(invariants, GeneralizedLaplace(0.5))
    drawn = SAMPLERS[sampler](invariants, Fraction(1, 2)).draw(pseudo(), DRAWS)
    check_distribution(count_points(drawn, law.points), np.append(law.pmf, 0.0))
    norms = abs(law.points).sum(axis=1)
    sd = np.sqrt((law.pmf * norms**2).sum() - (law.pmf * norms).sum() ** 2)
    check_mean(abs(drawn).sum(axis=1), (law.pmf * norms).sum(), sd)
    off = SAMPLERS[sampler](invariants, Fraction(9, 16)).draw(pseudo(), DRAWS)
    with pytest.raises(DistributionError):
        check_mean(abs(off).sum(axis=1), (law.pmf * norms).sum(), sd)


def test_a_small_ball_and_the_tries_outside_make_one_distribution():
    """Much of the probability lies outside a small ball, where the rarer proposals are needed."""
    invariants, epsilon = Invariants.total(2), Fraction(1, 2)
    sampler = EliminationSampler(invariants, l1(epsilon))
    law = enumerate_distribution(invariants, GeneralizedLaplace(0.5))
    assert 0.1 < law.pmf[abs(law.points).sum(axis=1) > 2].sum() < 0.5
    # a bound with which no probability is above 1
    spread = math.log(proposal_ratio()) - math.log(math.tanh(1 / 8)) - 1
    sampler.radius, sampler.theta, sampler.log_bound = 2, Fraction(1, 2), Fraction(spread)
    drawn = sampler.draw(pseudo(), 2_000)
    check_distribution(count_points(drawn, law.points), np.append(law.pmf, 0.0))


def test_messages_with_wide_windows_give_the_distribution_of_a_cell():
    """Messages are convolved there."""
    law, cuts = total_distribution(12, 1e-3), 150 * np.array(CUTS)
    drawn = EliminationSampler(Invariants.total(12), l1("1/1000")).draw(pseudo(), DRAWS)
    pmf = np.bincount(np.searchsorted(cuts, law.support, "right"), law.pmf, len(cuts) + 1)
    for cell in (0, 6, 11):
        check_distribution(binned(drawn[:, cell], cuts), pmf)
    with pytest.raises(DistributionError):
        check_distribution(binned(1.15 * drawn[:, 0], cuts), pmf)


@pytest.mark.parametrize("shape", [(2, 30), (3, 5)])
def test_both_samplers_and_the_one_in_floating_point_draw_from_one_distribution(shape):
    invariants, epsilon = Invariants.margins(shape), Fraction(1, 4)
    draws = [make(invariants, epsilon).draw(pseudo(), 3_000) for make in SAMPLERS.values()]
    floating = TruncatedEliminationSampler(invariants, GeneralizedLaplace(0.25))
    draws.append(floating.sample(np.random.default_rng(5), 3_000))
    norms = [abs(drawn).sum(axis=1) for drawn in draws]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert stats.ks_2samp(norms[i], norms[j]).pvalue > FALSE_ALARM_RATE
        assert stats.ks_2samp(draws[i][:, 0], draws[j][:, 0]).pvalue > FALSE_ALARM_RATE
    off = CellClassSampler(invariants, l1("3/10")).draw(pseudo(), 3_000)
    assert stats.ks_2samp(norms[0], abs(off).sum(axis=1)).pvalue < FALSE_ALARM_RATE
    pmf = cell_distribution(invariants, GeneralizedLaplace(0.25), 0, CUTS)
    for drawn in draws[:2]:
        check_distribution(binned(drawn[:, 0], CUTS), pmf)
