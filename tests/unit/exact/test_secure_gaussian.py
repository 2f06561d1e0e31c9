"""Exact Gaussian draws: around a centre, under totals, on lattices."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import ctx

from isdp import GeneralizedGaussian, InputError, Invariants
from isdp.exact import choose, release, sample
from isdp.exact.coins import BitSource
from isdp.exact.gaussian import log_relative_mass, relative_mass
from isdp.exact.halving import HalvingSampler, _parts, _splits, _terms, period
from isdp.exact.klein import BITS, GaussianSampler, _excess
from isdp.exact.secure import exact_rho, rho_of_sigma
from tests.laws import gaussian


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
    middle, theta = len(sums) // 2, period(variance, cells)
    for s in range(-cells, cells + 1):
        without = math.exp(-s * s / (2 * cells * v)) * (2 * math.pi * v) ** ((cells - 1) / 2)
        expected = sums[middle + s] / without * math.sqrt(cells)
        assert float(theta.log(s).exp()) == pytest.approx(expected, rel=1e-9)


def test_the_finite_sum_holds_at_every_precision():
    theta = period(Fraction(1), 500)
    for s in (0, 3, 250):
        balls = []
        for precision in (192, 400):
            with ctx.workprec(precision):
                balls.append(theta.log(s))
        assert balls[0].overlaps(balls[1])
        assert balls[1].rad() < 1e-40


def test_terms_of_the_finite_sum_are_counted_by_the_variance_of_a_cell():
    """They fall as exp(-t^2 v m / 2) at steps of 2 pi / m, and are no more than half of m."""
    bits = 192 + 2 * math.log2(1e6 + 1)
    steps = math.sqrt(2 * bits * math.log(2) * 1e6 / 4) / (2 * math.pi)
    assert _terms(4.0, 10**6) == pytest.approx(steps, rel=1e-6)
    assert _terms(4.0, 4) == 2


@pytest.mark.parametrize(("share", "refused"), [(0.98, False), (1.02, True)])
def test_sums_of_two_cells_are_drawn_up_to_64_standard_deviations_within_61_bits(share, refused):
    law = GeneralizedGaussian(math.sqrt(share * 2.0**107))
    if refused:
        with pytest.raises(InputError, match="64-bit integers"):
            HalvingSampler(Invariants.total(2), law)
    else:
        HalvingSampler(Invariants.total(2), law)


def test_a_flat_period_is_flat():
    theta = period(Fraction(4), 6)
    assert theta.spread < 1e-9
    with ctx.workprec(192):
        assert all(-1e-9 < float(theta.log_relative(s)) <= 0 for s in range(6))
    narrow = period(Fraction(1, 4), 6)
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
        centres, relative_mass(variance, np.array(centres, float)), strict=True
    ):
        mass = np.exp(-((k - float(centre)) ** 2) / (2 * v)).sum() / np.exp(-(k**2) / (2 * v)).sum()
        assert near == pytest.approx(mass, rel=1e-12)
        assert float(log_relative_mass(variance, centre).exp()) == pytest.approx(mass, rel=1e-12)


def test_a_block_is_split_at_powers_of_two():
    assert [_parts(cells) for cells in (2, 3, 4, 7, 8, 9)] == [
        (1, 1), (2, 1), (2, 2), (4, 3), (4, 4), (8, 1),
    ]  # fmt: skip
    assert _splits(6) == {(4, 2), (2, 2), (1, 1)}


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
    noise = release(invariants, rho=rho, draws=3, source=pseudo())
    assert noise.shape == (3, invariants.cells)
    assert not invariants.apply(noise).any()
    again = release(invariants, rho=rho, draws=3, source=pseudo())
    assert (noise == again).all()


def test_the_form_is_positive_by_what_the_variances_exceed():
    """The proof in balls, against eigenvalues in doubles."""
    invariants = Invariants([[1, 2, 3, 1, 1], [1, 1, -1, 0, 5]])
    sampler = GaussianSampler(invariants, gaussian(9))
    d = len(sampler.variances)
    upper = np.eye(d) + sampler.shares / 2**BITS
    own = upper.T @ np.diag([1 / float(v) for v in sampler.variances]) @ upper
    form = sampler.basis.T @ sampler.basis / 9 - own
    assert np.linalg.eigvalsh(form).min() > -1e-15
    # shares rounded to three bits need more room, and a basis far from them is refused
    coarse = np.rint(sampler.shares / 2 ** (BITS - 3)).astype(np.int64) << (BITS - 3)
    widths = sampler.variances
    assert _excess(sampler.basis, coarse, widths, Fraction(9)) > 1e-3
    with pytest.raises(InputError, match="too skew"):
        _excess(
            sampler.basis,
            coarse + (3 << BITS) * np.triu(np.ones((d, d), int), 1),
            widths,
            Fraction(9),
        )


def test_the_sampler_for_experiments_takes_any_size():
    invariants = Invariants.partition(np.arange(30_000) % 7)
    chosen = choose(invariants, GeneralizedGaussian(1.5))
    assert (chosen.method, chosen.error) == ("halving", 0.0)
    noise = chosen.sample(np.random.default_rng(1), 2)
    assert not invariants.apply(noise).any()
    assert (noise == chosen.sample(np.random.default_rng(1), 2)).all()
    assert sample(
        np.random.default_rng(1), Invariants.total(1500), GeneralizedGaussian(0.3), 1
    ).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: release(Invariants.total(3), rho=0), "rho must lie"),
        (lambda: release(Invariants.total(3), rho="x"), "rho must be a number"),
        (lambda: release(Invariants.total(3), rho="1e-30000000"), "rho must be a number"),
        (lambda: release(Invariants.total(3), rho=10**6), "rho must lie"),
        (lambda: rho_of_sigma("1e-9"), "sigma must lie"),
        (lambda: rho_of_sigma(-2), "sigma must lie"),
        (lambda: release(Invariants.total(2000), rho=10), r"may take .* tries"),
        (lambda: release(Invariants.total(10**6), rho=50), "terms, more than 20000"),
        (lambda: release(Invariants.total(10**5), rho="1e-20"), "64-bit"),
        (lambda: release(Invariants.margins((3, 3)), rho="1e-20"), "64-bit"),
        (lambda: release(Invariants.margins((50, 50)), rho=1), "2500 cells"),
        (lambda: release(Invariants.margins((34, 34)), rho="1/20"), "1089 degrees"),
        (lambda: release(Invariants.margins((12, 12)), rho=2), r"may take .* tries"),
    ],
)
def test_what_is_out_of_range_is_refused(call, message):
    with pytest.raises(InputError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


def test_rho_and_sigma_are_read_as_they_are_written():
    assert exact_rho("0.1") == Fraction(1, 10)
    assert rho_of_sigma("2.5") == Fraction(2, 25)
    assert rho_of_sigma("1/3") == Fraction(9, 2)
    assert HalvingSampler(Invariants.total(4), gaussian(1)).expected_tries == pytest.approx(
        1, abs=1e-3
    )
    assert BitSource(pseudo()).one() != BitSource(pseudo(4)).one()
