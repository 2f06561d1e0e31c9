"""The checks of the statements of CDP, by hand-computed values and by wrong mechanisms."""

import math
from fractions import Fraction

import numpy as np
import pytest

from reproduction.congenial import conditioning_statements, density_statements, statements
from reproduction.congenial.conditioning_statements import (
    check_posteriors,
    check_theorem,
    check_trivial_invariants,
    largest_shift,
)
from reproduction.congenial.density_statements import check_densities
from reproduction.congenial.statements import (
    check_algorithm,
    check_double_geometric,
    noise_of_sum,
    printed_quantile,
)


def failures(rows, statement=""):
    return sum(row.get("failures", 0) for row in rows if row["statement"].startswith(statement))


def largest(rows, statement):
    return max(row["ratio"] for row in rows if row["statement"] == statement)


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def test_the_loss_of_conditioning_is_that_of_a_hand_computation(monkeypatch, rng):
    rows = list(check_theorem(rng))
    assert failures(rows) == 0
    assert largest(rows, "conditional loss") == pytest.approx(1)
    assert 0.999 < largest(rows, "twice the budget") <= 1
    # counts of 0 to 4, and the masses of all counts if the answer is 0 or 1
    found = {row["setting"]: row["value"] for row in check_trivial_invariants()}
    a = math.exp(-1)
    masses = sum(a**k for k in range(5)), a + sum(a**k for k in range(4))
    assert found["count of 4 records, epsilon 1"] == pytest.approx(
        1 + math.log(masses[1] / masses[0])
    )
    pmf = conditioning_statements.double_geometric_pmf
    monkeypatch.setattr(conditioning_statements, "double_geometric_pmf", lambda k, a: pmf(k, a**3))
    assert largest(list(check_theorem(rng)), "twice the budget") > 1


def test_posteriors_are_those_of_two_datasets(rng):
    records = np.array([[0, 0], [1, 1]])
    log = np.log([[0.8, 0.2], [0.4, 0.6]])
    # the posterior of the first dataset is 0.2 / 0.5 or 0.05 / 0.5 for a prior of 1/4
    prior = np.array([1, 3])
    assert largest_shift(records, prior, log) == pytest.approx(math.log(0.5 / 0.2))
    rows = list(check_posteriors(rng))
    assert largest(rows, "posterior, others known") == pytest.approx(1)
    assert largest(rows, "posterior, equal records") > 2


def test_wrong_quantiles_and_densities_are_noticed(monkeypatch, rng):
    half = Fraction(1, 2)
    assert printed_quantile(Fraction(2, 3), half) == 0  # the jump of F at 0
    assert printed_quantile(Fraction(5, 6), half) == 2  # the jump of F at 1
    rows = list(check_double_geometric())
    assert failures(rows) == failures(rows, "quantiles at jumps") > 0
    monkeypatch.setattr(statements, "printed_quantile", lambda v, a: printed_quantile(v / 2, a))
    rows = list(check_double_geometric())
    assert min(failures(rows, "quantiles between"), failures(rows, "inverse")) > 0
    rows = list(check_densities(rng))
    assert failures(rows) == failures(rows, "sum of two Laplace variables") > 0
    assert 0.9 < largest(rows, "Theorem A.1") <= 1
    density = density_statements.projected_density
    monkeypatch.setattr(density_statements, "projected_density", lambda e, b: density(2 * e, b))
    rows = list(check_densities(rng))
    for statement in ("projected density", "three regions", "derivatives"):
        assert failures(rows, statement) > 0


def test_a_chain_with_another_target_is_noticed(monkeypatch):
    assert failures(check_algorithm()) == 0
    matrix = statements.transition_matrix

    def always_accept(states, truth, solved, a, b):
        return matrix(states, truth, solved, a, b)[0], matrix(states, truth, solved, b, b)[1]

    monkeypatch.setattr(statements, "transition_matrix", always_accept)
    assert failures(check_algorithm()) > 0


def test_the_noise_of_a_sum_is_that_of_one_and_of_two_cells():
    a = math.exp(-1)
    assert noise_of_sum([0], 1)[1] == pytest.approx((1 - a) / (1 + a) * a)
    assert -1 not in noise_of_sum([0], 1)
    zero = ((1 - a) / (1 + a)) ** 2 * (1 + a**2) / (1 - a**2)
    assert noise_of_sum([200, 200], 1)[0] == pytest.approx(zero)
