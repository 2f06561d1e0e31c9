"""The checks of the statements of SDP, by hand-computed values and by wrong mechanisms."""

import numpy as np
import pytest

from reproduction.subspace import statements
from reproduction.subspace.statements import (
    check_binary_attributes,
    check_correlated_noise,
    check_examples,
    check_extension,
    check_independent_rows,
    check_laplace,
    check_other_properties,
    check_projection,
    check_subspaces,
    check_two_releases,
    compare_least_errors,
    compare_with_marginals,
    measure_k_norm,
)
from reproduction.subspace.theory.finite_mechanisms import FiniteSpace
from reproduction.subspace.theory.frameworks import conditioned_covariance


def failures(rows, statement=""):
    return sum(row.get("failures", 0) for row in rows if row["statement"].startswith(statement))


def largest(rows, statement=""):
    return max(row.get("ratio", 0) for row in rows if row["statement"].startswith(statement))


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def test_statements_hold(rng):
    rows = [
        *(*check_examples(), *check_independent_rows(), *check_subspaces(rng)),
        *(*check_other_properties(rng), *check_projection(rng), *check_extension(rng)),
        *(*compare_least_errors(), *check_binary_attributes()),
    ]
    assert failures(rows) == 0
    assert 0.99 < largest(rows) <= 1
    found = {row["setting"]: row["value"] for row in check_two_releases()}
    # of 20 tables, totals of 1 and 2 persons in both directions leave two tables, in 4 cases
    assert found["2 x 2 tables of 3 persons"] == 12


def test_a_mechanism_that_is_not_projected_or_extended_rightly_is_noticed(monkeypatch, rng):
    def ignore_the_null_space(space, mechanism):
        return mechanism._replace(outputs=space.unit * mechanism.outputs)

    def add_all_answers(space, mechanism):
        return mechanism._replace(outputs=mechanism.outputs + space.unit * space.answers[:, None])

    with monkeypatch.context() as patch:
        patch.setattr(FiniteSpace, "project", ignore_the_null_space)
        rows = list(check_projection(rng))
        assert failures(rows, "projection keeps") > 0
        assert failures(rows, "projected noise is added") > 0
    monkeypatch.setattr(FiniteSpace, "extend", add_all_answers)
    rows = list(check_extension(rng))
    assert failures(rows, "extension keeps") == 0  # the answers satisfy the invariants
    assert largest(rows, "extension") > 1
    for statement in ("converse", "bias"):
        assert failures(rows, statement) > 0


def test_biased_noise_is_noticed(monkeypatch, rng):
    drawn = FiniteSpace.draw_noise
    monkeypatch.setattr(
        FiniteSpace, "draw_noise", lambda space, rng, symmetric: drawn(space, rng, symmetric=False)
    )
    assert failures(check_projection(rng), "projected noise is unbiased") > 0
    assert failures(check_extension(rng), "bias of extension") > 0


def test_too_little_noise_is_noticed(monkeypatch):
    assert [row["ratio"] for row in check_laplace()] == pytest.approx([1] * 8)
    assert largest(check_correlated_noise(), "delta") < 1
    real, noise = statements.sensitivity, statements.CorrelatedGaussian
    monkeypatch.setattr(statements, "sensitivity", lambda query, p: real(query, p) / 2)
    assert [row["ratio"] for row in check_laplace()] == pytest.approx([2] * 8)
    monkeypatch.setattr(
        statements, "CorrelatedGaussian", lambda shape, e, delta: noise(shape, 4 * e, delta)
    )
    assert largest(check_correlated_noise(), "delta") > 1


def test_the_error_of_k_norm_noise_is_its_closed_form():
    # error 4 (n - 1) (2n - 1) / (n + 1), and a lower bound of 2 (n - 1) min_variance_pure
    rows = {row["setting"]: row for row in measure_k_norm()}
    n, epsilon = 100, 1.0
    a = np.exp(-epsilon)
    factor = 4 * (n - 1) * (2 * n - 1) / (n + 1) / (2 * a / (1 - a) ** 2 * 2 * (n - 1))
    assert rows["histogram of 100 cells, total"]["value"] == pytest.approx(factor, rel=1e-3)


def test_conditioning_is_farther_from_the_marginal_distribution(monkeypatch):
    assert largest(compare_with_marginals()) < 1e-9
    monkeypatch.setattr(statements, "projected_covariance", conditioned_covariance)
    assert largest(compare_with_marginals()) > 1
