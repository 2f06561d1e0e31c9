"""The 1940 experiment: the printed swap against its law, and errors by rate."""

import numpy as np
import pytest

from reproduction.swapping.households import build_households, build_scenarios
from reproduction.swapping.massachusetts import (
    compare_counties,
    fit_scenarios,
    measure_printed,
    simulate_swaps,
    summarise_runs,
    unmix_printed,
)
from reproduction.swapping.printed import counts_before, read_massachusetts

TABLE = read_massachusetts("data/swapping/massachusetts_1940.csv")
ONE = {"one stratum": counts_before(TABLE)}
# as an independent prototype found: z of each county's owners under one stratum, p = 1/2
Z = [0.59, 1.17, 0.52, 0.60, -0.59, -0.42, 0.57, -0.12, 1.87, -1.49, -0.77, -1.72, -3.09, 2.21]


def test_the_printed_swap_in_standard_deviations():
    found = compare_counties(TABLE, ONE)
    assert found["z"].round(2).tolist() == Z
    assert found["mean"].sum() == pytest.approx(TABLE["owned"].sum())


def test_one_stratum_explains_the_printed_swap_only_just():
    row = fit_scenarios(TABLE, ONE).iloc[0]
    assert row["chi_square"] == pytest.approx(23.486, abs=5e-4)
    assert row["degrees"] == 13
    assert row["p"] == pytest.approx(0.036, abs=5e-4)
    assert (row["farthest"], round(row["z"], 2)) == ("Suffolk", -3.09)
    assert (round(row["rate"], 4), round(row["error"], 4)) == (0.4929, 0.0040)
    assert row["chi_square_at_rate"] == pytest.approx(20.45, abs=5e-3)


def test_household_size_explains_it_better():
    found = fit_scenarios(TABLE, build_scenarios(TABLE)).set_index("scenario")
    assert found["chi_square"].idxmax() == "one stratum"
    assert found["chi_square"].idxmin() == "fitted"
    assert found["fitted"].tolist() == [False, False, False, True]
    assert found.loc["equal mix", "chi_square"] == pytest.approx(20.53, abs=5e-3)
    assert found.loc["persons per dwelling", "chi_square"] == pytest.approx(21.87, abs=0.05)


def test_the_printed_errors_and_what_undoing_the_swap_leaves_of_them():
    found = measure_printed(TABLE).set_index("table")
    plain, undone = found.loc["as printed"], found.loc["unmixed"]
    assert (round(plain["mape"], 4), plain["l1"], plain["largest"]) == (13.7759, 84644, 17701)
    assert (round(plain["mape_owned"], 4), round(plain["mape_rented"], 4)) == (12.8554, 14.6964)
    assert (round(undone["mape"], 4), round(undone["l1"], 1)) == (1.4156, 7438.8)
    assert round(plain["expected_mape"], 3) == 13.649
    assert round(undone["expected_mape"], 3) == 1.151


def test_the_unmixed_table_keeps_the_totals_and_its_worst_county():
    found = unmix_printed(TABLE)
    assert found["off_unmixed"].sum() == pytest.approx(0, abs=1e-6)
    worst = found.loc[found["off_unmixed"].abs().idxmax()]
    assert (worst["county"], round(worst["off_unmixed"])) == ("Suffolk", -1084)


def small(counts):
    return (counts + 99) // 100


def test_errors_grow_with_the_rate_and_no_total_moves():
    households = {
        "one stratum": small(counts_before(TABLE)),
        "equal mix": small(build_households(TABLE, "equal mix")),
    }
    rates = [0.05, 0.2, 0.5]
    runs = simulate_swaps(np.random.default_rng(8), households, rates, 5)
    assert len(runs) == 2 * 3 * 5
    assert runs["violations"].sum() == 0
    for scenario, part in runs.groupby("scenario"):
        # both add up the same 28 deviations, one of them relative to the cells
        least, most = (f(households[scenario].sum(axis=0)) for f in (np.min, np.max))
        for mean, total in (("mape", "l1"), ("mape_unmixed", "l1_unmixed")):
            assert part[total].between(*(0.28 * part[mean] * cell for cell in (least, most))).all()
    found = summarise_runs(runs, households, 13.0)
    for scenario in households:
        part = found[found["scenario"] == scenario]
        assert part["rate"].tolist() == rates
        assert part["median"].is_monotonic_increasing
        assert part["grows"].tolist()[1:] == [True, True]
        half = part.iloc[-1]
        assert half["printed_z"] == pytest.approx((13.0 - half["expected"]) / half["sd"])
        assert part[["printed_z"]].isna().sum().item() == 2
        assert (part["median_unmixed"] < part["median"]).all()
        assert (part["smallest"] <= part["median"]).all()
        assert (part["median"] <= part["largest"]).all()


def test_an_error_that_does_not_grow_is_noticed():
    households = {"one stratum": small(counts_before(TABLE))}
    runs = simulate_swaps(np.random.default_rng(8), households, [0.1, 0.5], 3)
    runs["rate"] = 0.6 - runs["rate"]  # what was seen at 10 % is said to be of 50 %, and so on
    found = summarise_runs(runs.round({"rate": 1}), households, 13.0).set_index("rate")["grows"]
    assert found[0.5] == False  # noqa: E712
    assert np.isnan(found[0.1])
