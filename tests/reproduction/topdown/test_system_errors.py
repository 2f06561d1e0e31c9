from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from isdp.errors import InputError
from isdp.testing import check_mean
from reproduction.data.histogram import Histogram, read_histogram
from reproduction.data.published import read_published
from reproduction.topdown.configurations import SCHEMA_WITHOUT_RACE, tabulate_configurations
from reproduction.topdown.experiment import (
    census_hierarchy,
    draw_state_noise,
    keep_states,
    sum_counts,
)
from reproduction.topdown.implied_constraints import (
    PRINTED_CONSTRAINTS,
    TRUE_TOTALS,
    check_witness,
    list_possible_totals,
    tabulate_dormitories,
    tabulate_naive,
)
from reproduction.topdown.read_demonstration import read_demonstration_counts
from reproduction.topdown.settings import group_configurations
from reproduction.topdown.system_errors import (
    INTEGER_SYSTEMS,
    TOTALS_SYSTEM,
    compare_invariants,
    run_other_systems,
    run_topdown,
)
from reproduction.topdown.tables import (
    average_runs,
    collect_tables,
    tabulate_bias,
    tabulate_causes,
    tabulate_rounding,
    tabulate_trend,
)
from tests import ROOT
from tests.reproduction.data.nhgis import write_demonstration
from tests.reproduction.topdown.students import share_beyond

DATA = ROOT / "data"


@pytest.fixture(scope="module")
def small():
    published = read_published(DATA / "census2010_county_population.csv")
    whole = read_histogram(DATA / "census2010_race_hispanic_adult_county.csv", published)
    return keep_states(whole, ["IL", "VT", "DE"])


@pytest.fixture(scope="module")
def runs(small):
    return run_topdown(11, small, {"identity 4": 2, "identity 4, four cells": 1})


def test_configurations_of_one_family_run_together():
    given = {"slides": 1, "slides, total first": 2, "identity 4": 3}
    assert group_configurations(given) == {
        "slides": {"slides": 1, "slides, total first": 2},
        "identity": {"identity 4": 3},
    }


def test_a_run_does_not_depend_on_what_else_is_run(small, runs):
    alone = run_topdown(11, small, {"identity 4": 1})
    both = runs["summary"]
    first = both[(both["system"] == "identity 4") & (both["run"] == 0)].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone["summary"], first)


def test_runs_differ_and_each_is_measured(runs):
    summary = runs["summary"].set_index(["system", "run"])
    assert (
        summary.loc[("identity 4", 0), "mae_total"] != summary.loc[("identity 4", 1), "mae_total"]
    )
    assert set(runs["counties"]["system"]) == {"identity 4", "identity 4, four cells"}
    assert set(runs["fingerprint"]["system"]) == {"identity 4"}  # it needs races


def test_the_slopes_that_are_shown_are_of_the_first_run_of_each_system(runs):
    tables = collect_tables(runs, {"identity 4": 2, "identity 4, four cells": 1}, "IL")
    assert set(runs["slopes"]["run"]) == {0, 1}
    for name in ("slopes", "slopes_points"):
        assert not tables[name].duplicated(["system", "state"]).any()


def test_four_cells_are_the_histogram_without_races(small):
    table = sum_counts(small, SCHEMA_WITHOUT_RACE)
    assert table.shape == (len(small.counties), 4)
    assert (table.sum(axis=1) == small.counties["population"]).all()
    by_hand = small.counts.reshape(-1, 63, 4).sum(axis=1)
    assert (table == by_hand).all()


def test_the_bureaus_counts_are_put_in_the_order_of_ours_in_their_own_vintage_alone(
    small, tmp_path
):
    back = small.counties.iloc[::-1].reset_index(drop=True)
    more, public = small.counts + np.arange(252) % 5, small.counts

    def found(published, vintage="20210608"):
        path = write_demonstration(tmp_path, back, more[::-1], published[::-1])
        return read_demonstration_counts({"vintage": vintage}, str(path), "", back, small)

    assert (found(public).counts == more).all()
    assert all(found(public, vintage) is None for vintage in ("", "20201116", "20230403"))
    with pytest.raises(InputError, match="published counts"):
        found(public + 1)


def test_other_systems_are_measured_with_and_without_the_bureaus_file(small):
    moved = small.counts + np.random.default_rng(0).integers(0, 3, small.counts.shape)
    private = Histogram(small.counties, moved)
    found = run_other_systems(3, small, 1, 4, private)
    assert set(found["bias"]["system"]) == {"Bureau", *INTEGER_SYSTEMS.values()}
    assert (found["summary"]["system"] == TOTALS_SYSTEM).sum() == 4
    without = run_other_systems(3, small, 1, 4)
    ours = found["bias"][found["bias"]["system"] != "Bureau"].reset_index(drop=True)
    pd.testing.assert_frame_equal(without["bias"], ours)


def test_noise_of_totals_adds_up_to_zero_in_each_state(small):
    noise = draw_state_noise(np.random.default_rng(1), small.counties, 0.2, 5)
    assert noise.any()
    for rows in small.counties.groupby("state").indices.values():
        assert (noise[:, rows].sum(axis=1) == 0).all()


def test_the_same_measurements_with_and_without_invariants(small):
    found = compare_invariants(5, small, ["identity 4"]).set_index("held")
    assert found.loc[True, "mae_state"] == 0
    # noise of a standard deviation of 50 or so in each state's total is not 0 in all three
    assert found.loc[False, "mae_state"] > 0
    assert found.loc[True, "apart"] == found.loc[False, "apart"]
    # with noise of its own each, 29 % of the cells would differ; over seeds it is 1.1 % with a
    # standard deviation of 0.4
    assert 0 < found.loc[True, "differ"] < 0.2


def test_the_gain_by_invariants_has_an_error_over_the_states(small):
    tree = census_hierarchy(small)
    true = dict(zip(tree.levels, tree.aggregate(small.counts), strict=True))
    rng = np.random.default_rng(8)
    off = {held: rng.integers(-9, 10, true["state"].shape) for held in (True, False)}

    def released(rng, histogram, plan):
        tables = true | {"state": true["state"] + off[bool(plan.held)]}
        return SimpleNamespace(tables=tables)

    found = compare_invariants(5, small, ["identity 4"], released).set_index("held")

    def gain(states):
        squares = [(off[held][states] ** 2).mean() for held in (True, False)]
        return 100 * (1 - np.sqrt(squares[0] / squares[1]))

    number = len(true["state"])
    assert found.loc[True, "gain_percent"] == pytest.approx(gain(range(number)))
    left_out = [gain([k for k in range(number) if k != state]) for state in range(number)]
    error = np.sqrt((number - 1) * np.var(left_out))
    assert found.loc[True, "gain_error"] == pytest.approx(error)
    assert found.loc[False, ["gain_percent", "gain_error"]].tolist() == [0, 0]


def test_levels_are_summed_up_from_their_parents():
    nodes = [
        {"system": "a", "level": "county", "parent": name, "cells": cells, "dropped": 10 - cells}
        | {"variables": 3 * cells, "cost": float(cells), "off_whole": 0.0}
        for name, cells in (("A", 4), ("B", 8))
    ]
    row = tabulate_rounding(pd.DataFrame(nodes)).iloc[0]
    assert row["parents"] == 2
    assert row["dropped"] == pytest.approx((0.6 + 0.2) / 2)
    assert (row["variables"], row["cost"]) == (24, 6)


def test_means_over_runs_come_with_their_errors():
    table = pd.DataFrame({"system": ["a", "a", "b"], "run": [0, 1, 0], "x": [1.0, 3.0, 5.0]})
    found = average_runs(table, [], ["x"]).set_index("system")
    assert found.loc["a", "x"] == 2
    assert found.loc["a", "x_error"] == pytest.approx(1)
    assert found.loc["b", "runs"] == 1
    assert np.isnan(found.loc["b", "x_error"])


def test_configurations_say_what_their_names_stand_for():
    runs = {"identity 4": 10, "slides, total first": 2, "identity 4, four cells": 3}
    runs |= {"production": 1, "slides, negatives allowed": 4, "identity 1, nothing held": 5}
    table = tabulate_configurations(runs).set_index("system")
    assert table["runs"].to_dict() == runs
    levels = "nation 16.7 %, state 16.7 %, county 16.7 %"
    assert table.loc["identity 4", "levels"] == levels
    assert table.loc["slides, total first", "county_queries"] == (
        "total 30 %, hispanic*adult 10 %, race 10 %, all cells 50 %"
    )
    assert table["budget"].unique().tolist() == ["epsilon 4", "rho 2.556", "epsilon 1"]
    first = table["passes"] == "totals first"
    assert table.index[first].tolist() == ["slides, total first", "production"]
    assert table.index[table["negatives"]].tolist() == ["slides, negatives allowed"]
    assert table.index[table["held"] == "nothing"].tolist() == ["identity 1, nothing held"]
    assert table["cells"].tolist() == [252, 252, 4, 252, 252, 252]
    assert (table["levels_below_county"] == 0).all()


def test_causes_name_only_what_was_run_each_with_its_own_numbers(runs):
    other = runs["bias"].assign(system="Bureau", mean=runs["bias"]["mean"] + 1)
    bias = tabulate_bias(pd.concat([other, runs["bias"]]))
    causes = tabulate_causes(tabulate_trend(runs["summary"]), bias)
    assert causes["system"].tolist() == ["identity 4", "identity 4, four cells"]
    mean = bias[bias["cell_class"] == "0"].set_index("system")["mean"]
    np.testing.assert_array_equal(causes["mean_0"], mean.reindex(causes["system"]))


def test_all_descriptions_of_the_dormitories_but_the_obvious_one_agree():
    table = tabulate_dormitories().set_index("constraints")
    assert len(list_possible_totals()) == 99**2
    exact = table.drop(index=["non-negative", "occupied dormitories"])
    assert (exact["totals"] == 99**2).all()
    assert (exact[["missing", "impossible", "wrong"]] == 0).all(axis=None)
    assert not exact["allows_49_50_101"].any()
    assert table.loc["non-negative", "totals"] == 201 * 202 // 2
    assert table.loc["occupied dormitories", "totals"] == 19_503
    assert table.loc["occupied dormitories", "allows_49_50_101"]
    obvious = table.loc["occupied dormitories"]
    assert (obvious["missing"], obvious["impossible"], obvious["wrong"]) == (0, 9702, 9702)


def test_constraints_that_rule_out_what_exists_are_wrong_too():
    row, least = PRINTED_CONSTRAINTS[0]
    table = tabulate_dormitories(((row, least + 1), *PRINTED_CONSTRAINTS[1:])).set_index(
        "constraints"
    )
    ruled_out = int((list_possible_totals() @ row == least).sum())
    assert ruled_out > 0
    found = table.loc["printed", ["missing", "impossible", "wrong"]]
    assert found.tolist() == [ruled_out, 0, ruled_out]


def test_impossible_releases_are_counted_with_their_error():
    table = tabulate_naive(np.random.default_rng(2), [0.5], 400)
    assert table["truth"].tolist() == [", ".join(map(str, truth)) for truth in TRUE_TOTALS]
    share = [share_beyond(truth, 0.5, 30) for truth in TRUE_TOTALS]
    error = np.sqrt(np.multiply(share, np.subtract(1, share)) / 400)
    for found, wanted, own in zip(table["share"], share, error, strict=True):
        check_mean(found, wanted, max(own, 1 / 400))  # a chance of nearly nothing may come up once
    seen = table["share"]
    assert table["error"].tolist() == pytest.approx(np.sqrt(seen * (1 - seen) / 400).tolist())


def test_the_witness_is_met_by_fractions_alone():
    assert check_witness().set_index("numbers")["met"].to_dict() == {
        "fractions": True,
        "whole": False,
    }
