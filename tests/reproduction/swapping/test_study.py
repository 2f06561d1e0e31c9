"""What the study gathers for its tables and figures, and how it is judged."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from isdp.swapping.mechanism.permutation import Strata
from isdp.swapping.privacy.bound import epsilon_bound
from isdp.swapping.privacy.worst_case import worst_case_loss
from reproduction.swapping import attacks, budgets, demonstrations
from reproduction.swapping.households import build_households
from reproduction.swapping.massachusetts import fit_by_rate, fit_scenarios
from reproduction.swapping.printed import counts_before, read_budgets, read_massachusetts
from reproduction.swapping.theory.flavours import SYSTEMS

TABLE = read_massachusetts("data/swapping/massachusetts_1940.csv")
PRINTED = read_budgets("data/swapping/budgets.csv")
ONE = counts_before(TABLE)


def test_the_permutations_drawn_have_their_law():
    found = budgets.compare_permutations(np.random.default_rng(11), (3, 4), (0.5,), 20_000)
    assert found["permutations"].tolist() == [6, 24]
    # in three records no permutation moves just one, and every other one is seen
    assert found["seen"].tolist() == [6, 24]
    assert found["p"].min() > 1e-6
    assert found["p"].to_numpy() == pytest.approx(chi2.sf(found["chi_square"], [5, 23]))
    assert found["expected_least"].min() > 5


@pytest.mark.parametrize("wrong", ["cycle", "no redraw"])
def test_a_wrong_law_is_noticed(wrong):
    """A single cycle through all selected, and a selection of one that is left as it is."""

    def draw(rng, strata: Strata, rate):
        sigma = np.arange(len(strata.order))
        for start, stop in zip(strata.starts[:-1], strata.starts[1:], strict=True):
            chosen = start + np.flatnonzero(rng.random(stop - start) < rate)
            while wrong == "cycle" and len(chosen) == 1:
                chosen = start + np.flatnonzero(rng.random(stop - start) < rate)
            if wrong == "cycle":
                chosen = rng.permutation(chosen)
                sigma[chosen] = np.roll(chosen, 1)
            elif len(chosen) > 1:
                moved = chosen
                while (moved == chosen).any():
                    moved = rng.permutation(chosen)
                sigma[chosen] = moved
        return sigma

    found = budgets.compare_permutations(np.random.default_rng(11), (4,), (0.5,), 20_000, draw)
    assert found["p"].iloc[0] < 1e-6


def test_a_bound_that_is_attained_is_not_called_broken():
    found = budgets.compare_variants((4,), (0.9,))
    listing = found[found["variant"] == "listing"].iloc[0]
    assert listing["loss"] == pytest.approx(listing["epsilon_bound"], abs=1e-14)
    assert found["within"].all()


def test_room_below_the_bound_is_the_bound_less_the_loss():
    for found in (
        budgets.compute_universe_losses([(3, 3, 3)], [0.05, 0.5]),
        budgets.compute_table_losses([((3, 3), (3, 3))], [0.05, 0.5]),
    ):
        assert np.allclose(found["gap"], found["epsilon_bound"] - found["loss"])
        assert (found["gap"] > 0).all()


def test_tightness_gathers_gaps_and_profiles():
    points = budgets.gather_tightness_points([10, 100], [0.05, 0.5], [1e-3, 1e-10], 11691)
    gap = points[points["panel"] == "gap"]
    assert gap["x"].tolist() == [10, 100]
    assert gap["y"].tolist() == [epsilon_bound(0.5, n) - worst_case_loss(0.5, n) for n in (10, 100)]
    profile = points[points["panel"] == "profile"].set_index(["rate", "x"])["y"]
    bound = points[points["panel"] == "bound"].set_index(["rate", "x"])["y"]
    assert (profile < bound).all()
    assert round(profile[0.05, 1e-10], 4) == 9.5276


def test_every_two_systems_are_compared_and_few_may_be():
    found = demonstrations.compare_flavours()
    compared = [one for one in SYSTEMS if one.intensity != 0]
    assert len(found) == len(compared) ** 2
    same = found[found["first"] == found["second"]]
    assert (same["number"] == 0).all()
    two = found[(found["first"] == "TopDown, PL 94-171 and DHC") & (found["ratio"] > 1)]
    assert two["second"].tolist() == ["TopDown, PL 94-171"]
    assert two["ratio"].item() == pytest.approx(math.sqrt(15.29 / 2.63))
    refused = found[found["number"] > 0]
    assert refused["ratio"].isna().all()
    assert refused["why"].str.contains("different flavours").all()


def test_the_budgets_of_2020_by_three_conversions():
    found = demonstrations.convert_topdown_budgets().set_index("rho")
    row = found.loc[found.index[1]]
    assert row["on_d_nor"] == pytest.approx(3.9102, abs=5e-5)
    assert row["slides"] == pytest.approx(52.8168, abs=5e-5)
    assert row["Canonne-Kamath-Steinke"] == pytest.approx(51.5626, abs=5e-4)
    assert row["exact Gaussian"] == pytest.approx(49.8034, abs=5e-4)
    assert row["misread"] == pytest.approx(380.523, abs=5e-3)
    assert row["slides_low"] == pytest.approx(52.8057, abs=5e-4)  # of 15.285
    assert row["slides_high"] == pytest.approx(52.8280, abs=5e-4)  # of 15.295
    assert row["off_printed"] == pytest.approx(52.83 - row["slides_high"])
    assert found["off_printed"].notna().sum() == 1
    assert found.loc[found.index[0], "slides_high"] == pytest.approx(18.2136, abs=5e-4)


def test_the_budgets_on_the_theorems_metric_are_within_those_printed():
    found = demonstrations.convert_topdown_budgets().set_index("system")["share_of_rho"]
    assert found["TopDown, PL 94-171"] == pytest.approx(2.63**-0.5)
    assert found["TopDown, PL 94-171 and DHC"] == pytest.approx(15.29**-0.5)


def test_releasing_only_the_totals_costs_nothing_or_everything():
    found = demonstrations.check_necessity().set_index("pair")["multiplicative"]
    assert found["equal invariants, and only the totals are released"] == 0
    assert found["another county total, and only the totals are released"] == math.inf


def test_steps_of_the_perverse_guide_that_do_not_fall_are_named():
    turned = PRINTED.iloc[::-1]
    found = demonstrations.tabulate_perverse_guide(
        turned, ONE, build_households(TABLE, "equal mix")
    )
    of_2020 = found[found["step"].str.startswith("2020")]["falls"]
    assert of_2020.isna().tolist() == [True] + [False] * 5
    assert not of_2020.iloc[1:].any()
    assert found["falls"].isna().sum() == 4


def test_chi_square_is_least_near_the_likely_rate():
    household = {"one stratum": ONE}
    rates = np.linspace(0.47, 0.52, 11)
    curve = fit_by_rate(TABLE, household, rates)
    fitted = fit_scenarios(TABLE, household).iloc[0]
    assert curve.loc[curve["chi_square"].idxmin(), "rate"] == pytest.approx(0.495)
    assert fitted["rate_z"] == pytest.approx((fitted["rate"] - 0.5) / fitted["error"])
    at_half = curve[np.isclose(curve["rate"], 0.5)]["chi_square"].item()
    assert at_half == pytest.approx(fitted["chi_square"])


def test_simulated_swaps_stand_beside_their_own_county_and_rate():
    totals = np.array([5, 40, 155])
    found = attacks.compute_locations(["a", "b", "c"], totals, [0.1, 0.6])
    runs = {
        rate: attacks.simulate_posteriors(np.random.default_rng(2), totals, rate, 50)
        for rate in (0.1, 0.6)
    }
    tables = {rate: pd.DataFrame(each, columns=list("abc")) for rate, each in runs.items()}
    placed = attacks.add_simulated(found.iloc[::-1], tables).iloc[::-1]
    means = [*runs[0.1].mean(axis=0), *runs[0.6].mean(axis=0)]
    assert placed["simulated"].tolist() == pytest.approx(means)
    last = placed.iloc[-1]
    spread = runs[0.6][:, 2].std(ddof=1) / math.sqrt(50)
    assert last["simulated_error"] == pytest.approx(spread)
