import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from isdp.plots.style import DAS, DRAW
from reproduction.topdown import figures
from tests.artists import inside, labelled, legend_of

CLASSES = ["0", "1 to 9", "10 and more"]
PRODUCTION = "TopDown, production"


def colour_of(line):
    return to_hex(line.get_color())


def test_pooled_slopes_have_bars_of_three_standard_errors():
    trend = pd.DataFrame(
        {
            "system": ["production", "another", "Bureau"],
            "pooled_slope": [-0.75, 9.0, 1.5],
            "pooled_slope_error": [0.25, 1.0, np.nan],
            "pooled_z_robust": [-0.526, 1.0, 4.0],
            "negative_slopes": [1.25, 0.0, 1.0],
            "significant_slopes": [0.5, 0.0, 0.0],
            "runs": [4, 1, 1],
            "states": [2, 3, 3],
        }
    )
    figure = figures.plot_slopes(trend)
    (axis,) = figure.axes
    for place, (bars, slope, error, colour) in enumerate(
        zip(axis.containers, (-0.75, 1.5), (0.25, 0.375), (DRAW, DAS), strict=True)
    ):
        point, _, (bar,) = bars.lines
        assert point.get_xydata().tolist() == [[slope, place]]
        assert colour_of(point) == colour
        ((low, _), (high, _)) = bar.get_segments()[0]
        assert (low, high) == pytest.approx((slope - 3 * error, slope + 3 * error))
    assert [text.get_text() for text in axis.texts][:2] == ["1.25 (0.5)", "1 (0)"]
    names = [text.get_text() for text in axis.get_yticklabels()]
    assert names == [f"{PRODUCTION}\n(4 runs)", "Bureau, 2021-06-08\n(1 run)"]
    assert "in 3 states" in figure.get_suptitle()
    assert inside(figure)


def test_counties_of_one_state_have_a_panel_a_system_and_the_line_of_least_squares():
    rows = []
    for system, slope in (("slides", -2.0), ("production", 3.0), ("Bureau", 0.5)):
        for population in (np.e**6, np.e**8, np.e**11):
            rows.append((system, "IL", population, 1 + slope * np.log(population)))
            rows.append((system, "NY", population, 99.0))
    table = pd.DataFrame(rows, columns=["system", "state", "population", "error"])
    figure = figures.plot_counties(table, "IL")
    titles = ["TopDown, slides", PRODUCTION, "Bureau, 2021-06-08"]
    shown = [axis for axis in figure.axes if axis.axison]
    assert shown[1].get_ylim() == shown[2].get_ylim() != shown[0].get_ylim()
    for axis, title, slope, colour in zip(
        shown, titles, (-2, 3, 0.5), (DRAW, DRAW, DAS), strict=True
    ):
        assert axis.get_title(loc="left") == title
        (points,) = axis.collections
        x, y = points.get_offsets().T.tolist()
        assert np.log(x) == pytest.approx([6, 8, 11])
        assert y == pytest.approx([1 + slope * log for log in (6, 8, 11)])
        assert to_hex(points.get_facecolors()[0]) == colour
        line = labelled(axis)[f"slope {slope:+.2f}"]
        assert line.get_ydata() == pytest.approx([1 + 6 * slope, 1 + 11 * slope])
        assert axis.get_xscale() == "log"
    assert inside(figure)


def test_errors_by_size_have_a_line_style_for_each_group():
    groups = "hispanic", "adult"
    trace = pd.DataFrame({"system": "production", "group": groups, "slope": 0, "robust_error": 0})
    sizes = pd.DataFrame(
        [
            (system, group, start, base + start / 1000)
            for system, base in (("Bureau", 10.0), ("production", 20.0))
            for group in groups
            for start in (0, 5000)
        ],
        columns=["system", "group", "from_population", "rmse"],
    )
    both = pd.concat([trace, trace.assign(system="Bureau")])
    figure = figures.plot_swapping(both, sizes)
    right = figure.axes[1]
    for place, name in enumerate(["Bureau", "production"]):
        for drawn, group, style in zip(right.get_lines()[place::2], groups, "-:", strict=True):
            some = sizes[(sizes["system"] == name) & (sizes["group"] == group)]
            assert drawn.get_ydata().tolist() == some["rmse"].tolist()
            assert drawn.get_linestyle() == style
            assert colour_of(drawn) == (DAS, DRAW)[place]
    assert legend_of(right) == ["Hispanic counts", "counts of adults"]
    assert [text.get_text() for text in right.get_xticklabels()] == ["0", "5,000"]
    assert inside(figure)
