from functools import cache

import numpy as np
import pandas as pd
import pytest

from reproduction.lattices.bound_figures import plot_bound, plot_distance
from tests.artists import inside, labelled, legend_of

VARIANTS = ("paper", "reduced")


def curves(censored):
    rows = [
        {"law": law, "variant": v, "lag": lag, "t": t, "bound": scale * b}
        for scale, law in ((1, "l1"), (0.5, "l2"))
        for v in VARIANTS
        for lag in (4, 8)
        for t, b in ((0, 1.0), (10, 0.3 + lag / 100), (100, 0.0))
    ]
    table = pd.DataFrame(rows).assign(censored=censored)
    table = table.assign(low=table["bound"] / 2, high=table["bound"] * 2)
    return table.assign(at_least=table["bound"], chosen=table["lag"] == 8)


ACTUAL = pd.DataFrame(
    {
        "law": "l1",
        "variant": "paper",
        "t": [0, 10, 0, 10],
        "statistic": ["norm", "norm", "in full", "in full"],
        "distance": [1.0, 0.2, 1.0, 0.3],
        "error": [0.11, 0.11, 1e-9, 1e-9],
    }
)
LAWS = {law: {"norm": law, "epsilon": 0.25} for law in ("l1", "l2")}


FULL = ACTUAL[ACTUAL["statistic"] == "in full"]
SAMPLED = ACTUAL[ACTUAL["statistic"] == "norm"]


def plotted(table, distances):
    return plot_distance("toy", LAWS, table, distances, runs=9)


@cache
def drawn(censored):
    """The chosen bound, and a distance that is known although some runs never met."""
    return plotted(curves(censored), FULL if censored else SAMPLED)


def test_a_band_shows_how_far_off_draws_of_the_target_may_be():
    first, second = drawn(0).axes[:2]
    (band,) = first.patches
    assert (band.get_y(), band.get_height()) == (0, 0.11)
    assert not second.patches  # nothing was followed there
    assert "sampling error of the measured distances" in legend_of(drawn(0))
    both = plotted(curves(0), ACTUAL)  # a distance in full has no sampling error
    assert not both.axes[0].patches
    assert "sampling error of the measured distances" not in legend_of(both)
    (measured,) = [v for k, v in labelled(both.axes[0]).items() if k.startswith("measured")]
    assert measured.get_xydata().tolist() == [[1, 1.0], [11, 0.3]]


@pytest.mark.parametrize(
    ("censored", "words", "style"),
    [
        (0, "bound below 0.01\nfrom t = 100", "-"),
        (7, "not converged:\n7 runs never met\nor never moved", "--"),
    ],
)
def test_a_panel_says_from_when_its_bound_holds_or_that_it_does_not(censored, words, style):
    figure, table = drawn(censored), curves(censored)
    assert inside(figure)
    assert [axis.get_title(loc="left")[:3] for axis in figure.axes[:2]] == ["the", "our"]
    for axis, (law, variant) in zip(
        figure.axes, [(law, each) for law in LAWS for each in VARIANTS], strict=True
    ):
        assert [text.get_text() for text in axis.texts] == [words]
        (bound,) = [v for k, v in labelled(axis).items() if k.startswith("coupling bound")]
        assert bound.get_linestyle() == style
        own = table[(table["law"] == law) & (table["variant"] == variant) & (table["lag"] == 8)]
        assert bound.get_xydata().tolist() == np.transpose([own["t"] + 1, own["bound"]]).tolist()
    assert any("runs are censored" in label for label in legend_of(figure)) == (censored == 7)


@pytest.mark.parametrize("censored", [0, 7])
def test_the_papers_figure_has_a_line_for_each_lag_of_the_papers_chain(censored):
    table = curves(censored)
    table.loc[table["t"] == 100, "at_least"] = 0.125
    table["bound"] = np.inf  # as where pairs are censored
    figure = plot_bound("toy", LAWS, table, runs=9)
    assert inside(figure)
    for axis, law in zip(figure.axes, LAWS, strict=True):
        assert axis.get_xscale() == axis.get_yscale() == "linear"
        for lag in (4, 8):
            line = labelled(axis)[f"lag {lag}" + " (7 runs censored)" * (censored == 7)]
            rows = (table["law"] == law) & (table["variant"] == "paper") & (table["lag"] == lag)
            own = table[rows]
            assert line.get_xydata().tolist() == own[["t", "at_least"]].to_numpy().tolist()
