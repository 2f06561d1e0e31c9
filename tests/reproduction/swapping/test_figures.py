"""The figures show their tables: what the artists hold is what the tables say."""

import numpy as np
import pytest

from reproduction.swapping import against_noise, attacks, budgets, figures
from reproduction.swapping.massachusetts import (
    compare_counties,
    fit_by_rate,
    fit_scenarios,
    measure_printed,
    simulate_swaps,
    summarise_runs,
    unmix_printed,
)
from reproduction.swapping.printed import counts_before, read_budgets, read_massachusetts

TABLE = read_massachusetts("data/swapping/massachusetts_1940.csv")
ONE = counts_before(TABLE)


def lines(axis):
    return {line.get_label(): line for line in axis.get_lines()}


def test_budget_curves_minima_and_printed_numbers():
    curves = budgets.compute_budget_curves([10, 264331], points=41)
    printed = budgets.recompute_printed(read_budgets("data/swapping/budgets.csv"))
    axis = figures.plot_budget(curves, printed).axes[0]
    shown = lines(axis)["b = 264,331"]
    part = curves[curves["largest"] == 264331]
    assert np.array_equal(shown.get_xdata(), part["rate"])
    assert np.array_equal(shown.get_ydata(), part["epsilon_bound"])
    assert np.array_equal(lines(axis)["printed"].get_ydata(), printed["epsilon"])
    minima = lines(axis)["minimum of the bound over rates"].get_ydata()
    assert minima == pytest.approx([np.log(11) / 2, np.log(264332) / 2])
    own = lines(axis)["bound for the printed row's own b"]
    assert own.get_xdata().tolist() == printed["rate"].tolist()
    assert own.get_ydata().tolist() == printed["computed"].tolist()
    gap = (part["epsilon_bound"] - part["epsilon_exact"]).max()
    assert f"exact worst case (smaller by at most {gap:.2g} from b = 264,331 on)" in lines(axis)


def test_the_points_of_the_budget_hold_all_that_is_drawn():
    curves = budgets.compute_budget_curves([10], points=5)
    printed = budgets.recompute_printed(read_budgets("data/swapping/budgets.csv"))
    points = budgets.gather_budget_points(curves, printed)
    parts = dict(list(points.groupby("series")))
    assert parts["curve"]["epsilon_bound"].tolist() == curves["epsilon_bound"].tolist()
    marks = ["largest", "rate", "epsilon", "computed"]
    assert parts["printed"][marks].to_numpy().tolist() == printed[marks].to_numpy().tolist()


def test_boxes_hold_the_runs_and_the_printed_error_is_at_a_half():
    households = {"one stratum": (ONE + 99) // 100}
    runs = simulate_swaps(np.random.default_rng(5), households, [0.1, 0.5], 7)
    found = summarise_runs(runs, households, 13.78)
    axis = figures.plot_errors(runs, found, measure_printed(TABLE)).axes[0]
    shown = lines(axis)
    assert shown["printed table"].get_xdata() == [50]
    assert shown["printed table"].get_ydata() == [measure_printed(TABLE)["mape"][0]]
    assert np.array_equal(shown["expected"].get_ydata(), found["expected"])
    medians = [line.get_ydata()[0] for line in axis.get_lines() if line.get_color() == figures.INK]
    assert set(found["median"]) <= set(medians)


def test_deviations_stand_above_their_counties():
    table = compare_counties(TABLE, {"one stratum": ONE, "again": ONE})
    axis = figures.plot_printed_swap(table).axes[0]
    found = [lines(axis)[name] for name in ("one stratum", "again")]
    for line, side in zip(found, (-1, 1), strict=True):
        part = table[table["scenario"] == line.get_label()]
        assert np.array_equal(line.get_ydata(), part["z"])
        assert line.get_xdata() - np.arange(14) == pytest.approx(side * 0.24)
    assert [text.get_text() for text in axis.get_xticklabels()] == list(TABLE.index)


def test_attacks_show_places_and_datasets():
    totals, rates = TABLE["total"].to_numpy(), [0.01, 0.1, 0.5]
    found = attacks.compute_locations(TABLE.index, totals, rates)
    told = against_noise.compare_advantages(
        ONE, 9, 3, against_noise.compare_at_equal_error(ONE, rates)
    )
    points = attacks.gather_attack_curves(found, attacks.compute_accuracy(totals, rates), told)
    left, right = figures.plot_attack(points).axes
    island = found[found["county"] == "Nantucket"]
    assert np.array_equal(lines(left)["Nantucket"].get_ydata(), island["posterior"])
    assert {"Middlesex", "all households"} <= set(lines(left))
    assert np.array_equal(lines(right)["swapping"].get_ydata(), told["swapping"])
    guessed = {text.get_text(): text.xy[1] for text in left.texts}
    prior = found.set_index("county")["prior"]
    assert guessed == {
        f"without data: Nantucket, {prior.min():.2g}": prior.min(),
        f"without data: Middlesex and all households, {prior.max():.2g}": prior.max(),
    }
    levels = [line.get_ydata()[0] for line in left.get_lines() if line.get_linestyle() == ":"]
    assert levels == [prior.min(), prior.max()]
    assert left.get_ylim()[0] < prior.min()
    assert not right.texts


def test_a_mix_has_one_colour_in_all_figures():
    household = {"one stratum": ONE, "several": ONE}
    points = figures.plot_printed_swap(compare_counties(TABLE, household)).axes[0]
    fits = fit_scenarios(TABLE, household).assign(fitted=[False, True])
    curves = figures.plot_likely_rate(fit_by_rate(TABLE, household, [0.5]), fits).axes[0]
    shown = "one stratum", "several (fitted to this swap: no evidence)"
    colours = [lines(curves)[name].get_color() for name in shown]
    assert colours == [lines(points)[name].get_color() for name in household]
    assert len(set(colours)) == 2


def test_the_likely_rate_lies_on_its_curve():
    household = {"one stratum": ONE, "several": ONE}
    curve = fit_by_rate(TABLE, household, np.linspace(0.47, 0.53, 7))
    fits = fit_scenarios(TABLE, household)
    axis = figures.plot_likely_rate(curve, fits).axes[0]
    for name, part in curve.groupby("scenario"):
        assert np.array_equal(lines(axis)[name].get_ydata(), part["chi_square"])
    marks = [line for line in axis.get_lines() if line.get_marker() == "o"]
    assert marks[0].get_xdata()[0] == pytest.approx(100 * fits["rate"][0])
    assert marks[0].get_ydata()[0] == fits["chi_square_at_rate"][0]


def test_unmixing_shows_both_errors_in_per_cent():
    table = unmix_printed(TABLE)
    left, right = figures.plot_unmixed(table).axes
    for axis, tenure in ((left, "owned"), (right, "rented")):
        part = table[table["tenure"] == tenure]
        shown = lines(axis)
        assert np.allclose(shown["as printed"].get_xdata(), 100 * part["off"] / part["before"])
        undone = 100 * part["off_unmixed"] / part["before"]
        assert np.allclose(shown["corrected by a reader"].get_xdata(), undone)
    assert [text.get_text() for text in left.get_yticklabels()] == list(TABLE.index)
