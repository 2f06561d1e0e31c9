"""Cell classes, parts and tied cells against enumerations and convolutions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.signal import fftconvolve

from isdp import GeneralizedGaussian, GeneralizedLaplace, Invariants
from isdp.exact import enumerate_distribution, select_sampler
from isdp.exact.bits.negative_binomial import NegativeBinomials
from isdp.exact.bits.source import BitSource
from isdp.exact.disjoint.bounded_laplace import BoundedCompositionSampler
from isdp.exact.elimination.truncated_sampler import TruncatedEliminationSampler
from isdp.exact.overlapping.cell_classes import CellClassSampler
from isdp.exact.overlapping.class_sums import CellClassSums
from isdp.testing import DistributionError, check_distribution, check_mean, count_points
from tests.distributions import CUTS, binned, cell_distribution, l1
from tests.exact_noise import exact_noise

STATES_BY_SEX = Invariants([[1, 1, 1, 0, 0], [0, 0, 0, 1, 1], [1, 1, 0, 1, 0]])
LATTICES = {
    "two states by sex, two cells of a type": STATES_BY_SEX,
    "2 x 3 table": Invariants.margins((2, 3)),
    "3 x 3 table": Invariants.margins((3, 3)),
    "two sets that overlap": Invariants([[1, 1, 1, 0, 0], [0, 1, 1, 1, 1]]),
    "no set of equal entries": Invariants([[1, 2, -1, 1], [2, 0, 1, -1]]),
    "a divisor": Invariants([[2, 3, 3, 0], [0, 1, 1, 2]]),
    "two totals across one": Invariants([[1, 1, 1, 1, 1], [1, 1, 0, 0, 2], [0, 0, 1, 1, 1]]),
}
APART = {
    "two 2 x 2 tables and a free cell": Invariants(
        np.pad(np.kron(np.eye(2, dtype=int), Invariants.margins((2, 2)).matrix), ((0, 0), (0, 1)))
    ),
    "2 x 3 table": Invariants.margins((2, 3)),
    "a total beside a table": Invariants(
        [[1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 0, 2, 0]]
    ),
    "tied sets of two and of three": Invariants.subsets(
        [[0, 1], [2, 3], [3, 4], [5, 6], [0, 2, 5]], 7
    ),
    "cells that mirror one another twice": Invariants([[1, 1, 0, 0], [0, 1, -1, 0], [0, 0, 2, 2]]),
}
DRAWS = 10_000


def bits(seed=41):
    return BitSource(np.random.default_rng(seed).bytes)


def law_of(invariants, epsilon):
    radius = 26 / epsilon if invariants.cells > 5 else None
    law = enumerate_distribution(invariants, GeneralizedLaplace(epsilon), radius)
    assert law.left_out < 1e-3
    return law


def check_points(draws, law):
    counts = count_points(draws, law.points)
    assert counts[-1] <= 1  # beyond the points, where two of 30,000 are with a probability of 2e-7
    check_distribution(counts[:-1], law.pmf)


@pytest.mark.parametrize("epsilon", [Fraction(7, 10), Fraction(3, 2)])
@pytest.mark.parametrize("name", LATTICES)
def test_sums_of_types_on_lattices_small_enough_to_enumerate(name, epsilon):
    invariants = LATTICES[name]
    law = law_of(invariants, float(epsilon))
    check_points(CellClassSampler(invariants, l1(epsilon)).draw(bits(), DRAWS), law)
    sampler = CellClassSampler(invariants, GeneralizedLaplace(float(epsilon)))
    check_points(sampler.sample(np.random.default_rng(42), DRAWS), law)


@pytest.mark.parametrize("name", ["two states by sex, two cells of a type", "2 x 3 table"])
def test_power_an_epsilon_off_by_a_tenth_is_caught(name):
    invariants = LATTICES[name]
    draws = CellClassSampler(invariants, l1("0.77")).draw(bits(), DRAWS)
    with pytest.raises(DistributionError):
        check_points(draws, law_of(invariants, 0.7))


@pytest.mark.parametrize("epsilon", [0.7, 1.5])
@pytest.mark.parametrize("name", APART)
def test_parts_and_mirrored_cells_on_lattices_small_enough_to_enumerate(name, epsilon):
    invariants, mechanism = APART[name], GeneralizedLaplace(epsilon)
    law = law_of(invariants, epsilon)
    check_points(
        select_sampler(mechanism, invariants).sample(np.random.default_rng(43), DRAWS), law
    )
    source = np.random.default_rng(44).bytes
    released = exact_noise(GeneralizedLaplace(epsilon), invariants, DRAWS, source=source)
    check_points(released, law)
    wrong = law.pmf**1.3  # the distribution at 1.3 times the epsilon
    with pytest.raises(DistributionError):
        check_points(released, law._replace(pmf=wrong / wrong.sum()))


@pytest.mark.parametrize("name", APART)
def test_parts_and_mirrored_cells_of_gaussian_noise(name):
    sigma, invariants = 1.4, APART[name]
    points = enumerate_distribution(
        invariants, GeneralizedLaplace(1.0, "l2"), radius=9 * sigma + 1
    ).points
    weights = np.exp(-(points.astype(float) ** 2).sum(axis=1) / (2 * sigma**2))
    chosen = select_sampler(GeneralizedGaussian(sigma), invariants)
    draws = chosen.sample(np.random.default_rng(45), DRAWS)
    check_distribution(count_points(draws, points), np.append(weights / weights.sum(), 0.0))
    wrong = weights ** (1.15**-2)  # the distribution at 1.15 times the sigma
    with pytest.raises(DistributionError):
        check_distribution(count_points(draws, points), np.append(wrong / wrong.sum(), 0.0))


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 4), Fraction(3)])
@pytest.mark.parametrize("counts", [1, 2, 1000, 10**6])
def test_sums_of_counts_are_negative_binomial(counts, epsilon):
    drawn = NegativeBinomials([5, counts], epsilon).draw(bits(), np.ones(20_000, dtype=np.int64))
    for parts, right in ((counts, True), (counts + 1 + counts // 50, False)):
        law = stats.nbinom(parts, -math.expm1(-epsilon))
        edges = np.unique(law.ppf(np.arange(1, 50) / 50))
        below = np.concatenate([[0.0], law.cdf(edges), [1.0]])
        binned = np.bincount(np.searchsorted(edges, drawn), minlength=len(edges) + 1)
        if right:
            check_distribution(binned, np.diff(below))
        else:
            with pytest.raises(DistributionError):
                check_distribution(binned, np.diff(below))


def law_of_a_sum(cells, epsilon, half):
    """P(s) for |s| <= half of a sum of double geometric variables, by convolution."""
    law = stats.nbinom(cells, -math.expm1(-epsilon)).pmf(np.arange(20 * half))
    both = fftconvolve(law, law[::-1])[len(law) - 1 - half : len(law) + half]
    return np.clip(both, 0.0, None)


def test_sums_over_large_types_follow_the_convolution():
    # given the totals of five states one sum a state is open, and they add up to zero
    epsilon, half = 0.5, 1500
    sizes = np.array([[2000, 1500], [700, 3000], [40, 900], [2500, 2500], [1000, 1]])
    sums, less = CellClassSums(Invariants.margins((5, 2)), sizes.ravel(), Fraction(1, 2)).draw(
        bits(), 7_000
    )
    assert (less >= 0).all()
    assert (sums + less >= 0)[:, sizes.ravel() > 1].all()
    per_state = [
        law_of_a_sum(m, epsilon, half) * law_of_a_sum(n, epsilon, half) for m, n in sizes.tolist()
    ]
    for state in range(5):
        others = np.ones(1)
        for other in range(5):
            if other != state:
                others = fftconvolve(others, per_state[other])
        middle = len(others) // 2
        pmf = per_state[state] * others[middle - half : middle + half + 1][::-1]
        pmf = np.clip(pmf / pmf.sum(), 0, None)
        drawn = sums[:, 2 * state] + half
        check_distribution(np.bincount(drawn, minlength=2 * half + 1), pmf)
        wrong = per_state[state] / per_state[state].sum()  # as if nothing were held across
        if state in (0, 3):
            with pytest.raises(DistributionError):
                check_distribution(np.bincount(drawn, minlength=2 * half + 1), wrong)


def test_cells_within_large_types_follow_the_distribution_of_their_sum():
    # the mean square of a cell: given the sum of its type it is that under a total of the sum
    epsilon, cells = 0.5, 300
    sums, half = law_of_a_sum(cells, epsilon, 600), 600
    # two sets that overlap: their sums are s, -s and -s, and s is free
    pmf = sums**3
    pmf /= pmf.sum()
    s = np.arange(-half, half + 1)
    variance_of_sum = (pmf * s.astype(float) ** 2).sum()
    sets = np.repeat([[1, 1, 0], [0, 1, 1]], cells, axis=1)
    sampler = CellClassSampler(Invariants(sets), GeneralizedLaplace(epsilon))
    draws = sampler.sample(np.random.default_rng(47), 4_000)
    middle = draws[:, cells : 2 * cells].sum(axis=1)
    assert (draws[:, :cells].sum(axis=1) == -middle).all()
    check_distribution(np.bincount(middle + half, minlength=len(s)), pmf)
    first, second = draws[:, cells].astype(float), draws[:, 2 * cells - 1].astype(float)
    # cells are exchangeable, so that any cell's product with the sum has the same mean
    check_mean(first * middle, variance_of_sum / cells)
    check_mean(second * middle, variance_of_sum / cells)
    released = CellClassSampler(Invariants(sets), l1("1/2")).draw(bits(48), 2_000)
    middle = released[:, cells : 2 * cells].sum(axis=1)
    check_distribution(np.bincount(middle + half, minlength=len(s)), pmf)
    pooled = np.abs(released[:, cells : 2 * cells]).sum(axis=1)
    same = np.abs(draws[:, cells : 2 * cells]).sum(axis=1)
    spread = math.sqrt(same.var() + pooled.var() * len(same) / len(pooled))
    check_mean(same - pooled.mean(), 0.0, spread)


def test_sums_of_types_agree_with_messages_on_a_table():
    invariants, epsilon, step = Invariants.margins((3, 4)), 0.5, 1e-3
    draws = CellClassSampler(invariants, l1("1/2")).draw(bits(49), 10_000)
    below, centre, above = (
        TruncatedEliminationSampler(invariants, GeneralizedLaplace(epsilon + h)).log_normaliser
        for h in (-step, 0.0, step)
    )
    norm = np.abs(draws).sum(axis=1)
    mean = -(above - below) / (2 * step)  # E ||u|| = -d log Z / d epsilon
    sd = math.sqrt((above + below - 2 * centre) / step**2)
    check_mean(norm, mean, sd)
    with pytest.raises(DistributionError):
        check_mean(1.05 * norm, mean, sd)
    pmf = cell_distribution(invariants, GeneralizedLaplace(epsilon), 5, CUTS)
    check_distribution(binned(draws[:, 5], CUTS), pmf)


BOUNDS = {
    "below zero": [-1, -4, -1, -2],
    "mostly at zero": [0, 0, -3, -1],
    "one above zero": [1, -5, -1, 0],
    "wide": [-30, -30, -30, 0],
    "without room": [0, 0, 0, -40],
    "one far above zero": [3, -9, -9, -9],
}


def bounded_law(lower, epsilon):
    """Points and probabilities of three cells under a total, and a free one, above their bounds.

    Under the total no cell passes the others' bounds; of the free cell less than 1e-13 is left out.
    """
    most = lower[:3] - lower[:3].sum()
    u, v = (x.ravel() for x in np.meshgrid(*map(np.arange, lower[:2], most[:2] + 1)))
    total = np.stack([u, v, -u - v], axis=1)
    total = total[total[:, 2] >= lower[2]]
    free = np.arange(lower[3], int(30 / epsilon) + 1)
    points = np.column_stack([np.repeat(total, len(free), axis=0), np.tile(free, len(total))])
    weights = np.exp(-epsilon * np.abs(points).sum(axis=1))
    return points, weights / weights.sum()


@pytest.mark.parametrize(("epsilon", "draws"), [(0.2, 2_000), (0.9, 1_000)])
@pytest.mark.parametrize("name", BOUNDS)
def test_bounded_noise_on_lattices_small_enough_to_enumerate(name, epsilon, draws):
    lower, invariants = np.array(BOUNDS[name]), Invariants.partition([0, 0, 0, None])
    sampler = BoundedCompositionSampler(invariants, GeneralizedLaplace(epsilon), lower)
    draws = sampler.sample(np.random.default_rng(50), draws)
    points, pmf = bounded_law(lower, epsilon)
    counts = count_points(draws, points)
    check_distribution(counts, np.append(pmf, 0.0))
    check_norm(draws, points, pmf)
    wrong = pmf**1.3  # the distribution at 1.3 times the epsilon
    with pytest.raises(DistributionError):
        check_norm(draws, points, wrong / wrong.sum())


def check_norm(draws, points, pmf):
    """Compare the mean size of the noise, which tells all of epsilon."""
    norms = np.abs(points).sum(axis=1)
    mean = (pmf * norms).sum()
    check_mean(np.abs(draws).sum(axis=1), mean, math.sqrt((pmf * (norms - mean) ** 2).sum()))


def test_bounded_noise_agrees_with_messages_on_many_cells():
    rng, cells, law = np.random.default_rng(51), 60, GeneralizedLaplace(0.3)
    counts = rng.poisson(np.where(np.arange(cells) % 2, 0.4, 6.0))
    bounded = BoundedCompositionSampler(Invariants.total(cells), law, -counts)
    draws = bounded.sample(rng, 3_000)
    assert (draws >= -counts).all()
    for cell in (0, 1, 30, 31):
        cuts = [cut for cut in CUTS if cut > -counts[cell]]
        pmf = cell_distribution(Invariants.total(cells), law, cell, cuts, -counts)
        check_distribution(binned(draws[:, cell], cuts), pmf)
    other = int(np.flatnonzero(counts != counts[0])[0])
    cuts = [cut for cut in CUTS if cut > -counts[other]]
    pmf = cell_distribution(Invariants.total(cells), law, other, cuts, -counts)
    with pytest.raises(DistributionError):
        check_distribution(binned(draws[:, 0], cuts), pmf)
