"""The density of the proposals of nested samplers, times their acceptance, is the weight."""

import math
from collections import Counter, defaultdict
from contextlib import suppress
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb, ctx

from isdp import Invariants
from isdp.exact.bits.source import BitSource
from isdp.exact.nested import gaussian_sampler, laplace_sampler
from isdp.mechanisms import NestedGaussian, NestedLaplace, SetTree
from tests.unit.exact.nested.small_trees import FAMILIES, scales_of, small_noise

REACH = np.arange(-60, 61)


def log_sum(variance, centre):
    return math.log(np.exp(-((REACH - float(centre)) ** 2) / (2 * float(variance))).sum())


def log_sum_of_cells(variance, cells, total):
    """The logarithm of the weight of all vectors of cells with a total."""
    one = np.exp(-(REACH**2) / (2 * float(variance)))
    weights = np.ones(1)
    for _ in range(cells):
        weights = np.convolve(weights, one)
    return math.log(weights[len(weights) // 2 + total])


class Densities:
    """Records the logarithm of the density of each draw, and accepts every proposal."""

    def __init__(self, monkeypatch):
        self.log = 0.0
        for name in ("draw_gaussian_around", "draw_gaussians", "split_totals", "draw_bernoulli"):
            real, own = getattr(gaussian_sampler, name), getattr(self, name)
            monkeypatch.setattr(gaussian_sampler, name, lambda *a, r=real, o=own: o(r, *a))

    def gaussian(self, drawn, variances, centres):
        for x, v, c in zip(drawn.tolist(), variances, centres, strict=True):
            self.log -= (x - float(c)) ** 2 / (2 * float(v)) + log_sum(v, c)
        return drawn

    def draw_gaussian_around(self, real, bits, variance, numerators, denominator):
        drawn = real(bits, variance, numerators, denominator)
        return self.gaussian(drawn, [variance] * len(drawn), numerators / denominator)

    def draw_gaussians(self, real, bits, variances, centres):
        return self.gaussian(real(bits, variances, centres), variances, centres)

    def split_totals(self, real, bits, variance, totals, sizes):
        cells = real(bits, variance, totals, sizes)
        self.log -= (cells**2).sum() / (2 * float(variance))
        for total, size in zip(totals.tolist(), sizes.tolist(), strict=True):
            self.log -= log_sum_of_cells(variance, size, total)
        return cells

    def draw_bernoulli(self, real, bits, near, log_probability, margin):
        with ctx.workprec(200):
            logs = [float(arb(log_probability(i)).mid()) for i in range(len(near))]
        assert np.abs(np.exp(logs) - near).max() <= margin / 2
        self.log += sum(logs)
        return np.ones(len(near), dtype=bool)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("factor", [1, "1/4"])
def test_proposals_and_their_acceptance_have_the_weights_of_the_noise(name, factor, monkeypatch):
    wide, invariants = small_noise(name)
    scales = [
        s and Fraction(s) * Fraction(factor) for s in scales_of(wide.tree.nodes, NestedGaussian)
    ]
    noise = NestedGaussian(wide.tree, scales)
    sampler = gaussian_sampler.NestedGaussianSampler(invariants, noise)
    bits, found = BitSource(np.random.default_rng(1).bytes), []
    densities = Densities(monkeypatch)
    for _ in range(40):
        densities.log = 0.0
        drawn = sampler.draw(bits, 1)
        found.append(densities.log - float(noise.log_weight(drawn)[0]))
    assert np.ptp(found) < 1e-8


LAST = 2  # from this value on, a variable that decides accepts all totals of interest


class Repeated(Exception):
    """A part is drawn again after a rejection."""


class Primitives:
    """All values of the geometric draws of a first proposal, with their probabilities.

    Each node has a rate of its own. A cell has two variables. A set and a cell at the end of a path
    have one, which decides whether the total is accepted.
    """

    def __init__(self, values, limits):
        self.values, self.limits, self.taken = values, limits, []

    def geometric(self, rate):
        return SimpleNamespace(draw=lambda bits, count: self.draw(float(rate), count))

    def log(self, rate, k):
        """The logarithm of the probability of a value, or of all values from the last one on."""
        above = k == LAST and self.limits[rate] == 1
        return -rate * k + (0 if above else math.log(-math.expm1(-rate)))

    def draw(self, rate, count):
        drawn = []
        for _ in range(count):
            at = len(self.taken)
            if [each for each, _ in self.taken].count(rate) == self.limits[rate]:
                raise Repeated
            drawn.append(self.values[at] if at < len(self.values) else 0)
            self.taken.append((rate, drawn[-1]))
        return np.array(drawn)


def first_proposals(sampler, max_log, monkeypatch):
    """The probability that the first proposal is a noise vector and is accepted.

    Paths with a probability below exp(-max_log) are not followed.
    """
    zeros = Primitives([], defaultdict(lambda: 2))  # in which no total is accepted or rejected
    monkeypatch.setattr(laplace_sampler, "cached_geometric", zeros.geometric)
    sampler.draw(BitSource(bytes), 1)
    limits = defaultdict(lambda: 1, Counter(rate for rate, _ in zeros.taken))
    found, left = defaultdict(float), [[]]
    while left:
        given = left.pop()
        primitives = Primitives(given, limits)
        monkeypatch.setattr(laplace_sampler, "cached_geometric", primitives.geometric)
        with suppress(Repeated):
            drawn = tuple(sampler.draw(BitSource(bytes), 1)[0].tolist())
            found[drawn] += math.exp(sum(primitives.log(*each) for each in primitives.taken))
        log = sum(rate * k for rate, k in primitives.taken[: len(given)])
        for at in range(len(given), len(primitives.taken)):
            rate, values = primitives.taken[at][0], [k for _, k in primitives.taken[:at]]
            most = int((max_log - log) / rate)
            most = min(most, LAST) if limits[rate] == 1 else most
            left += [[*values, k] for k in range(1, most + 1)]
    return found


@pytest.mark.parametrize(
    ("held", "max_log"), [([[0, 1]], 24), ([[0, 1, 2, 3]], 26), ([[0, 1, 2, 3], [2, 3]], 32)]
)
def test_first_proposals_of_laplace_noise_have_the_weights_of_the_noise(held, max_log, monkeypatch):
    tree = SetTree.from_sets([[0, 1, 2, 3], [0, 1], [2, 3]], 4)
    rates = [3, "16/5", "7/2", "18/5", "13/5", "5/2", "12/5"]
    noise = NestedLaplace(tree, rates)
    monkeypatch.setattr(laplace_sampler, "BLOCKS_AT_ONCE", 1)
    sampler = laplace_sampler.NestedLaplaceSampler(Invariants.subsets(held, 4), noise)
    found = first_proposals(sampler, max_log, monkeypatch)
    points = [point for point in found if found[point] > math.exp(16 - max_log)]
    assert len(points) >= 3
    weights = np.exp(noise.log_weight(np.array(points)))
    ratios = [found[point] for point in points] / weights
    assert np.ptp(ratios) < 2.0**-17
