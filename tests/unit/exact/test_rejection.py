"""Edge cases, refusals and plans of the exact samplers."""

import math

import numpy as np
import pytest

from isdp import GeneralizedLaplace, InputError, Invariants
from isdp.errors import MisfitError
from isdp.exact.overlapping.cell_classes import CellClassSampler
from isdp.exact.overlapping.compiled_klein import GramSchmidt, mass
from isdp.exact.overlapping.klein import (
    KleinSampler,
    gram_schmidt,
    log_masses,
    log_sum_lower_bound,
    max_expected_proposals,
    refuse_wide,
)
from isdp.exact.overlapping.l2_mixture import MixtureSampler
from isdp.lattice.null_lattice import degrees_of_freedom
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian

EDGES = {
    "one cell, held": Invariants.total(1),
    "one cell, free": Invariants(np.zeros((1, 1), int)),
    "two cells under a total": Invariants.total(2),
    "two cells, no constraint": Invariants(np.zeros((0, 2), int)),
    "nothing left free": Invariants([[1, 0], [0, 1]]),
    "a divisor": Invariants([[2, 3, 0], [4, 6, 0]]),
    "negative divisors": Invariants([[7, 0, -3, 1], [0, -5, 2, 0]]),
    "a cell forced to zero beside a table": Invariants([[1, 1, 1, 1, 0], [0, 0, 0, 0, 3]]),
    "4 x 4 table": Invariants.margins((4, 4)),
}
LAWS = {
    "l1": lambda scale: (CellClassSampler, GeneralizedLaplace(1 / scale)),
    "l2": lambda scale: (MixtureSampler, GeneralizedLaplace(1 / scale, "l2")),
    "gaussian": lambda scale: (KleinSampler, GeneralizedGaussian(scale)),
}


def sampler(invariants, law, scale, **limit):
    kind, mechanism = LAWS[law](scale)
    return kind(invariants, mechanism, **limit)


@pytest.mark.parametrize("scale", [0.05, 0.5, 1e6])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", EDGES)
def test_draws_meet_the_invariants_whatever_the_scale(name, law, scale):
    invariants = EDGES[name]
    made = sampler(invariants, law, scale)
    draws = made.sample(np.random.default_rng(3), 50)
    assert draws.shape == (50, invariants.cells)
    assert draws.dtype == np.int64
    assert not invariants.apply(draws).any()
    freedom = degrees_of_freedom(invariants)
    assert not (draws.any() and (freedom == 0 or scale < 0.1))
    assert draws.any() or freedom == 0 or scale < 1


@pytest.mark.parametrize("law", LAWS)
def test_draws_are_settled_by_the_seed(law):
    made = sampler(EDGES["4 x 4 table"], law, 4.0)
    first, again, other = (made.sample(np.random.default_rng(s), 20) for s in (5, 5, 6))
    assert (first == again).all()
    assert (first != other).any()
    assert len(np.unique(first, axis=0)) == 20
    assert made.sample(np.random.default_rng(5), 0).shape == (0, 16)


@pytest.mark.parametrize("law", LAWS)
def test_distributions_of_another_form_are_refused(law):
    kind, _ = LAWS[law](1.0)
    for other in LAWS.keys() - {law}:
        _, mechanism = LAWS[other](1.0)
        with pytest.raises(MisfitError):
            kind(Invariants.total(2), mechanism)


@pytest.mark.parametrize(
    ("shape", "law", "scale", "limit"),
    [
        ((10, 10), "l1", 4.0, {"max_sums": 1e4}),
        ((4, 4), "l2", 4.0, {"max_proposals": 1.001}),
        ((10, 10), "gaussian", 0.5, {"max_proposals": 100}),
    ],
)
def test_too_many_tries_are_refused_before_they_are_made(shape, law, scale, limit):
    with pytest.raises(InputError):
        sampler(Invariants.margins(shape), law, scale, **limit)


def test_a_draw_that_is_never_accepted_ends_in_an_error():
    made = sampler(Invariants.margins((3, 3)), "l2", 0.6)
    made.max_proposals = 0.0
    with pytest.raises(InputError):
        made.sample(np.random.default_rng(0), 1)


@pytest.mark.parametrize("law", LAWS)
def test_noise_beyond_integers_that_are_held_is_refused(law):
    with pytest.raises(InputError):
        sampler(Invariants.total(3), law, 1e18)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_an_epsilon_that_cannot_be_squared_is_refused(scale):
    with pytest.raises(InputError, match="epsilon"):
        sampler(Invariants.total(3), "l2", scale)


def test_large_coefficients_are_refused():
    with pytest.raises(InputError):
        sampler(Invariants([[1, 2**60], [0, 0]]), "l1", 1.0)


def test_gram_schmidt_takes_the_basis_apart():
    frame = gram_schmidt(Invariants.margins((3, 4)))
    gram = frame.basis.T @ frame.basis
    upper = np.eye(len(gram)) + frame.mu
    assert np.abs(upper.T @ np.diag(frame.lengths**2) @ upper - gram).max() < 1e-12
    # the lattice of tables with zero margins is A_2 (x) A_3: determinant 3^(3/2) 4^(2/2)
    assert frame.lengths.prod() == pytest.approx(3**1.5 * 4)


@pytest.mark.parametrize("s", [0.05, 0.3, 0.4999, 0.5, 0.8, 2.4, 2.5, 30.0])
@pytest.mark.parametrize("c", [0.0, 0.2, 0.5, -7.3])
def test_mass_is_the_sum_and_is_largest_at_whole_centres(s, c):
    k = np.arange(-400, 401)
    direct = np.exp(-0.5 * ((k - c) / s) ** 2).sum()
    assert mass(s, c) == pytest.approx(direct, rel=1e-14)
    assert mass(s, 0.5) <= mass(s, c) <= mass(s, 0.0)


@pytest.mark.parametrize("sigma", [0.2, 0.5, 0.8, 3.0])
def test_the_bound_on_the_lattices_sum_holds(sigma):
    frame = gram_schmidt(Invariants.margins((2, 3)))
    grid = np.stack([a.ravel() for a in np.meshgrid(*[np.arange(-40, 41)] * 2)], axis=1)
    squares = ((grid @ frame.basis.T) ** 2).sum(axis=1)
    total = math.log(np.exp(-squares / (2 * sigma**2)).sum())
    ceiling = log_masses(sigma / frame.lengths, 0.0).sum()
    assert log_sum_lower_bound(frame.lengths, sigma) <= total + 1e-12
    assert total <= ceiling + 1e-12


def test_on_a_line_every_try_of_a_gaussian_is_kept():
    """The only width is sigma over the length, and both sums are over the same points."""
    for sigma in (0.3, 1.0, 3.0, 1000.0):
        at_half = mass(sigma / math.sqrt(2), 0.0) / mass(sigma / math.sqrt(2), 0.5)
        narrow = min(mass(sigma / math.sqrt(2), 0.0), at_half)
        assert 1 <= max_expected_proposals([math.sqrt(2)], sigma) <= narrow * (1 + 1e-12)
    assert max_expected_proposals([math.sqrt(2)], 3.0) == pytest.approx(1)


@pytest.mark.parametrize(("share", "refused"), [(0.99, False), (1.01, True)])
def test_coefficients_are_drawn_up_to_the_52_bits_that_doubles_leave_them(share, refused):
    """One vector of length 2: a coefficient reaches 40 sigma, halved; a cell 40 sigma."""
    frame = GramSchmidt(np.ones((4, 1), np.int64), np.array([2.0]), np.zeros((1, 1)))
    sigma = share * 2**52 / 40
    if refused:
        with pytest.raises(InputError):
            refuse_wide(frame, sigma)
    else:
        refuse_wide(frame, sigma)
