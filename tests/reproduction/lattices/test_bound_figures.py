from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from isdp.plots.style import DARK
from reproduction.lattices.bound_figures import plot_bound
from tests.artists import labelled, legend_of

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
    return table.assign(low=table["bound"] / 2, high=table["bound"] * 2, at_least=table["bound"])


def trails():
    rows = [
        {"law": law, "variant": v, "lag": lag, "bound_at_0": b, "censored": 0, "chosen": lag == 8}
        for law in ("l1", "l2")
        for v in VARIANTS
        for lag, b in ((4, 3.0), (8, 1.0 + (v == "paper")))
    ]
    return pd.DataFrame(rows)


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


def plotted(table, distances):
    read = {"curves": table, "trails": trails(), "distances": distances}
    return plot_bound("toy", LAWS, read, runs=9)


@cache
def drawn(censored):
    """The curves; where some runs never met, beside a distance that is known in full alone."""
    return plotted(curves(censored), FULL if censored else ACTUAL)


def test_a_band_shows_how_far_off_draws_of_the_target_may_be():
    first, second = drawn(0).axes[:2]
    (band,) = first.patches
    assert (band.get_y(), band.get_height()) == (0, 0.11)
    assert "up to 0.11" in legend_of(first)
    assert "grey" in first.get_legend().get_title().get_text()
    assert not second.patches  # nothing was followed there
    assert "grey" not in second.get_legend().get_title().get_text()


def test_the_last_panel_shows_each_lag_and_rings_the_chosen():
    figure, table = drawn(0), trails()
    for axis, law in ((figure.axes[2], "l1"), (figure.axes[5], "l2")):
        for variant, colour in zip(VARIANTS, DARK, strict=False):
            own = table[(table["law"] == law) & (table["variant"] == variant)]
            line = labelled(axis)[variant]
            assert line.get_xdata().tolist() == [4, 8]
            assert line.get_ydata().tolist() == own["bound_at_0"].tolist()
            (ring,) = [
                each
                for each in axis.get_lines()
                if each.get_markersize() == 10 and to_hex(each.get_markeredgecolor()) == colour
            ]
            assert ring.get_xdata().tolist() == [8]
            assert ring.get_ydata().tolist() == own["bound_at_0"].tolist()[1:]


@pytest.mark.parametrize(
    ("censored", "words", "style"),
    [
        (0, "L = 8: below 0.01 from t = 100", "-"),
        (7, "not converged:\n7 runs never met\nor never moved", "--"),
    ],
)
def test_a_panel_says_from_when_its_bound_holds_or_that_it_does_not(censored, words, style):
    axis = drawn(censored).axes[0]
    assert [text.get_text() for text in axis.texts] == [words]
    bounds = [line for line in axis.get_lines() if line.get_label().startswith("L = ")]
    assert {line.get_linestyle() for line in bounds} == {style}
    assert any("7 runs censored" in label for label in legend_of(axis)) == (censored == 7)


def test_a_bound_that_is_unknown_is_drawn_as_far_as_it_is_at_least():
    table = curves(7).assign(bound=np.inf, high=np.inf)
    table.loc[table["t"] == 100, "at_least"] = np.nan
    axis = plotted(table, ACTUAL).axes[0]
    line = labelled(axis)["L = 4 (7 runs censored)"]
    assert line.get_ydata().tolist()[:2] == pytest.approx([1.0, 0.34])
    assert np.isnan(line.get_ydata()[2])
    bands = [band for band in axis.collections if band.get_paths()]
    assert not any(len(band.get_paths()[0].vertices) for band in bands)
