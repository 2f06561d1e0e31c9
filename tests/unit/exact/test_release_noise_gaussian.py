"""Exact Gaussian draws: around a centre, under totals, on lattices."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import ctx
from scipy.stats import chi2

from isdp import SYSTEM_RANDOMNESS, GeneralizedGaussian, InputError, Invariants, draw_noise
from isdp.exact.bits.discrete_gaussian import log_relative_mass
from isdp.exact.bits.source import BitSource
from isdp.exact.disjoint.recursive_splitting import SplittingSampler, theta_period
from isdp.exact.overlapping.compiled_klein import relative_masses
from isdp.exact.release_noise import parse_rho, rho_of_sigma
from tests.exact_noise import exact_noise


def pseudo(seed=3):
    return np.random.default_rng(seed).bytes


def weights_of_sums(cells, variance, reach=60):
    """F_m(s) for s from -reach * m on, by convolution."""
    k = np.arange(-reach, reach + 1)
    own = np.exp(-(k**2) / (2 * variance))
    total = np.ones(1)
    for _ in range(cells):
        total = np.convolve(total, own)
    return total


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(1), Fraction(5, 2)])
@pytest.mark.parametrize("cells", [2, 3, 5, 8])
def test_the_period_of_a_sum_is_that_of_the_convolution(variance, cells):
    v, sums = float(variance), weights_of_sums(cells, float(variance))
    middle, theta = len(sums) // 2, theta_period(variance, cells)
    for s in range(-cells, cells + 1):
        without = math.exp(-s * s / (2 * cells * v)) * (2 * math.pi * v) ** ((cells - 1) / 2)
        expected = sums[middle + s] / without * math.sqrt(cells)
        assert float(theta.log(s).exp()) == pytest.approx(expected, rel=1e-9)


def test_a_table_that_is_split_in_pieces_has_the_same_distribution(monkeypatch):
    monkeypatch.setattr("isdp.exact.disjoint.recursive_splitting.MAX_AT_ONCE", 3)
    cells, reach, draws = 4, 60, 5000
    invariants = Invariants.partition(["a", None, "b"] * cells + ["a"])
    noise = SplittingSampler(invariants, GeneralizedGaussian(rho="1/2")).draw(
        BitSource(pseudo()), draws
    )
    invariants.check(noise)
    own = weights_of_sums(1, 1, reach)
    others = {size: weights_of_sums(size - 1, 1, reach) for size in (1, cells, cells + 1)}
    for cell, size in ((0, cells + 1), (12, cells + 1), (1, 1), (2, cells), (11, cells)):
        middle = len(others[size]) // 2
        of_rest = others[size][middle - 3 : middle + 4] if size > 1 else np.ones(7)
        weights = own[reach - 3 : reach + 4] * of_rest
        found = np.bincount(noise[:, cell].clip(-3, 3) + 3, minlength=7)
        inside = found[1:-1]
        expected = weights[1:-1] / weights[1:-1].sum() * inside.sum()
        assert ((inside - expected) ** 2 / expected).sum() < chi2.isf(1e-7, len(inside) - 1)


def test_the_finite_sum_holds_at_every_precision():
    theta = theta_period(Fraction(1), 500)
    for s in (0, 3, 250):
        balls = []
        for precision in (192, 400):
            with ctx.workprec(precision):
                balls.append(theta.log(s))
        assert balls[0].overlaps(balls[1])
        assert balls[1].rad() < 1e-40


@pytest.mark.parametrize(("share", "refused"), [(0.98, False), (1.02, True)])
def test_sums_of_two_cells_are_drawn_up_to_64_standard_deviations_within_61_bits(share, refused):
    law = GeneralizedGaussian(math.sqrt(share * 2.0**107))
    if refused:
        with pytest.raises(InputError):
            SplittingSampler(Invariants.total(2), law)
    else:
        SplittingSampler(Invariants.total(2), law)


def test_a_flat_period_is_flat():
    theta = theta_period(Fraction(4), 6)
    assert theta.spread < 1e-9
    with ctx.workprec(192):
        assert all(-1e-9 < float(theta.log_relative(s)) <= 0 for s in range(6))
    narrow = theta_period(Fraction(1, 4), 6)
    assert narrow.spread > 0.1
    near = narrow.relative(np.arange(-6, 7))
    assert near == pytest.approx([float(narrow.log_relative(s).exp()) for s in range(-6, 7)])
    assert near[6] == 1
    assert near.min() < 0.9


@pytest.mark.parametrize("variance", [Fraction(1, 50), Fraction(1, 4), Fraction(1), Fraction(7)])
def test_the_mass_around_a_centre_in_doubles_is_that_in_balls_and_of_the_sum(variance):
    k, v = np.arange(-60, 61), float(variance)
    centres = [Fraction(i, 7) for i in range(-7, 15)]
    for centre, near in zip(
        centres, relative_masses(math.sqrt(variance), np.array(centres, float)), strict=True
    ):
        mass = np.exp(-((k - float(centre)) ** 2) / (2 * v)).sum() / np.exp(-(k**2) / (2 * v)).sum()
        assert near == pytest.approx(mass, rel=1e-12)
        assert float(log_relative_mass(variance, centre).exp()) == pytest.approx(mass, rel=1e-12)


@pytest.mark.parametrize(
    "invariants",
    [
        Invariants.total(1),
        Invariants.total(1000),
        Invariants.partition([0, 1, None, 0, 1, 0, 2]),
        Invariants.margins((3, 4)),
        Invariants([[1, 1, 1, 0], [1, -1, 0, 5]]),
        Invariants([[1, 0], [1, 1]]),
    ],
)
@pytest.mark.parametrize("rho", ["1/2", 2, "0.00000001"])
def test_totals_are_kept_at_every_scale(invariants, rho):
    noise = exact_noise(GeneralizedGaussian(rho=rho), invariants, 3, source=pseudo())
    assert noise.shape == (3, invariants.cells)
    assert not invariants.apply(noise).any()


@pytest.mark.parametrize("rho", [0, "x", "1e-30000000", 10**6])
def test_what_is_no_rho_is_refused(rho):
    with pytest.raises(InputError, match="rho"):
        draw_noise(GeneralizedGaussian(rho=rho), Invariants.total(3), rng=SYSTEM_RANDOMNESS)


@pytest.mark.parametrize("sigma", ["1e-9", -2])
def test_what_is_no_sigma_is_refused(sigma):
    with pytest.raises(InputError, match="sigma"):
        rho_of_sigma(sigma)


@pytest.mark.parametrize(
    ("invariants", "rho"),
    [
        (Invariants.total(2000), 10),
        (Invariants.total(10**6), 50),
        (Invariants.total(10**5), "1e-20"),
        (Invariants.margins((3, 3)), "1e-40"),
        (Invariants.margins((50, 50)), 2),
        (Invariants.margins((12, 12)), 2),
    ],
)
def test_what_is_out_of_reach_is_refused(invariants, rho):
    with pytest.raises(InputError):
        draw_noise(GeneralizedGaussian(rho=rho), invariants, rng=SYSTEM_RANDOMNESS)


def test_rho_and_sigma_are_read_as_they_are_written():
    assert parse_rho("0.1") == Fraction(1, 10)
    assert rho_of_sigma("2.5") == Fraction(2, 25)
    assert rho_of_sigma("1/3") == Fraction(9, 2)
