import numpy as np
import pandas as pd
import pytest

from isdp.plots import bounds, constraints, style
from reproduction.counties import figures
from reproduction.counties.experiment import box_table


@pytest.fixture
def boxes():
    def build(counties, das):
        rng = np.random.default_rng(1)
        table = pd.DataFrame(
            {
                "fips": [f"{i:05d}" for i in range(counties)],
                "county": [f"Place{i} County" for i in range(counties)],
                "population": np.arange(counties) * 1000 + 1,
                "das_error": pd.array([1 if das else pd.NA] * counties, dtype="Int64"),
            }
        )
        return box_table(table, rng.integers(-9, 10, (2, 30, counties)))

    return build


def words(figure):
    legends = [
        text.get_text()
        for a in figure.axes
        for text in (a.get_legend() or a).findobj()
        if hasattr(text, "get_text")
    ]
    return " ".join(legends)


def labels(figure):
    return [label.get_text() for axis in figure.axes for label in axis.get_xticklabels()]


def test_every_county_has_a_label_also_where_there_are_many(boxes):
    figure = figures.county_boxes(boxes(254, das=True), "a state")
    assert len(figure.axes) == 2
    assert len(set(labels(figure))) == 254
    assert "Place7 (7,001)" in labels(figure)
    assert "error of the Census DAS" in words(figure)


def test_without_demonstration_data_the_legend_has_no_dots(boxes):
    figure = figures.county_boxes(boxes(3, das=False), "a state")
    assert "error of the Census DAS" not in words(figure)
    assert "one draw" in words(figure)


def test_slopes_say_when_there_is_nothing_to_show():
    table = pd.DataFrame({"state": ["IL"], "slope": [np.nan], "low": [np.nan], "high": [np.nan]})
    text = words(figures.slopes(table, "slopes"))
    assert "No demonstration data" in text
    assert "NHGIS_PPDD_FILE" in text


def test_slopes_count_what_is_significant():
    table = pd.DataFrame(
        {
            "state": ["IL", "TX", "VT"],
            "slope": [-1.0, 0.5, -2.0],
            "low": [-3.0, -1.0, -3.0],
            "high": [1.0, 2.0, -1.0],
            "significant": [False, False, True],
        }
    )
    figure = figures.slopes(table, "slopes")
    assert labels(figure) == ["VT", "IL", "TX"]
    assert "not significant at 0.01 (2)" in words(figure)
    assert "significant at 0.01 (1)" in words(figure)


def test_convergence_says_how_many_counties_are_not_shown():
    table = pd.DataFrame(
        {
            "state": ["IL", "IL", "DC"],
            "rhat": [1.001, 1.002, np.nan],
            "ess_bulk": [3000.0, 3500.0, np.nan],
            "frozen": [False, False, True],
        }
    )
    figure = figures.convergence_strips(table, "Convergence")
    assert "1 frozen counties are not shown" in figure.get_suptitle()


def test_equal_data_give_equal_files(tmp_path, boxes):
    for name in ("one", "two"):
        figure = figures.county_boxes(boxes(4, das=True), "a state")
        style.save(figure, tmp_path / f"{name}.svg", tmp_path / f"{name}.png")
    for kind in ("svg", "png"):
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()


def curves(censored):
    rows = [
        {
            "norm": "l1",
            "variant": v,
            "lag": lag,
            "t": t,
            "bound": b,
            "low": b / 2,
            "high": b * 2,
            "at_least": b,
        }
        for v in ("paper", "reduced")
        for lag in (4, 8)
        for t, b in ((0, 1.0), (10, 0.4), (100, 0.0))
    ]
    return pd.DataFrame(rows).assign(censored=censored)


def trails():
    rows = [
        {"norm": "l1", "variant": v, "lag": lag, "bound_at_0": b, "censored": 0, "chosen": lag == 8}
        for v in ("paper", "reduced")
        for lag, b in ((4, 3.0), (8, 1.0))
    ]
    return pd.DataFrame(rows)


def actual():
    return pd.DataFrame(
        {
            "norm": "l1",
            "variant": "paper",
            "t": [0, 10, 0, 10],
            "statistic": ["norm", "norm", "in full", "in full"],
            "distance": [1.0, 0.2, 1.0, 0.3],
        }
    )


def test_bounds_say_from_when_they_hold_and_show_each_lag():
    text = words(bounds.tv_bounds(curves(0), trails(), actual(), "bounds", {"l1": "the law"}))
    assert "L = 4" in text
    assert "L = 8" in text
    assert "not converged" not in text
    shown = figure_text(
        bounds.tv_bounds(curves(0), trails(), actual(), "bounds", {"l1": "the law"})
    )
    assert "L = 8: below 0.01 from t = 100" in shown
    assert "actual, in full" in shown
    assert "actual, the norm" in shown
    assert "actual, worst cell" not in shown


def test_bounds_on_runs_that_never_met_say_not_converged():
    shown = figure_text(
        bounds.tv_bounds(curves(7), trails(), actual(), "bounds", {"l1": "the law"})
    )
    assert "not converged:\n7 runs never met\nor never moved" in shown
    assert "7 runs say nothing" in shown


def figure_text(figure):
    return "\n".join(t.get_text() for t in figure.findobj() if hasattr(t, "get_text"))


def test_three_constraints_are_sets_that_hold_their_records():
    sets = {"A": ["1", "3"], "B": ["2", "3"], "C": ["3"]}
    figure = constraints.constraints_diagram(sets, ["1", "2", "3", "4"])
    shown = figure_text(figure).split("\n")
    for word in ("A", "B", "C", "1", "2", "3", "4"):
        assert word in shown
    assert len(figure.axes[0].patches) == 6


def test_other_numbers_of_constraints_are_a_grid():
    figure = constraints.constraints_diagram({"A": ["1"], "B": ["1", "2"]}, ["1", "2", "3"])
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == ["A", "B"]
    assert labels(figure) == ["1", "2", "3"]
