"""The figures show their tables: what the artists hold is what the tables say."""

import numpy as np

from isdp.plots.style import FAINT
from reproduction.swapping import against_noise, attacks, budgets, figures
from reproduction.swapping.massachusetts import (
    compare_counties,
    fit_by_rate,
    fit_scenarios,
)
from reproduction.swapping.printed import counts_before, read_budgets, read_massachusetts

TABLE = read_massachusetts("data/swapping/massachusetts_1940.csv")
ONE = counts_before(TABLE)


def lines(axis):
    return {line.get_label(): line for line in axis.get_lines()}


def test_the_points_of_the_budget_hold_all_that_is_drawn():
    curves = budgets.compute_budget_curves([10], points=5)
    printed = budgets.recompute_printed(read_budgets("data/swapping/budgets.csv"))
    points = budgets.gather_budget_points(curves, printed)
    parts = dict(list(points.groupby("series")))
    assert parts["curve"]["epsilon_bound"].tolist() == curves["epsilon_bound"].tolist()
    marks = ["largest", "rate", "epsilon", "computed"]
    assert parts["printed"][marks].to_numpy().tolist() == printed[marks].to_numpy().tolist()


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
        f"without data: Middlesex, all households, {prior.max():.2g}": prior.max(),
    }
    levels = [line.get_ydata()[0] for line in left.get_lines() if len(line.get_ydata()) == 2]
    assert levels == [prior.min(), prior.max()]
    assert left.get_ylim()[0] < prior.min()
    assert not right.texts


def test_epsilons_at_equal_error_lie_in_the_rows_of_their_systems():
    compared = against_noise.compare_at_equal_error(ONE, [0.01, 0.05, 0.5])
    (axis,) = figures.plot_against_noise(compared).axes
    assert [label.get_text() for label in axis.get_yticklabels()] == list(
        figures.EQUAL_ERROR.values()
    )
    for rate, label in ((0.01, "swap rate 1 %"), (0.5, "swap rate 50 %")):
        (row,) = compared[compared["rate"] == rate].to_dict("records")
        drawn = lines(axis)[label].get_xydata()
        assert drawn[:, 0].tolist() == [row[name] for name in figures.EQUAL_ERROR]
        assert drawn[:, 1].tolist() == [0, 1, 2, 3, 4]
    assert len(lines(axis)) == 2


def test_only_the_shown_mix_has_a_colour_and_the_same_in_both_figures():
    household = {"one stratum": ONE, "several": ONE}
    points = figures.plot_printed_swap(compare_counties(TABLE, household)).axes[0]
    fits = fit_scenarios(TABLE, household).assign(fitted=[False, True])
    curves = figures.plot_likely_rate(fit_by_rate(TABLE, household, [0.5]), fits).axes[0]
    shown = "one stratum", "several (fitted to this swap: no evidence)"
    looks = {
        (lines(curves)[name].get_color(), lines(curves)[name].get_linestyle()) for name in shown
    }
    assert len(looks) == 2
    first, second = (lines(points)[name] for name in household)
    assert first.get_color() == lines(curves)["one stratum"].get_color()
    assert second.get_color() == FAINT
    assert first.get_marker() != second.get_marker()
