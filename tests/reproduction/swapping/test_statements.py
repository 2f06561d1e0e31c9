"""The checks of the statements of SWAP, by hand-computed values and by wrong inputs."""

import numpy as np
import pytest

from reproduction.swapping import statements
from reproduction.swapping.printed import read_budgets, read_massachusetts
from reproduction.swapping.statements import (
    check_extended_distances,
    check_listing,
    check_positive_budget,
    check_printed_range,
    check_printed_totals,
    check_proof,
    check_topdown_privacy,
    measure_gaussian_losses,
)

TABLE = read_massachusetts("data/swapping/massachusetts_1940.csv")
PRINTED = read_budgets("data/swapping/budgets.csv")


def failures(rows):
    return sum(row.get("failures", 0) for row in rows)


def test_one_wrong_printed_number_is_one_failure():
    assert failures([check_printed_range(PRINTED), *check_printed_totals(TABLE)]) == 0
    wrong = TABLE.copy()
    wrong.loc["Dukes", "rented_after"] += 1
    assert failures(check_printed_totals(wrong)) == 1
    fewer = PRINTED[PRINTED["epsilon"] != 9.37]
    assert check_printed_range(fewer)["failures"] == 1


def test_a_budget_of_gaussian_noise_that_is_too_small_is_exceeded(monkeypatch):
    assert [row["ratio"] for row in measure_gaussian_losses()] == pytest.approx([1] * 3)
    assert max(row["ratio"] for row in check_topdown_privacy()) < 1
    noise = statements.gaussian_pmf
    monkeypatch.setattr(statements, "gaussian_pmf", lambda points, sigma: noise(points, sigma / 2))
    assert [row["ratio"] for row in measure_gaussian_losses()] == pytest.approx([2] * 3)
    assert max(row["ratio"] for row in check_topdown_privacy()) > 1


def test_a_distance_that_is_not_a_shortest_path_is_noticed(monkeypatch):
    assert failures(check_extended_distances()) == 0
    monkeypatch.setattr(statements, "hamming", statements.symmetric_difference)
    assert failures(check_extended_distances()) > 0


def test_another_mechanism_differs_from_the_listing_and_breaks_the_proof(monkeypatch):
    rng = np.random.default_rng(1)
    assert failures([*check_listing(rng), *check_positive_budget(), *check_proof()]) == 0
    # two records stay or are exchanged with odds of (p / (1 - p))^2
    ratios = {row["setting"]: row["value"] for row in check_proof() if "value" in row}
    assert ratios["2 records, swap rate 1/2"] == pytest.approx(1)
    assert ratios["2 records, swap rate 1/20"] == pytest.approx(19**2)
    real = statements.permutation_distribution

    def uniform(n, rate):
        every = real(n, rate)
        return dict.fromkeys(every, sum(every.values()) / len(every))

    monkeypatch.setattr(statements, "permutation_distribution", uniform)
    assert failures(check_listing(rng)) > 0
