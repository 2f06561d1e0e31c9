"""The density of the proposals of nested samplers, times their acceptance, is the weight."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from isdp.exact.bits.source import BitSource
from isdp.exact.nested import gaussian_sampler
from isdp.mechanisms import NestedGaussian
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
