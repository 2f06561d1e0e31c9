"""Distances of two samples, their bounds and tables, by hand."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import ks_2samp

from isdp import GeneralizedLaplace
from isdp.diagnostics.chains import convergence
from isdp.diagnostics.kolmogorov import (
    agreement_rows,
    detectable_distance,
    kolmogorov_bound,
    kolmogorov_distance,
    kolmogorov_p_value,
    norm_histogram,
    quantile_table,
)


def test_the_distance_is_the_largest_gap_of_the_distribution_functions():
    assert kolmogorov_distance([1, 2, 3, 4], [1, 2, 3, 4]) == 0
    assert kolmogorov_distance([1, 2, 3, 4], [3, 4, 5, 6]) == 0.5
    assert kolmogorov_distance([0, 0, 0, 9], [9]) == 0.75
    assert kolmogorov_distance([1], [2, 3]) == 1


@pytest.mark.parametrize("sizes", [(40, 300), (300, 40), (70, 70)])
def test_the_distance_is_that_of_a_library_whichever_sample_is_larger(sizes):
    rng = np.random.default_rng(5)
    for _ in range(20):
        one, two = (rng.poisson(rng.uniform(2, 9), size) for size in sizes)
        assert kolmogorov_distance(one, two) == pytest.approx(
            ks_2samp(one, two).statistic, abs=1e-12
        )


def test_the_bound_by_hand():
    each = math.sqrt(math.log(2e6) / 2000)
    assert kolmogorov_bound(1000, math.inf) == pytest.approx(each)
    assert 1.05 * math.sqrt(2) < kolmogorov_bound(1000, 1000) / each < 1.1 * math.sqrt(2)
    assert kolmogorov_bound(1000, 300) == kolmogorov_bound(300, 1000)
    more = math.sqrt(math.log(2e7) / 2000)
    assert kolmogorov_bound(1000, math.inf, comparisons=10) == pytest.approx(more)
    assert kolmogorov_bound(2, 2) == 1
    assert kolmogorov_bound(math.inf, math.inf) == 0


SIZES = [(40, 300), (90, 700), (600, 600)]


@pytest.mark.parametrize("sizes", SIZES)
def test_the_p_value_is_at_least_the_exact_one(sizes):
    rng = np.random.default_rng(6)
    for shift in (0, 0.1, 0.2, 0.5):
        one, two = rng.normal(size=sizes[0]), rng.normal(shift, size=sizes[1])
        exact = ks_2samp(one, two, method="exact")
        assert exact.pvalue <= kolmogorov_p_value(exact.statistic, *sizes)


@pytest.mark.parametrize("sizes", SIZES)
def test_the_p_value_is_the_integral_over_the_error_of_one_sample(sizes):
    """Massart's tail of the smaller sample's error, integrated over that of the other."""
    small, large = sizes

    def density(error, distance):
        tail = min(1, 2 * math.exp(-2 * large * (distance - error) ** 2))
        return 8 * small * error * math.exp(-2 * small * error**2) * tail

    start = math.sqrt(math.log(2) / (2 * small))  # the tail of the first error is 1 below
    for distance in (kolmogorov_bound(*sizes) * share for share in (0.7, 0.85, 1)):
        beyond = 2 * math.exp(-2 * small * distance**2)
        proved = beyond + quad(density, start, distance, args=(distance,), epsabs=1e-12)[0]
        assert proved <= kolmogorov_p_value(distance, *sizes) <= 1.5 * proved


@pytest.mark.parametrize("sizes", [*SIZES, (250, 10000), (827.1, 1e9)])
def test_the_p_value_at_the_bound_is_a_millionth(sizes):
    for comparisons in (1, 102):
        distance = kolmogorov_bound(*sizes, comparisons)
        assert kolmogorov_p_value(distance, *sizes, comparisons) == pytest.approx(1e-6)
        assert kolmogorov_p_value(distance, *sizes) == pytest.approx(1e-6 / comparisons)


def test_a_distance_of_zero_is_no_evidence():
    assert kolmogorov_p_value(0.0, 40, 300) == 1
    assert kolmogorov_p_value(0.0, math.inf, math.inf) == 1
    assert kolmogorov_p_value(0.1, math.inf, math.inf) == 0


def test_a_detectable_distance_exceeds_the_bound_in_four_of_five_samples():
    rng = np.random.default_rng(7)
    distance = detectable_distance(200, 500)
    uniform, shifted = rng.random((400, 200)), distance + rng.random((400, 500))
    found = np.array([kolmogorov_distance(*pair) for pair in zip(uniform, shifted, strict=True)])
    assert (found > kolmogorov_bound(200, 500)).mean() >= 0.8
    assert distance - kolmogorov_bound(200, 500) == pytest.approx(
        0.8416 / 2 * math.sqrt(1 / 200 + 1 / 500), rel=1e-4
    )


def test_the_norm_and_the_cell_furthest_off_are_compared():
    """The first and the third cell are off; the second by more; the fourth never moves."""
    exact = np.zeros((400, 4), np.int64)
    exact[:, :3] = np.arange(400)[:, None] % 4
    noise = exact.copy()
    noise[:40, 0] = 9
    noise[:200, 1] = 9
    noise[:40, 2] = 9
    mechanism = GeneralizedLaplace(1.0)
    table = agreement_rows(noise[None], exact, mechanism, {"experiment": "e"})
    norm, cell = table.to_dict("records")
    assert (norm["statistic"], cell["statistic"]) == ("norm", "cells")
    assert (norm["experiment"], norm["draws"], norm["effective"]) == ("e", 400, 400)
    sums = np.abs(noise).sum(axis=1), np.abs(exact).sum(axis=1)
    assert norm["distance"] == pytest.approx(kolmogorov_distance(*sums))
    assert norm["bound"] == pytest.approx(kolmogorov_bound(400, 400))
    assert cell["distance"] == pytest.approx(kolmogorov_distance(noise[:, 1], exact[:, 1]))
    assert cell["bound"] == pytest.approx(kolmogorov_bound(400, 400, 3))
    assert norm["p_value"] == pytest.approx(kolmogorov_p_value(norm["distance"], 400, 400))
    assert cell["p_value"] == pytest.approx(kolmogorov_p_value(cell["distance"], 400, 400, 3))
    assert cell["detectable"] == pytest.approx(detectable_distance(400, 400, 3))


def test_draws_of_a_slow_chain_count_for_fewer():
    rng = np.random.default_rng(1)
    slow = np.repeat(rng.integers(-5, 6, (4, 100, 2)), 10, axis=1)
    table = agreement_rows(slow, slow.reshape(-1, 2), GeneralizedLaplace(1.0), {})
    assert (table["draws"] == 4000).all()
    norms = np.abs(slow).sum(axis=-1, keepdims=True)
    sizes = [convergence(each)[["ess_bulk", "ess_tail"]].min(axis=1) for each in (norms, slow)]
    assert table["effective"].tolist() == [sizes[0][0], sizes[1][0]]  # no cell is off
    assert table["bound"].tolist() == [
        kolmogorov_bound(n, 4000, comparisons)
        for n, comparisons in zip(table["effective"], (1, 2), strict=True)
    ]


def test_cells_that_never_move_are_no_difference():
    still = np.zeros((1, 10, 2), np.int64)
    row = agreement_rows(still, still[0], GeneralizedLaplace(1.0), {}).loc[1]
    assert (row["distance"], row["bound"], row["p_value"]) == (0, 0, 1)
    assert math.isnan(row["effective"])


def test_quantiles_of_each_sample_and_cell():
    one = np.stack([np.arange(101), 2 * np.arange(101)], axis=1)
    table = quantile_table({"one": one, "two": one[None] + 1}, ["a", "b"])
    assert table.index.tolist() == [0, 1, 2, 3]
    assert table["sampler"].tolist() == ["one", "one", "two", "two"]
    assert table["name"].tolist() == ["a", "b"] * 2
    assert table["q05"].tolist() == [5, 10, 6, 11]
    assert table["q95"].tolist() == [95, 190, 96, 191]


@pytest.mark.parametrize(("even", "width"), [(True, 2), (False, 1)])
def test_shares_of_the_norm_in_equal_bins(even, width):
    values = np.array([0, 2, 2, 6]) + np.array([0, 0, 0, 0 if even else 1])
    table = norm_histogram({"one": values, "two": values[:2]}, lambda x: x, bins=10)
    assert table.index.tolist() == list(range(len(table)))
    assert (table["high"] - table["low"] == width).all()
    for name, given in (("one", values), ("two", values[:2])):
        part = table[table["sampler"] == name]
        assert part["share"].sum() == pytest.approx(1)
        for value in given:
            (share,) = part[(part["low"] < value) & (value < part["high"])]["share"]
            assert share == pytest.approx((given == value).mean())
