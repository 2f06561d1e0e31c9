"""The mechanism within OpenDP itself, which composes it."""

from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest

from isdp import InputError, Invariants
from isdp.commands.opendp import l1_metric, make_measurement, table_domain
from isdp.testing import check_mean

HELD = Invariants.partition("aab")


@pytest.fixture(autouse=True)
def features():
    dp.enable_features("honest-but-curious", "contrib")
    yield
    dp.disable_features("honest-but-curious", "contrib")


def test_it_keeps_the_totals_and_costs_what_the_guarantee_says():
    measure = make_measurement(HELD, [30, 5], "1/3")
    noisy = np.array([measure([10, 20, 5]) for _ in range(60)])
    assert (noisy[:, :2].sum(axis=1) == 30).all()
    assert (noisy[:, 2] == 5).all()
    a = np.exp(-2 / 3)  # two cells that add up to nothing weigh twice a third
    mean, square = 2 * a / (1 - a * a), 2 * a / (1 - a) ** 2
    check_mean(np.abs(noisy[:, 0] - 10), mean, np.sqrt(square - mean**2))
    for distance in (0, 1, 2, 4, 0.1):
        exact = Fraction(1, 3) * Fraction(distance)
        assert 0 <= Fraction(measure.map(distance)) - exact < Fraction(1, 10**15)
    assert measure.output_measure == dp.max_divergence()
    assert measure.check(2, 0.67)
    assert not measure.check(2, 0.66)


@pytest.mark.parametrize("epsilon", ["3/10", "7/10", "1/3", "1/4"])
def test_what_it_costs_is_not_rounded_down_as_it_is_stored(epsilon):
    """The double 0.3 is less than three tenths."""
    cost = Fraction(make_measurement(HELD, [30, 5], epsilon).map(1))
    assert 0 <= cost - Fraction(epsilon) < Fraction(1, 10**15)


def test_a_cost_beyond_floating_point_is_infinite():
    assert make_measurement(HELD, [30, 5], 1000).map(1e307) == np.inf


def test_opendp_composes_it():
    parts = [make_measurement(HELD, [30, 5], epsilon) for epsilon in ("1/4", "1/8", 0.1)]
    together = dp.c.make_composition(parts)
    assert together.map(2) == pytest.approx(2 * (0.25 + 0.125 + 0.1), rel=1e-14)
    assert Fraction(together.map(2)) >= Fraction(19, 20)
    noisy = together([10, 20, 5])
    assert [sum(table[:2]) for table in noisy] == [30, 30, 30]


def test_opendp_counts_an_adaptive_budget():
    measure = make_measurement(HELD, [30, 5], "1/4")
    budget = dp.c.make_adaptive_composition(
        input_domain=table_domain(HELD, [30, 5]),
        input_metric=l1_metric(),
        output_measure=dp.max_divergence(),
        d_in=2,
        d_mids=[0.5],
    )
    query = budget([10, 20, 5])
    assert sum(query(measure)) == 35
    with pytest.raises(dp.OpenDPException):
        query(measure)  # its share is spent


def test_measurements_of_other_totals_do_not_compose():
    one, other = make_measurement(HELD, [30, 5], 1), make_measurement(HELD, [31, 5], 1)
    with pytest.raises(dp.OpenDPException):
        dp.c.make_composition([one, other])


@pytest.mark.parametrize("table", [[10, 21, 5], [10, 20], [10.5, 19.5, 5], ["a", "b", "c"], None])
def test_tables_outside_the_domain_are_refused(table):
    domain = table_domain(HELD, [30, 5])
    assert domain.member([10, 20, 5])
    assert not domain.member(table)
    with pytest.raises(dp.OpenDPException):
        make_measurement(HELD, [30, 5], 1)(table)


@pytest.mark.parametrize(
    ("totals", "epsilon", "words"),
    [([30], 1, "totals"), ([30, 5], 0, "epsilon"), ([1.5, 2], 1, "totals")],
)
def test_settings_that_are_refused(totals, epsilon, words):
    with pytest.raises(InputError, match=words):
        make_measurement(HELD, totals, epsilon)


@pytest.mark.parametrize("distance", [-1, float("nan")])
def test_distances_that_are_refused(distance):
    with pytest.raises(dp.OpenDPException):
        make_measurement(HELD, [30, 5], 1).map(distance)
