import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from isdp.constraints.polytope import Polytope
from isdp.testing import DistributionError, check_mean
from reproduction.congenial import sex_by_age as sexage
from reproduction.data.table_p12 import build_table, sex_by_age_invariants

COUNTS = build_table(
    {
        "female": [8, 6, 3, 6, 4, 4, 4, 8, 5, 7, 7, 6, 1, 5, 4, 4, 9, 6, 2, 8, 8, 8, 7],
        "male": [3, 4, 5, 8, 6, 4, 5, 5, 5, 6, 10, 7, 3, 2, 5, 11, 6, 4, 7, 4, 5, 3, 8],
    }
)
PRINTED = {
    "female": [6, 6, 4, 3, 2, 10, 2, 5, 6, 7, 5, 6, 0, 5, 4, 5, 10, 8, 3, 8, 8, 12, 5],
    "male": [9, 4, 5, 6, 3, 4, 5, 5, 3, 4, 7, 8, 5, 3, 2, 23, 8, 2, 6, 3, 0, 3, 8],
}
WALK = {"chains": 2, "draws": 60, "burn_in": 50, "thin": 2}
SETTINGS = {
    "file": None,
    "printed": PRINTED,
    "epsilon": 0.5,
    "proposal_epsilon": 0.6,
    "solved": [1, 23, 46],
    "walk": {"proposal": 0.8, **WALK},
    "independence": {"chains": 2, "draws": 60, "burn_in": 100, "thin": 100},
    "acceptance": {
        "proposal_epsilons": [0.4, 0.6],
        "paper": [None, 1.678],
        "chains": 4,
        "iterations": 4000,
    },
    "distances": {
        "tables": 6,
        "paper_tables": 20,
        "releases": 40,
        "successes": 100,
        "failure": 0.05,
        "raw_epsilon": 1.0,
        "walk": {"proposal": 0.8, **WALK},
        "unmixed": [40],
        "paper": {"raw": {"l1": 39.33, "l2": 9.08}},
    },
}


def simulated(seed, tables):
    settings = {**SETTINGS, "distances": SETTINGS["distances"] | {"tables": tables}}
    return sexage.draw_confidential_tables(np.random.default_rng(seed), COUNTS, settings)


@pytest.fixture(scope="module")
def compared():
    walk = sexage.build_lattice_walk(COUNTS, 0.5, 0.8)
    independence = sexage.build_independence_sampler(COUNTS, SETTINGS)
    settings = {"chains": 2, "draws": 60, "burn_in": 100, "thin": 100}
    return sexage.compare_samplers(
        np.random.default_rng(1), {"walk": (walk, WALK), "independence": (independence, settings)}
    )


def test_the_samplers_are_described_and_their_draws_lie_within(compared):
    table, draws = compared
    polytope = Polytope.of_counts(sex_by_age_invariants(), COUNTS)
    for noise in draws.values():
        assert polytope.contains(COUNTS + noise).all()
    assert table["outside"].tolist() == [0, 0]
    norms = sexage.tabulate_norms(draws)
    assert norms.groupby("sampler")["share"].sum().tolist() == pytest.approx([1, 1])


def test_a_release_keeps_the_sums_that_are_marked(compared):
    _, draws = compared
    table = sexage.tabulate_release(COUNTS, COUNTS + draws["walk"][0, -1])
    held = table[table["held"]]
    assert held["age"].tolist() == ["18 and over", "all ages"]
    assert held["confidential_both"].tolist() == [213, 256]
    assert held["released_both"].tolist() == [213, 256]
    everyone = held[held["age"] == "all ages"]
    for sex in ("female", "male"):
        assert everyone[f"released_{sex}"].tolist() == everyone[f"confidential_{sex}"].tolist()


@pytest.mark.parametrize("printed", [None, PRINTED])
def test_both_samplers_are_described_and_one_release_is_tabulated(printed):
    tables, noise = sexage.sample_tables(
        np.random.default_rng(1),
        COUNTS,
        {**SETTINGS, "printed": printed},
    )
    assert noise.shape == (2, 60, 46)
    assert tables["chains"]["sampler"].tolist() == ["walk", "independence"]
    assert tables["speed"].columns.tolist() == ["sampler", *sexage.SPEED_COLUMNS]
    assert set(sexage.SPEED_COLUMNS) & set(tables["chains"]) == set()
    released = tables["release"].loc[:22, "released_female"] - COUNTS[:23]
    assert released.tolist() == noise[0, -1, :23].tolist()
    assert tables["printed"]["violations"].tolist() == ([] if printed is None else [0])


def test_tables_to_compare_are_simulated_or_one_table_again_and_again():
    same = sexage.draw_confidential_tables(
        np.random.default_rng(1), COUNTS, {**SETTINGS, "file": "p12.csv"}
    )
    assert same.tolist() == [COUNTS.tolist()] * 6
    drawn = simulated(1, 3)
    assert drawn.shape == (3, 46)
    assert len({tuple(table) for table in drawn.tolist()}) == 3


def test_a_printed_release_is_placed_and_its_errors_are_counted(compared):
    _, draws = compared
    worse = COUNTS.copy()
    worse[0] += 1
    worse[1] = -1
    place = sexage.place_release(COUNTS, worse, draws["walk"]).iloc[0]
    assert place["violations"] == 3  # all three sums are off but that of voting age; one below zero
    assert place["l1"] == 1 + 7
    assert place["l1_percentile"] == 0
    assert (place["l1_percentile_low"], place["l1_effective_draws"]) == (
        0,
        draws["walk"][..., 0].size,
    )
    assert 0 < place["l1_percentile_high"] < 0.06
    norms = np.abs(draws["walk"]).sum(axis=-1)
    assert [place[f"l1_{end}"] for end in ("low", "high")] == np.quantile(
        norms, [0.005, 0.995]
    ).tolist()
    assert sexage.place_release(COUNTS, None, draws["walk"]).empty


def test_a_percentile_is_known_as_well_as_the_chains_are_mixed():
    """Draws that are kept many times over are worth no more than once."""
    rng = np.random.default_rng(8)
    few = rng.integers(-3, 4, (2, 50, len(COUNTS)))
    often = np.repeat(few, 20, axis=1)
    released = COUNTS + few[0, 0]
    once, again = (sexage.place_release(COUNTS, released, each).iloc[0] for each in (few, often))
    assert again["l1_percentile"] == pytest.approx(once["l1_percentile"])
    assert again["l1_effective_draws"] < 3 * once["l1_effective_draws"] < 1000
    for place in (once, again):
        assert place["l1_percentile_low"] < place["l1_percentile"] < place["l1_percentile_high"]


def test_acceptance_from_both_kinds_of_start(compared):
    _, draws = compared
    noise = draws["walk"]
    rates = sexage.measure_acceptance(np.random.default_rng(2), COUNTS, SETTINGS, noise)
    assert rates["start"].tolist() == ["target", "confidential", "either"] * 2
    stuck = rates.iloc[1]
    assert (stuck["accepted"], stuck["never_moved"], stuck["percent"]) == (0, 4, 0)
    assert stuck["high"] > 0
    assert (rates.loc[3:, "percent"].between(0.5, 3)).all()
    assert rates["paper_percent"].notna().tolist() == [False] * 3 + [True] * 3
    assert (rates.loc[:2, "ahead_high"] < 0).all()
    assert (rates.loc[3:, "ahead"] == 0).all()
    for _, part in rates.groupby("proposal_epsilon"):
        one, other, both = (part.set_index("start").loc[name] for name in part["start"])
        assert both["accepted"] == one["accepted"] + other["accepted"]
        assert both["never_moved"] == one["never_moved"] + other["never_moved"]
        assert (both["chains"], both["iterations"]) == (8, 4000)
        assert both["percent"] == pytest.approx((one["percent"] + other["percent"]) / 2)


def test_rates_are_set_against_that_at_the_papers_best_from_the_same_start():
    rates = pd.DataFrame(
        {
            "start": ["target", "confidential", "target", "confidential"],
            "percent": [1.55, 1.0, 1.60, 0.5],
            "low": [1.51, 1.0, 1.57, 0.5],
            "high": [1.58, 1.0, 1.64, 0.5],
            "paper_percent": [1.68, 1.68, 1.56, 1.56],
        }
    )
    found = sexage.compare_with_best_rate(rates)
    assert found["ahead"].tolist() == pytest.approx([0, 0, 0.05, -0.5])
    assert found["ahead_low"].iloc[2] == pytest.approx(0.05 - np.hypot(0.03, 0.03))
    assert found["ahead_high"].iloc[2] == pytest.approx(0.05 + np.hypot(0.04, 0.04))
    unknown = sexage.compare_with_best_rate(rates.assign(paper_percent=np.nan))
    assert unknown["ahead"].isna().all()


def test_a_trace_keeps_every_change_and_the_longest_stay():
    sampler = sexage.build_independence_sampler(COUNTS, SETTINGS)
    trace = {"steps": 2000, "chains": 3, "paper": {"ess": 90}}
    tables = sexage.trace_chains(np.random.default_rng(3), COUNTS, {**SETTINGS, "trace": trace})
    traces, summary, spread = (tables[name] for name in ("steps", "trace", "spread"))
    assert summary["proposed"].tolist() == [False, True]
    assert summary["confidential"].tolist() == [8, 6]
    first = np.random.default_rng(3).spawn(3)[0]
    noise, _, info = sampler.run(first, sampler.init(), 2000)
    rebuilt = traces[traces["cell"] == 2].set_index("step")["count"]
    rebuilt = rebuilt[~rebuilt.index.duplicated()].reindex(range(1, 2001)).ffill()
    assert (rebuilt.to_numpy() == COUNTS[1] + noise[:, 1]).all()
    assert summary["acceptance_percent"].iloc[0] == pytest.approx(100 * info.acceptance_rate)
    longest = max(len(list(run)) for run in _runs(noise))
    assert summary["longest_stay"].iloc[0] == longest
    assert (spread.set_index("statistic").loc["ess", ["q05", "median", "q95"]] > 0).all()
    assert spread.set_index("statistic")["share_below_paper"].isna().tolist() == [
        True,
        True,
        False,
    ]


def test_a_share_of_chains_is_known_within_the_exact_binomial_limits():
    low, high = sexage.clopper_pearson(20, 20)
    assert high == 1
    assert low**20 == pytest.approx(0.005)  # all 20 came true with that chance
    low, high = sexage.clopper_pearson(3, 10)
    assert stats.binom.sf(2, 10, low) == pytest.approx(0.005)
    assert stats.binom.cdf(3, 10, high) == pytest.approx(0.005)


def _runs(noise):
    run = [noise[0]]
    for before, after in pairwise(noise):
        if (before == after).all():
            run.append(after)
        else:
            yield run
            run = [after]
    yield run


def test_distances_method_by_method():
    tables = simulated(4, 6)
    assert tables.shape == (6, 46)
    settings = {**SETTINGS, "solved": None}
    means, mixing = sexage.measure_distances(np.random.default_rng(5), tables, settings)
    medians = sexage.tabulate_medians(means, settings)
    by = medians[medians["distance"] == "l1"].set_index("method")["median"]
    assert by["unmixed_40"] < by["projected"] + 15
    assert by["raw"] < by["conditional"] < by["raw_half"]
    assert len(mixing) == 6
    raw = medians[medians["method"] == "raw"].iloc[0]
    assert raw["closed_form"] == pytest.approx(39.142, abs=5e-4)
    check_mean(raw["median"], raw["closed_form"], raw["se"])
    both = np.hypot(raw["se"], raw["paper_se"])
    assert raw["z_paper"] == pytest.approx((raw["median"] - raw["paper"]) / both)
    assert raw["paper_se"] == pytest.approx(raw["se"] * math.sqrt(6 / 20))
    assert medians.loc[medians["paper"].isna(), "paper_se"].isna().all()
    assert isinstance(mixing, pd.DataFrame)


def test_negative_binomial_tables_have_the_papers_moments():
    tables = simulated(6, 2000)
    mean, variance = 100 * 0.05 / 0.95, 100 * 0.05 / 0.95**2
    check_mean(tables, mean, math.sqrt(variance))
    squares = (tables - mean) ** 2
    check_mean(squares, variance)
    with pytest.raises(DistributionError):
        check_mean(squares, 1.05 * variance)
