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


def test_bias_stands_at_each_class_with_three_standard_errors():
    table = pd.DataFrame(
        {
            "system": ["production"] * 3 + ["Bureau"] * 2,
            "cell_class": [*CLASSES, *CLASSES[:2]],
            "mean": [4.0, -1.0, -2.5, 3.0, -0.5],
            "mean_error": [0.5, 0.25, np.nan, 0.1, 0.2],
            "rmse": [5.0, 7.0, 20.0, 4.0, 6.0],
            "rmse_error": [0.2, 0.3, np.nan, 0.1, 0.4],
            "runs": [2, 2, 2, 1, 1],
        }
    )
    figure = figures.plot_bias(table)
    left, right = figure.axes
    for place, (name, words) in enumerate(
        [("Bureau", "Bureau, 2021-06-08"), ("production", f"{PRODUCTION} (2 runs)")]
    ):
        part = table[table["system"] == name]
        for axis, column in ((left, "mean"), (right, "rmse")):
            container = next(each for each in axis.containers if each.get_label() == words)
            line, _, (bars,) = container.lines
            drawn = np.column_stack(line.get_data())[: len(part)]
            assert drawn[:, 0] == pytest.approx(np.arange(len(part)) + 0.1 * (place - 0.5))
            assert drawn[:, 1].tolist() == part[column].tolist()
            reach = [np.ptp(stroke[:, 1]) / 2 for stroke in bars.get_segments() if len(stroke)]
            expected = 3 * part[f"{column}_error"].fillna(0)
            assert reach[: len(part)] == pytest.approx(expected.tolist())
    assert [text.get_text() for text in left.get_xticklabels()] == CLASSES
    assert legend_of(right) == ["Bureau, 2021-06-08", f"{PRODUCTION} (2 runs)"]
    assert right.get_yscale() == "log"
    assert inside(figure)


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


def test_the_trace_of_swapping_is_shown_in_persons_a_thousand():
    trace = pd.DataFrame(
        {
            "system": ["Bureau", "Bureau", "production", "production"],
            "group": ["hispanic", "adult"] * 2,
            "slope": [0.002, -0.001, 0.004, 0.0005],
            "robust_error": [0.0005, 0.0005, 0.0005, 0.001],
        }
    )
    sizes = pd.DataFrame(
        [
            (system, group, start, base + start / 1000)
            for system, base in (("Bureau", 10.0), ("production", 20.0))
            for group in ("hispanic", "adult")
            for start in (0, 5000)
        ],
        columns=["system", "group", "from_population", "rmse"],
    )
    figure = figures.plot_swapping(trace, sizes)
    left, right = figure.axes
    for place, (name, words) in enumerate(
        [("Bureau", "Bureau, 2021-06-08"), ("production", PRODUCTION)]
    ):
        part = trace[trace["system"] == name]
        container = next(each for each in left.containers if each.get_label() == words)
        line, _, (bars,) = container.lines
        assert line.get_xdata() == pytest.approx(np.arange(2) + 0.1 * (place - 0.5))
        assert line.get_ydata() == pytest.approx(1000 * part["slope"].to_numpy())
        reach = [np.ptp(stroke[:, 1]) / 2 for stroke in bars.get_segments()]
        assert reach == pytest.approx((3000 * part["robust_error"]).tolist())
        lines = right.get_lines()[place::2]
        for drawn, group, style in zip(lines, ("hispanic", "adult"), ("-", ":"), strict=True):
            some = sizes[(sizes["system"] == name) & (sizes["group"] == group)]
            assert drawn.get_ydata().tolist() == some["rmse"].tolist()
            assert drawn.get_linestyle() == style
            assert colour_of(drawn) == (DAS, DRAW)[place]
    assert legend_of(right) == ["hispanic", "adult"]
    assert [text.get_text() for text in left.get_xticklabels()] == ["hispanic", "adult"]
    assert [text.get_text() for text in right.get_xticklabels()] == ["0", "5,000"]
    assert inside(figure)


def test_noise_shows_the_ratio_of_the_variances_by_delta():
    conversions = ["first", "second", "third"]
    table = pd.DataFrame(
        {
            "epsilon": [1.0, 2.0, 1.0, 2.0],
            "delta": [1e-5, 1e-5, 1e-10, 1e-10],
            "laplace": [2.0, 0.5, 2.0, 0.5],
            "first": [8.0, 1.0, 12.0, 2.0],
            "second": [10.0, 1.5, 14.0, 2.5],
            "third": [9.0, 1.25, 13.0, 2.25],
            "printed_laplace": [2.0, 0.5, 2.0, 0.5],
            "printed_gaussian": [16.0, 3.0, 20.0, 4.0],
        }
    )
    figure = figures.plot_noise(table, conversions)
    for axis, delta in zip(figure.axes, (1e-5, 1e-10), strict=True):
        part = table[table["delta"] == delta]
        drawn = labelled(axis)
        for name in conversions:
            assert drawn[name].get_xdata().tolist() == [1, 2]
            assert drawn[name].get_ydata() == pytest.approx((part[name] / part["laplace"]).tolist())
        printed = (part["printed_gaussian"] / part["printed_laplace"]).tolist()
        assert drawn["printed"].get_ydata() == pytest.approx(printed)
        assert axis.get_title(loc="left") == f"delta = {delta:g}"
        assert list(axis.get_lines()[-1].get_ydata()) == [1, 1]
    assert inside(figure)
