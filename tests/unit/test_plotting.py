import numpy as np
import pandas as pd
import pytest

from isdp import plotting
from isdp.counties import box_table


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
    figure = plotting.county_boxes(boxes(254, das=True), "a state")
    assert len(figure.axes) == 2
    assert len(set(labels(figure))) == 254
    assert "Place7 (7,001)" in labels(figure)
    assert "error of the Census DAS" in words(figure)


def test_without_demonstration_data_the_legend_has_no_dots(boxes):
    figure = plotting.county_boxes(boxes(3, das=False), "a state")
    assert "error of the Census DAS" not in words(figure)
    assert "one draw" in words(figure)


def test_slopes_say_when_there_is_nothing_to_show():
    table = pd.DataFrame({"state": ["IL"], "slope": [np.nan], "low": [np.nan], "high": [np.nan]})
    text = words(plotting.slopes(table, "slopes"))
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
    figure = plotting.slopes(table, "slopes")
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
    figure = plotting.convergence_strips(table, "Convergence")
    assert "1 frozen counties are not shown" in figure.get_suptitle()


def test_equal_data_give_equal_files(tmp_path, boxes):
    for name in ("one", "two"):
        figure = plotting.county_boxes(boxes(4, das=True), "a state")
        plotting.save(figure, tmp_path / f"{name}.svg", tmp_path / f"{name}.png")
    for kind in ("svg", "png"):
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()
