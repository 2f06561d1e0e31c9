import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from isdp.plots.style import BOX, DAS, DRAW, INK
from reproduction.topdown import figures
from tests.artists import inside, labelled, legend_of

CLASSES = ["0", "1 to 9", "10 and more"]
PRODUCTION = "TopDown, production"


def colour_of(line):
    return to_hex(line.get_color())


def test_slopes_are_sorted_and_red_where_they_fall_significantly():
    table = pd.DataFrame(
        {
            "system": ["Bureau"] * 3 + ["production"] * 2,
            "slope": [2.0, -10.0, 0.5, -4.0, -3.0],
            "p": [0.001, 0.5, 0.01, 0.2, 0.009],
        }
    )
    trend = pd.DataFrame(
        {
            "system": ["production", "Bureau"],
            "pooled_slope": [-0.75, 1.5],
            "pooled_z_robust": [-0.526, 4.0],
            "negative_slopes": [1.25, 1.0],
            "significant_slopes": [0.5, 2.0],
            "runs": [4, 1],
            "states": [2, 3],
        }
    )
    figure = figures.plot_slopes(table, trend)
    (axis,) = figure.axes
    production, bureau = axis.collections
    points = bureau.get_offsets()
    assert points[:, 0].tolist() == [-10, 0.5, 2]
    assert points[:, 1].tolist() == pytest.approx([0.72, 1, 1.28])
    assert [to_hex(each) for each in bureau.get_facecolors()] == [BOX, BOX, INK]
    assert production.get_offsets()[:, 0].tolist() == [-4, -3]
    assert [to_hex(each) for each in production.get_facecolors()] == [BOX, DAS]
    bars = [line.get_xydata().tolist() for line in axis.get_lines()[:2]]
    assert bars == [[[-0.75, -0.4], [-0.75, 0.4]], [[1.5, 0.6], [1.5, 1.4]]]
    names = [text.get_text() for text in axis.get_yticklabels()]
    assert names == [PRODUCTION, "Bureau, 2021-06-08"]
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
    for axis, title, slope, colour in zip(
        figure.axes, titles, (-2, 3, 0.5), (DRAW, DRAW, DAS), strict=False
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
    assert legend_of(right) == list(groups)
    assert [text.get_text() for text in right.get_xticklabels()] == ["0", "5,000"]
    assert inside(figure)
