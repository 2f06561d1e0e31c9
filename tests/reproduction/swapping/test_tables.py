"""Tables of budgets, attacks and demonstrations: the slides' numbers and their limits."""

import math

import numpy as np
import pytest

from isdp.testing import check_mean
from reproduction.swapping import attacks, budgets, demonstrations
from reproduction.swapping.households import build_households
from reproduction.swapping.printed import counts_before, read_budgets, read_massachusetts
from reproduction.swapping.tables import tabulate_guarantees

TABLE = read_massachusetts("data/swapping/massachusetts_1940.csv")
PRINTED = read_budgets("data/swapping/budgets.csv")
TOTALS = TABLE["total"].to_numpy()


def test_all_sixteen_printed_budgets_agree_and_hold():
    found = budgets.recompute_printed(PRINTED)
    assert found["agree"].all()
    assert (found["exact"] < found["computed"]).all()
    assert found["smallest"].iloc[-1] == pytest.approx(6.242481, abs=5e-7)
    assert found["best_rate"].iloc[-1] == pytest.approx(0.99805875, abs=5e-9)


def test_a_budget_that_is_misprinted_is_noticed():
    wrong = PRINTED.copy()
    wrong.loc[3, "epsilon"] += 0.01
    assert budgets.recompute_printed(wrong)["agree"].sum() == 15


def test_curves_have_their_smallest_epsilon_and_both_sides():
    found = budgets.compute_budget_curves([10, 264331], points=41)
    assert (found["epsilon_exact"] <= found["epsilon_bound"]).all()
    for largest, part in found.groupby("largest"):
        assert part["epsilon_bound"].min() == pytest.approx(math.log(largest + 1) / 2)
        assert part["rate"].is_monotonic_increasing
        assert 0.5 in part["rate"].to_numpy()


def test_the_remarks_on_the_figure_hold_for_the_bound():
    found = budgets.check_remarks([2, 10, 264331])
    assert (found["smallest_bound"] > 0).all()
    assert found["two_rates_off"].max() < 1e-9
    assert found["grows"].all()
    assert found["smallest_exact"].iloc[0] == 0


def test_the_bound_holds_and_is_tight():
    found = budgets.compute_exact_losses([2, 3, 10, 264331], [0.05, 0.5, 0.9])
    assert (found["gap"] >= 0).all()
    large = found[(found["largest"] == 264331) & (found["rate"] == 0.5)]
    assert large["gap"].item() == pytest.approx(5.7e-6, abs=5e-8)


def test_universes_are_exact_where_they_can_be():
    found = budgets.compute_universe_losses([(3, 3, 3), tuple(TOTALS)], [0.01, 0.5])
    assert found["kind"].tolist() == ["exact", "exact", "lower bound", "lower bound"]
    assert (found["loss"] <= found["worst_universe"]).all()
    assert (found["bayes_factor"] <= found["loss"]).all()
    assert found["loss"].iloc[2:].round(5).tolist() == [18.54310, 13.94678]


def test_the_loss_of_the_table_alone_can_pass_the_limit_of_even_margins():
    found = budgets.compute_table_losses([((3, 3), (3, 3)), ((1, 12), (1, 12))], [0.5])
    assert found["tables"].tolist() == [4, 2]
    assert found["loss"].iloc[0] < found["even_limit"].iloc[0] < found["loss"].iloc[1]
    bounds = budgets.compute_table_bounds([11, 60, 1000], 0.4, [0.5])
    assert bounds["one_rare"].round(3).tolist() == [1.147, 2.039, 3.453]
    assert (bounds["two_counties"] < bounds["epsilon_bound"]).all()


def test_a_small_delta_takes_epsilon_down_to_what_is_likely():
    found = budgets.compute_profile([264331], [0.01, 0.05, 0.10, 0.50], [1e-10])
    assert found["epsilon"].round(4).tolist() == [12.5786, 12.4786, 12.4102, 11.8013]
    assert (found["epsilon"] < found["epsilon_bound"]).all()


def test_two_rates_are_an_artefact_of_deranging():
    found = budgets.compare_variants([20], [0.5, 0.9, 0.99]).pivot(
        index="rate", columns="variant", values="loss"
    )
    assert found["plain permutation"].is_monotonic_decreasing
    assert found["listing"].iloc[2] > found["listing"].iloc[1]


def test_where_a_household_lives():
    found = attacks.compute_locations(TABLE.index, TOTALS, [0.01, 0.05, 0.1, 0.5])
    island = found[found["county"] == "Nantucket"]
    assert island["posterior"].round(6).tolist() == [0.990009, 0.950045, 0.900089, 0.500447]
    assert island["log_odds_gain"].round(3).tolist() == [11.613, 9.962, 9.215, 7.019]
    assert (found["log_odds_gain"] < found["bound"]).all()
    state = attacks.compute_accuracy(TOTALS, [0.01, 0.05, 0.1, 0.5])
    assert state["accuracy"].round(5).tolist() == [0.99137, 0.95683, 0.91367, 0.56834]
    assert state["without_data"].iloc[0] == pytest.approx(0.2201, abs=5e-5)


def test_simulated_swaps_have_the_posterior():
    totals, rate = np.array([5, 40, 155]), 0.3
    found = attacks.simulate_posteriors(np.random.default_rng(9), totals, rate, 4000)
    expected = attacks.location_posterior(totals, rate)
    for county in range(3):
        check_mean(found[:, county], expected[county])


def test_with_sizes_told_apart_small_strata_expose_more():
    counts = build_households(TABLE, "persons per dwelling")
    one, sizes = (
        attacks.find_exposed_strata(counts_before(TABLE), [0.5]),
        attacks.find_exposed_strata(counts, [0.5]),
    )
    assert sizes["bayes_factor"].item() > one["bayes_factor"].item()
    assert sizes["size"].item() == 12


def test_without_equal_invariants_there_is_no_finite_budget():
    found = demonstrations.check_necessity().set_index("pair")
    equal = found.loc["equal invariants"]
    assert (equal["distance"], equal["total_variation"]) == (2, pytest.approx(5 / 36))
    assert equal["loss_per_unit"] == pytest.approx(0.779072, abs=5e-7)
    for pair in ("another county total", "another tenure total"):
        assert found.loc[pair, "distance"] == 1
        assert found.loc[pair, "total_variation"] == 1
        assert found.loc[pair, "multiplicative"] == math.inf
    assert found.loc["integer noise, another row total", "total_variation"] == pytest.approx(1)
    assert found.loc["integer noise, another row total", "multiplicative"] == math.inf
    assert found.loc["two households at p = 1/2, a constant mechanism", "multiplicative"] == 0


def test_dropping_an_implied_sum_changes_no_rank():
    found = demonstrations.rank_reduced_margins()
    assert found["rank"].tolist() == [7] * 9
    assert found["implied"].tolist() == [False] + [True] * 8


def test_epsilon_falls_in_three_ways_without_more_noise():
    by_size = build_households(TABLE, "equal mix")
    found = demonstrations.tabulate_perverse_guide(PRINTED, counts_before(TABLE), by_size)
    for way, part in found.groupby("way"):
        steps = part["epsilon"].to_numpy()
        if way == "more invariants":
            assert steps[:6].round(2).tolist() == [19.38, 18.06, 18.00, 16.60, 12.92, 12.31]
            assert steps[6:].round(2).tolist() == [16.89, 15.43]
            one_stratum, by_size = part["mape"].iloc[6:]
            assert round(one_stratum, 4) == 1.3662
            assert by_size < one_stratum
        assert (np.diff(steps[:6]) < 0).all()
    person = found[found["step"].str.contains("person,")]
    assert person["epsilon"].round(2).item() == 7.71


def test_errata_are_computed():
    found = demonstrations.list_errata(PRINTED).set_index("erratum")["computed"]
    assert found["rho and rho squared"] == "380.5"
    assert found["any proper subset of the invariants"] == "rank 7 of 7"
    assert found["smallest attainable epsilon is positive"] == "0"
    assert found["household size of the 2020 strata"].startswith("54.3%")


def test_flavours_are_listed():
    made = tabulate_guarantees(PRINTED, TABLE, {}, 0)
    found = made["flavours"].set_index("name")
    assert found["intensity"].round(4)[["TopDown, PL 94-171"]].item() == 1.6217
    assert found["intensity"].round(4)[["TopDown, PL 94-171 and DHC"]].item() == 3.9102
    assert len(made["flavours_cited"]) == 26
