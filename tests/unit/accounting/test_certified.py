"""Our accounting against a library made for it."""

import pytest
from dp_accounting.pld import privacy_loss_distribution as oracle
from dp_accounting.rdp import rdp_privacy_accountant as rdp

from isdp.accounting.conversions import epsilon_for
from isdp.accounting.exact_composition import delta_geometric, delta_laplace

INTERVAL = 1e-4  # of the oracle's grid of losses
CASES = [(1.0, 12.0, 12), (4.0, 3.0, 12), (1.0, 2.0, 5), (0.0, 1.0, 3)]


def bracket(make, parameter, count, epsilon):
    """Give the oracle's delta rounded towards less and towards more privacy."""
    return [
        make(parameter, pessimistic_estimate=pessimistic, value_discretization_interval=INTERVAL)
        .self_compose(count)
        .get_delta_for_epsilon(epsilon)
        for pessimistic in (False, True)
    ]


@pytest.mark.parametrize(
    ("law", "make", "parameter"),
    [
        (delta_laplace, oracle.from_laplace_mechanism, lambda scale: scale),
        (delta_geometric, oracle.from_discrete_laplace_mechanism, lambda scale: 1 / scale),
    ],
)
@pytest.mark.parametrize(("epsilon", "scale", "count"), CASES)
def test_composed_noise_lies_within_the_oracles_bounds(law, make, parameter, epsilon, scale, count):
    epsilon *= 0.6  # well below the pure loss, where delta is not 0
    low, high = bracket(make, parameter(scale), count, epsilon)
    assert low - 1e-12 <= law(epsilon, scale, count) <= high + 1e-12
    assert high - low < 0.01


@pytest.mark.parametrize(("rho", "delta"), [(0.1, 1e-6), (2.63, 1e-10), (15.29, 1e-10)])
def test_the_renyi_conversion_is_no_worse_than_the_librarys_over_its_orders(rho, delta):
    orders = [1 + 1.002**step / 50 for step in range(4500)]
    wanted, _ = rdp.compute_epsilon(orders, [rho * order for order in orders], delta)
    found = epsilon_for("Canonne-Kamath-Steinke", rho, delta)
    assert found == pytest.approx(wanted, rel=1e-5)
    assert found <= wanted
