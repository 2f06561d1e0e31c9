"""Draws of the rejection samplers against enumeration and Poisson's formula."""

import numpy as np
import pytest

from isdp import GeneralizedLaplace, Invariants
from isdp.exact import enumerate_distribution, total_distribution
from isdp.exact.overlapping.cell_classes import CellClassSampler
from isdp.exact.overlapping.compiled_klein import integer_gaussian
from isdp.exact.overlapping.klein import KleinSampler
from isdp.exact.overlapping.l2_mixture import MixtureSampler
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.testing import DistributionError, check_distribution, check_mean, count_points

LATTICES = {
    "2 x 3 table": Invariants.margins((2, 3)),
    "3 x 3 table": Invariants.margins((3, 3)),
    "three cells under a total": Invariants.total(3),
    "four cells under a total": Invariants.total(4),
    "a free cell and a divisor": Invariants([[2, 3, 0], [4, 6, 0]]),
    "two 2 x 2 tables and a free cell": Invariants(
        np.pad(np.kron(np.eye(2, dtype=int), Invariants.margins((2, 2)).matrix), ((0, 0), (0, 1)))
    ),
}
TABLE = LATTICES["2 x 3 table"]


NORMS = {"l1": CellClassSampler, "l2": MixtureSampler}


def laplace_law(invariants, epsilon, norm):
    law = enumerate_distribution(invariants, GeneralizedLaplace(epsilon, norm), radius=26 / epsilon)
    # The norm is about Gamma(d, rate epsilon) with d <= 4, which passes 26 with probability 2e-8;
    # left_out bounds that only crudely.
    assert law.left_out < 1e-3
    return law.points, law.pmf


def check_points(draws, points, pmf):
    counts = count_points(draws, points)
    assert counts[-1] <= 1  # beyond the points, where two of 30,000 are with a probability of 2e-7
    check_distribution(counts[:-1], pmf)


def draw(kind, invariants, mechanism, draws, seed=21):
    return kind(invariants, mechanism).sample(np.random.default_rng(seed), draws)


@pytest.mark.parametrize("epsilon", [0.6, 1.2])
@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("name", LATTICES)
def test_laplace_noise_on_lattices_small_enough_to_enumerate(name, norm, epsilon):
    if name == "3 x 3 table":
        epsilon *= 1.5
    draws = draw(NORMS[norm], LATTICES[name], GeneralizedLaplace(epsilon, norm), 15_000)
    check_points(draws, *laplace_law(LATTICES[name], epsilon, norm))


@pytest.mark.parametrize("s", [0.3, 0.49, 0.5, 1.0, 6.0])
@pytest.mark.parametrize("c", [0.0, 0.5, 0.3, -2.8])
def test_gaussians_on_the_integers(s, c):
    rng = np.random.default_rng(22)
    support = np.arange(-60, 61)
    draws = np.array([integer_gaussian(rng, c, s) for _ in range(4_000)])
    weights = np.exp(-0.5 * ((support - c) / s) ** 2)
    check_distribution(np.bincount(draws.astype(int) + 60, minlength=121), weights / weights.sum())


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_power_an_epsilon_off_by_a_tenth_is_caught(norm):
    draws = draw(NORMS[norm], TABLE, GeneralizedLaplace(0.77, norm), 15_000)
    with pytest.raises(DistributionError):
        check_points(draws, *laplace_law(TABLE, 0.7, norm))


def test_gaussian_moments_on_the_4_x_4_table():
    # By Poisson's formula a cell is normal with variance 9 / 16 sigma^2, to far below 1e-20, and
    # so is every other second moment that of the projection onto the span.
    sigma = 4.0
    draws = draw(KleinSampler, Invariants.margins((4, 4)), GeneralizedGaussian(sigma), 15_000)
    variance = 9 / 16 * sigma**2
    for cell in (0, 5, 15):
        check_mean(draws[:, cell], 0.0, np.sqrt(variance))
        check_mean(draws[:, cell] ** 2, variance, np.sqrt(2) * variance)
    same_row = -3 / 16 * sigma**2
    check_mean(draws[:, 0] * draws[:, 1], same_row, np.sqrt(variance**2 + same_row**2))
    with pytest.raises(DistributionError):
        check_mean(draws[:, 0] ** 2, 1.21 * variance, np.sqrt(2) * 1.21 * variance)


@pytest.mark.parametrize(("norm", "epsilon"), [("l1", 1e-3), ("l2", 0.25)])
def test_laplace_moments_on_the_4_x_4_table(norm, epsilon):
    # The norm follows Gamma(9, rate epsilon) up to Poisson's terms other than the first: of order
    # epsilon^2 at most for l1, below 1e-11 for l2 at this epsilon.
    mechanism = GeneralizedLaplace(epsilon, norm)
    draws = draw(NORMS[norm], Invariants.margins((4, 4)), mechanism, 6_000)
    scaled = epsilon * mechanism.noise_norm(draws)
    check_mean(scaled, 9.0, 3.0)
    fourth = 9 * 10 * 11 * 12 - 90**2
    check_mean(scaled**2, 90.0, np.sqrt(fourth))
    check_mean(draws[:, 6], 0.0)
    if norm == "l2":  # directions are uniform: every cell has the same share of ||u||^2
        share = (draws[:, 0] / mechanism.noise_norm(draws)) ** 2
        check_mean(share, 1 / 16)
    with pytest.raises(DistributionError):
        check_mean(scaled * 1.1, 9.0, 3.0)


def test_l2_noise_in_two_cells_has_no_bias_of_half_a_percent():
    """The noise (k, -k) has a weight of exp(-epsilon sqrt(2) |k|)."""
    draws = draw(MixtureSampler, Invariants.total(2), GeneralizedLaplace(0.5, "l2"), 4_000_000)
    a = np.exp(-0.5 * np.sqrt(2))
    mean = 2 * a / (1 - a**2)
    check_mean(np.abs(draws[:, 0]), mean, np.sqrt(2 * a / (1 - a) ** 2 - mean**2))


def test_cells_under_one_total_follow_their_closed_distribution():
    law = total_distribution(12, 0.3)
    draws = draw(CellClassSampler, Invariants.total(12), GeneralizedLaplace(0.3), 15_000)
    for cell in (0, 11):
        check_distribution(
            np.bincount(draws[:, cell] - law.support[0], minlength=len(law.pmf)), law.pmf
        )
