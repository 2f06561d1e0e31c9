"""Figures of the projection and of sex by age say what they must, from their tables alone."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from reproduction.congenial import figures as plots_sexage
from reproduction.counties import projection_figures as plots_projected
from reproduction.counties.projection import project_state, projection_boxes


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def texts(figure):
    found = [text.get_text() for axis in figure.axes for text in axis.texts]
    return found + [axis.get_title(loc) for axis in figure.axes for loc in ("left", "right")]


@pytest.mark.parametrize("counties", [12, 140])
def test_a_box_that_runs_off_the_scale_is_told(counties):
    rows = pd.DataFrame(
        {
            "fips": [str(i) for i in range(counties)],
            "county": [f"C{i} County" for i in range(counties)],
            "population": range(1000, 1000 + counties),
        }
    )
    noise, _ = project_state(np.random.default_rng(1), counties, 0.2, 60, 5)
    boxes = projection_boxes(rows, noise, noise["even"][None])
    figure = plots_projected.projection_boxes(boxes, "title")
    assert len(figure.axes) == 2 * -(-counties // 130)
    assert sum("C0 County runs off the scale" in text for text in texts(figure)) == 1


def test_truncation_marks_the_papers_epsilon():
    curves = pd.DataFrame(
        {"state": ["AA", "AA", "BB", "BB"], "epsilon": [0.1, 1, 0.1, 1], "expected": [1, 0, 0, 0]}
    )
    needed = pd.DataFrame(
        {"epsilon": [0.1, 1] * 2, "chance": [1e-3, 1e-3, 1e-6, 1e-6], "population": [60, 6, 120, 0]}
    )
    marks = pd.DataFrame({"county": ["Loving"], "state": ["TX"], "population": [82]})
    figure = plots_projected.truncation(curves, needed, marks, 0.192)
    assert "paper: 0.192" in texts(figure)
    assert "Loving, TX: 82" in texts(figure)


def medians():
    rows = [
        (method, distance, 50.0 + i, 1.0, 49, 51, 45, 55, paper)
        for i, (method, paper) in enumerate(
            {
                "raw": 40.0,
                "conditional": np.nan,
                "unmixed_100": np.nan,
                "unmixed_500": np.nan,
            }.items()
        )
        for distance in ("l1", "l2")
    ]
    columns = ["method", "distance", "median", "se", "q1", "q3", "whisker_low", "whisker_high"]
    return pd.DataFrame(rows, columns=[*columns, "paper"])


def test_distances_show_our_medians_and_the_papers_where_there_is_one():
    figure = plots_sexage.distances(medians(), "title", {"raw": "raw", "conditional": "cond"})
    assert {"50.00", "40.00", "51.00"} <= set(texts(figure))
    assert "nan" not in texts(figure)


def test_acceptance_without_a_paper_to_compare():
    rates = pd.DataFrame(
        {
            "proposal_epsilon": [0.4, 0.4, 0.6, 0.6],
            "start": ["target", "confidential"] * 2,
            "percent": [0.1, 0, 1.5, 1.5],
            "low": [0.05, 0, 1, 1],
            "high": [0.2, 0.1, 2, 2],
            "paper_percent": np.nan,
        }
    )
    figure = plots_sexage.acceptance(rates, "title")
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert len(labels) == 2
    assert not any("paper" in label for label in labels)


def test_traces_say_which_cell_is_which():
    steps = pd.DataFrame({"step": [1, 5, 10], "cell": [1, 1, 1], "count": [3, 4, 4]})
    summary = pd.DataFrame(
        {
            "cell": [1],
            "name": ["female, under 5"],
            "proposed": [False],
            "confidential": [3],
            "ess": [2.0],
            "steps": [10],
        }
    )
    figure = plots_sexage.traces(steps, summary, "title")
    assert "cell 1 (female, under 5), solved" in texts(figure)[0]


def test_samplers_show_speed_and_law():
    speeds = pd.DataFrame({"sampler": ["a", "b"], "effective_draws_per_second": [1000.0, 10.0]})
    norms = pd.DataFrame({"sampler": ["a", "b"], "norm": [2, 2], "share": [1.0, 1.0]})
    figure = plots_sexage.samplers(speeds, norms, "title", {"a": "A", "b": "B"})
    assert {"1,000", "10"} <= set(texts(figure))
