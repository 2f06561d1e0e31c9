"""The figures show their tables: what the artists hold is what the tables say."""

import numpy as np
import pytest

from reproduction.swapping import against_noise, attacks, budgets, figures
from reproduction.swapping.massachusetts import all_runs, counties_table, summary
from reproduction.swapping.printed import before, read_budgets, read_massachusetts

TABLE = read_massachusetts("data/swapping/massachusetts_1940.csv")
ONE = before(TABLE)


def lines(axis):
    return {line.get_label(): line for line in axis.get_lines()}


def test_budget_curves_minima_and_printed_numbers():
    curves = budgets.curves([10, 264331], points=41)
    printed = budgets.printed_budgets(read_budgets("data/swapping/budgets.csv"))
    axis = figures.budget(curves, printed, "t").axes[0]
    shown = lines(axis)["b = 264,331"]
    part = curves[curves["largest"] == 264331]
    assert np.array_equal(shown.get_xdata(), part["rate"])
    assert np.array_equal(shown.get_ydata(), part["epsilon_bound"])
    assert np.array_equal(lines(axis)["printed"].get_ydata(), printed["epsilon"])
    minima = [line.get_ydata()[0] for line in axis.get_lines() if len(line.get_xdata()) == 1]
    assert minima == pytest.approx([np.log(11) / 2, np.log(264332) / 2])


def test_boxes_hold_the_runs_and_the_printed_error_is_at_a_half():
    households = {"one stratum": (ONE + 99) // 100}
    runs = all_runs(np.random.default_rng(5), households, [0.1, 0.5], 7)
    found = summary(runs, households)
    axis = figures.errors(runs, found, 13.78, "t").axes[0]
    shown = lines(axis)
    assert shown["printed table"].get_xdata() == [50]
    assert shown["printed table"].get_ydata() == [13.78]
    assert np.array_equal(shown["expected"].get_ydata(), found["expected"])
    medians = [line.get_ydata()[0] for line in axis.get_lines() if line.get_color() == figures.INK]
    assert set(found["median"]) <= set(medians)


def test_deviations_stand_above_their_counties():
    table = counties_table(TABLE, {"one stratum": ONE})
    axis = figures.printed_swap(table, "t").axes[0]
    assert np.array_equal(lines(axis)["one stratum"].get_ydata(), table["z"])
    assert [text.get_text() for text in axis.get_xticklabels()] == list(TABLE.index)


def test_the_comparison_shows_seven_curves_and_its_conditions():
    curves = against_noise.error_curves(ONE, [0.05, 0.5], [0.01, 1.0])
    figure = figures.against_noise(curves, "t", against_noise.FAIRNESS)
    shown = lines(figure.axes[0])
    assert len(shown) == 7
    noise = curves[curves["curve"] == "integer noise"]
    assert np.array_equal(shown["integer noise, exact"].get_ydata(), noise["mape"])
    nominal = curves[curves["curve"] == "swapping, nominal"].sort_values("epsilon")
    assert np.array_equal(shown["swapping, published bound"].get_xdata(), nominal["epsilon"])
    assert all(note in figure.texts[0].get_text() for note in against_noise.FAIRNESS)


def test_locations_show_the_smallest_and_the_largest_county():
    totals, rates = TABLE["total"].to_numpy(), [0.01, 0.1, 0.5]
    found = attacks.locations(TABLE.index, totals, rates)
    axis = figures.locations(found, attacks.whole_state(totals, rates), "t").axes[0]
    island = found[found["county"] == "Nantucket"]
    assert np.array_equal(lines(axis)["Nantucket"].get_ydata(), island["posterior"])
    assert "Middlesex" in lines(axis)
