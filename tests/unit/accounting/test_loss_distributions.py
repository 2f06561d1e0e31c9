"""Composed privacy losses against sums over all outputs and against a library made for them."""

import math
from functools import reduce
from itertools import product

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as oracle

from isdp import InputError
from isdp.accounting.loss_distributions import (
    GaussianLoss,
    PureLoss,
    compose_losses,
    gaussian_loss,
)

TRUNCATED = 1e-13  # more than the probability that the oracle moves to infinity


def lattice(basis):
    """Give all noise that is a combination of a basis with coefficients of at most 12."""
    basis = np.array(basis)
    return np.array(list(product(range(-12, 13), repeat=len(basis)))) @ basis


def losses_of(noise, weight, change):
    """Give the losses and their probabilities."""
    logs = weight(noise)
    return logs - weight(noise - change), np.exp(logs) / np.exp(logs).sum()


def delta_of(loss, probability, epsilon):
    return float((probability * np.maximum(0, -np.expm1(epsilon - loss))).sum())


def added(one, other):
    return np.add.outer(one[0], other[0]).ravel(), np.multiply.outer(one[1], other[1]).ravel()


# a basis of the lattice, of which the first vector is the difference of the tables
CASES = [
    [[1, -1]],  # two cells with one total
    [[1, -1, 0], [0, 1, -1]],  # three cells with one total
    [[1, -1], [0, 1]],  # two cells without a total
    [[1, -1, 0, 0], [0, 1, -1, 1]],  # overlapping totals of the first three and last two cells
    [[1, -1, 0, -1, 1, 0], [0, 1, -1, 0, -1, 1]],  # both margins of a table of two by three
]


@pytest.mark.parametrize("sigma", [0.6, 1.0])
@pytest.mark.parametrize("basis", CASES)
def test_gaussian_losses_on_a_lattice_are_a_mixture_over_lines(basis, sigma):
    noise, change = lattice(basis), np.array(basis[0])
    exact = losses_of(noise, lambda u: -(u**2).sum(axis=1) / (2 * sigma**2), change)
    square = int(change @ change)
    shares = np.bincount(noise @ change % square, exact[1], square)
    rho = square / (2 * sigma**2)
    mixture = compose_losses([GaussianLoss(rho, (tuple(shares),))], 1e-10)
    bound = compose_losses([gaussian_loss(rho, square)], 1e-10)
    for epsilon in (0, 0.4, 1.9, 3.3):
        wanted = delta_of(*exact, epsilon)
        assert wanted * (1 - 1e-9) <= mixture.delta(epsilon) <= wanted * (1 + 1e-6) + 1e-12
        assert wanted <= bound.delta(epsilon)


@pytest.mark.parametrize("basis", CASES[:4])
def test_laplace_losses_are_randomized_response_with_a_probability(basis):
    epsilon = 1.5
    exact = losses_of(lattice(basis), lambda u: -epsilon * abs(u).sum(axis=1), np.array(basis[0]))
    moved = exact[1][abs(exact[0]) > 1e-9].sum()
    found = compose_losses([PureLoss(2 * epsilon, moved)] * 2, 1e-10)
    bound = compose_losses([PureLoss(2 * epsilon)] * 2, 1e-10)
    twice = added(exact, exact)
    for other in (0, 0.7, 2.9, 4.4):
        wanted = delta_of(*twice, other)
        assert found.delta(other) == pytest.approx(wanted, rel=1e-4)
        assert wanted <= bound.delta(other) + 1e-9


@pytest.mark.parametrize("epsilon", [0.1, 1.3, 2.6, 5.2])
def test_the_bound_for_unknown_lines_is_that_of_the_worst_lines(epsilon):
    rho = 0.41
    classes = [GaussianLoss(rho, (tuple(row),)) for row in np.eye(2)]
    worst = max(
        compose_losses([one, PureLoss(1.7), other], 1e-10).delta(epsilon)
        for one, other in product(classes, repeat=2)
    )
    unknown = [gaussian_loss(rho, 2), PureLoss(1.7), gaussian_loss(rho, 2)]
    found = compose_losses(unknown, 1e-10).delta(epsilon)
    assert worst <= found <= 1.2 * worst


def oracles(sigmas, epsilons, pessimistic):
    """Compose noise of cells without a total: one person moves, and two counts change."""
    options = {"pessimistic_estimate": pessimistic, "value_discretization_interval": 1e-3}
    every = [oracle.from_discrete_gaussian_mechanism(sigma, **options) for sigma in sigmas]
    every += [oracle.from_discrete_laplace_mechanism(one, **options) for one in epsilons]
    return reduce(lambda one, other: one.compose(other), [one for one in every for _ in range(2)])


@pytest.mark.parametrize(
    ("sigmas", "epsilons"),
    [
        ([1.3], []),
        ([0.9, 2.3, 11.9], []),
        ([], [0.3137, 0.0719, 1.1234]),
        ([3.7, 5.1], [0.1328, 0.2913]),
    ],
)
def test_independent_cells_lie_within_the_oracles_bounds(sigmas, epsilons):
    losses = []
    for sigma in sigmas:
        # half the difference of two independent discrete Gaussians is a whole number or not
        values = np.arange(-20 * math.ceil(sigma), 20 * math.ceil(sigma) + 1)
        weights = np.exp(-(values**2) / (2 * sigma**2))
        even = (1 + (weights @ (-1.0) ** abs(values) / weights.sum()) ** 2) / 2
        losses.append(GaussianLoss(1 / sigma**2, ((even, 1 - even),)))
    for epsilon in epsilons:
        a = math.exp(-epsilon)
        losses.append(PureLoss(2 * epsilon, (1 + a * a) / (1 + a) ** 2))
    low, high = (oracles(sigmas, epsilons, pessimistic) for pessimistic in (False, True))
    for delta in (1e-10, 1e-6, 1e-3):
        composed = compose_losses(losses, delta)
        epsilon = composed.epsilon(delta)
        assert composed.delta(epsilon) <= delta
        assert composed.delta(epsilon * (1 - 1e-6)) > delta
        assert low.get_delta_for_epsilon(epsilon) <= delta + TRUNCATED
        assert high.get_delta_for_epsilon(epsilon * (1 - 1e-6)) >= delta - TRUNCATED


def test_numbers_out_of_range_are_refused():
    composed = compose_losses([PureLoss(0.3), gaussian_loss(0.02, 2)], 1e-6)
    for call in (
        lambda: composed.delta(-1),
        lambda: composed.epsilon(0),
        lambda: composed.epsilon(1e-40),
        lambda: compose_losses([PureLoss(0.3)], 1),
        lambda: compose_losses([PureLoss(0.0)], 0.1),
        lambda: compose_losses([gaussian_loss(1e-11, 2)], 0.1),
        lambda: gaussian_loss(1, 33),
    ):
        with pytest.raises(InputError):
            call()
    assert composed.epsilon(0.9) == 0
