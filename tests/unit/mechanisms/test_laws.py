"""What a law answers, and that samplers ask no more: a law of one's own is served as it is."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from scipy.special import gammaincc

from isdp import GeneralizedGaussian, GeneralizedLaplace, InputError, Invariants, draw_noise, mcmc
from isdp.accounting import PrivacyGuarantee
from isdp.exact import enumerate_distribution, select_sampler
from isdp.exact.selection import SAMPLERS
from isdp.mechanisms import Energy, Mechanism
from isdp.mechanisms.generalized_laplace import bound_gamma

LAWS = [
    GeneralizedLaplace(0.3),
    GeneralizedLaplace(0.3, "l2"),
    GeneralizedGaussian(2.5),
]
TABLE = Invariants.margins((2, 3))


@dataclass(frozen=True)
class Households(Mechanism):
    """A law that nobody has thought of: l1 noise that is counted in households."""

    rho: float
    size: int = 2

    name: ClassVar[str] = "household noise"

    @property
    def energy(self):
        return Energy(power=1, root=False, rate=self.rho / self.size)

    @property
    def guarantee(self):
        return PrivacyGuarantee(
            "pure", self.rho, "household", None, "me", why_not_per_person="they move"
        )

    def noise_norm(self, noise):
        return np.abs(noise).sum(axis=-1)

    def log_weight(self, noise):
        return -self.rho / self.size * self.noise_norm(noise)

    def cell_scale(self, dimension, cells):
        return self.size / self.rho

    def radius(self, dimension):
        return 100 * (dimension + 1) * self.size / self.rho


@dataclass(frozen=True)
class Largest(Households):
    """A law of the largest cell, whose weight no sampler here knows (a K-norm's, say)."""

    name: ClassVar[str] = "largest-cell noise"
    energy: ClassVar[None] = None

    def noise_norm(self, noise):
        return np.abs(noise).max(axis=-1)


@dataclass(frozen=True)
class Rooted(Households):
    """A law of a weight that chains can follow and no perfect sampler draws."""

    name: ClassVar[str] = "rooted noise"
    energy: ClassVar[Energy] = Energy(power=1, root=True, rate=2.0)


def test_a_person_who_changes_cell_is_two_units_away():
    assert [law.guarantee.per_person for law in LAWS] == [2, pytest.approx(2**0.5), 2]


def test_the_size_of_a_cell_s_noise_is_its_share_of_the_norm():
    """A norm of about d / epsilon, over n cells or their root."""
    scales = [GeneralizedLaplace(0.5, norm).cell_scale(9, 16) for norm in ("l1", "l2")]
    assert scales == [9 / 0.5 / 16, 9 / 0.5 / 4]


@pytest.mark.parametrize("dimension", [1, 10, 1000])
def test_the_reach_of_a_gamma_law_leaves_next_to_nothing_out(dimension):
    assert gammaincc(dimension, 0.3 * bound_gamma(dimension, 0.3)) < 1e-20


@pytest.mark.parametrize("law", [*LAWS, Households(0.7), Rooted(0.7)])
def test_the_weight_is_the_energys(law):
    noise = np.array([[[3, -4, 0], [0, 0, 0]], [[-1, 0, 2], [5, 5, 5]]])
    size = (np.abs(noise) ** law.energy.power).sum(axis=-1).astype(float)
    expected = -law.energy.rate * (np.sqrt(size) if law.energy.root else size)
    if not isinstance(law, Rooted):
        assert law.log_weight(noise) == pytest.approx(expected)
    assert law.noise_norm(noise).shape == (2, 2)
    assert law.energy.product == (not law.energy.root)
    assert law.energy.of_norm == (law.energy.root == (law.energy.power == 2))


def test_guarantees_of_the_laplace_laws():
    l1, l2 = GeneralizedLaplace(0.25).guarantee, GeneralizedLaplace(0.25, "l2").guarantee
    assert (l1.loss_per_person, l1.loss_at(4)) == (0.5, 1)
    assert l2.metric == "l2"
    assert Fraction(l2.per_person) ** 2 >= 2  # a bound is not rounded down
    assert l2.per_person == pytest.approx(math.sqrt(2), abs=1e-15)
    assert "0.353554" in l2.statement()
    assert "0.123457" in GeneralizedLaplace(0.12345649).guarantee.statement()


@pytest.mark.parametrize("sigma", [0.6, 2.0])
@pytest.mark.parametrize("order", [1.5, 3.0, 20.0])
def test_the_gaussians_guarantee_bounds_the_renyi_divergence_on_a_lattice(sigma, order):
    """Summed over the lattice of three cells under a total, for each short shift."""
    points = enumerate_distribution(
        Invariants.total(3), GeneralizedLaplace(1.0, "l2"), radius=30
    ).points
    law = GeneralizedGaussian(sigma)
    here = law.log_weight(points)
    for shift in points[(np.abs(points).sum(axis=1) <= 6)]:
        there = law.log_weight(points - shift)
        terms = order * (here - np.logaddexp.reduce(here))
        terms += (1 - order) * (there - np.logaddexp.reduce(there))
        divergence = np.logaddexp.reduce(terms) / (order - 1)
        distance = math.sqrt((shift**2).sum())
        bound = order * float(law.guarantee.loss) * distance**2
        assert divergence <= bound + 1e-9
        if distance == pytest.approx(math.sqrt(6)) and sigma == 2.0 and order == 3.0:
            assert divergence > 0.9 * bound  # the bound is no idle one


def test_a_made_up_law_is_drawn_by_every_sampler_of_its_form():
    law, twin = Households(0.6), GeneralizedLaplace(0.3)
    rng = np.random.default_rng
    for invariants in (Invariants.total(5), TABLE):
        chosen = select_sampler(law, invariants)
        assert (chosen.method, chosen.reason) == (
            select_sampler(twin, invariants).method,
            select_sampler(twin, invariants).reason,
        )
        for kind in SAMPLERS:
            try:
                kind(invariants, twin)
            except InputError:
                with pytest.raises(InputError):
                    kind(invariants, law)
                continue
            one, two = (kind(invariants, each).sample(rng(3), 40) for each in (law, twin))
            assert (one == two).all()
    options = {"n_draws": 20, "burn_in": 5, "proposal": 0.5}
    chains = [mcmc.draw_chains(x, TABLE, **options, rng=rng(1)) for x in (law, twin)]
    assert (chains[0] == chains[1]).all()


def test_a_law_that_no_sampler_knows_is_refused_by_all_with_the_reason():
    for kind in SAMPLERS:
        with pytest.raises(InputError, match=f"^{kind.method}: .*{Largest.name}"):
            kind(TABLE, Largest(1.0))
    with pytest.raises(InputError, match=Largest.name):
        select_sampler(Largest(1.0), TABLE)
    with pytest.raises(InputError, match=Largest.name):
        mcmc.draw_chains(Largest(1.0), TABLE, n_draws=1, rng=np.random.default_rng(1))


def test_a_law_that_only_chains_can_follow():
    with pytest.raises(InputError, match=Rooted.name):
        draw_noise(Rooted(1.0), TABLE, rng=np.random.default_rng(1))
    noise = mcmc.draw_chains(Rooted(1.0), TABLE, n_draws=50, rng=np.random.default_rng(1))
    assert noise.any()


@pytest.mark.parametrize("sigma", [1e-160, 1e160])
def test_a_sigma_that_doubles_cannot_square_is_refused(sigma):
    with pytest.raises(InputError, match="sigma"):
        GeneralizedGaussian(sigma)


@pytest.mark.parametrize("epsilon", ["1/3", Fraction(1, 3), 0.1, 2])
def test_replacing_another_parameter_keeps_the_exact_value(epsilon):
    laplace = GeneralizedLaplace(epsilon)
    other = replace(laplace, norm="l2")
    assert other == GeneralizedLaplace(epsilon, "l2")
    assert other.exact_epsilon == laplace.exact_epsilon
    assert replace(other, epsilon="2/7") == GeneralizedLaplace("2/7", "l2")


@pytest.mark.parametrize("rho", ["1/7", Fraction(1, 3), 0.1, "1/32"])
def test_replace_keeps_the_exact_rho_until_a_parameter_changes(rho):
    gaussian = GeneralizedGaussian(rho=rho)
    same = replace(gaussian)
    assert same == gaussian
    assert same.rho == gaussian.rho == Fraction(str(rho))
    assert replace(gaussian, sigma="5/2") == GeneralizedGaussian("5/2")
    assert replace(gaussian, rho="2/9") == GeneralizedGaussian(rho="2/9")


def test_sigma_and_rho_are_not_given_together():
    for given in ({"sigma": 2, "rho": "1/8"}, {}):
        with pytest.raises(InputError, match="sigma or rho"):
            GeneralizedGaussian(**given)
