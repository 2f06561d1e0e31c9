import numpy as np
import pandas as pd
from matplotlib.colors import to_hex

from isdp.plots.style import BOX, DARK
from reproduction.congenial import figures
from tests.artists import boxes_of, inside, labelled, legend_of, medians_of, whiskers_of


def medians():
    methods = {
        "raw": 40.0,
        "conditional": np.nan,
        "unmixed_100": np.nan,
        "unmixed_500": np.nan,
    }
    columns = ["method", "distance", "median", "se", "q1", "q3", "whisker_low", "whisker_high"]
    rows = [
        (method, distance, m := scale * (50.0 + i), 1.0, m - 1, m + 2, m - 5, m + 7, paper)
        for i, (method, paper) in enumerate(methods.items())
        for scale, distance in ((1, "l1"), (0.25, "l2"))
    ]
    return pd.DataFrame(rows, columns=[*columns, "paper"])


def test_distances_are_boxes_with_our_median_and_the_papers_where_there_is_one():
    table = medians()
    figure = figures.plot_distances(table, "title", {"conditional": "cond", "raw": "raw"})
    for axis, distance in zip(figure.axes, ("l1", "l2"), strict=True):
        own = table[table["distance"] == distance].set_index("method").loc[["conditional", "raw"]]
        sides = boxes_of(axis)[BOX]
        assert sides[:, :2].mean(axis=1).tolist() == [1, 2]
        assert sides[:, 2:].tolist() == own[["q1", "q3"]].to_numpy().tolist()
        whiskers = own[["whisker_low", "whisker_high"]].to_numpy()
        assert whiskers_of(axis).tolist() == whiskers.tolist()
        assert medians_of(axis)[:, 2].tolist() == own["median"].tolist()
        (cross,) = [line for line in axis.get_lines() if line.get_marker() == "x"]
        assert (list(cross.get_xdata()), list(cross.get_ydata())) == ([2], [40.0])
        wanted = [f"{own['median'].iloc[0]:.2f}", f"{own['median'].iloc[1]:.2f}", "40.00"]
        assert [text.get_text() for text in axis.texts] == wanted
    assert [label.get_text() for label in figure.axes[1].get_xticklabels()] == ["cond", "raw"]
    assert legend_of(figure)[-1] == "paper's median (read off its figure)"
    assert inside(figure)


def test_short_chains_are_drawn_by_their_length_beside_the_mixed_ones():
    table = medians()
    table.loc[table["method"] == "conditional", "paper"] = [33.0, 44.0]
    figure = figures.plot_short_chains(table, "title")
    assert inside(figure)
    for axis, distance, paper in zip(figure.axes, ("l1", "l2"), (33.0, 44.0), strict=True):
        own = table[table["distance"] == distance].set_index("method")
        points, _, (bars,) = axis.containers[0].lines
        assert points.get_xdata().tolist() == [100, 500]
        assert points.get_ydata().tolist() == own["median"].iloc[2:].tolist()
        reach = [(low[1], high[1]) for low, high in bars.get_segments()]
        assert reach == [(m - 2, m + 2) for m in own["median"].iloc[2:]]
        lines = labelled(axis)
        assert {*lines["converged chains (band: 2 s.e.)"].get_ydata()} == {
            own.loc["conditional", "median"]
        }
        assert {*lines["paper (read off its figure)"].get_ydata()} == {paper}
        (band,) = axis.patches
        middle = own.loc["conditional", "median"]
        assert (band.get_y(), band.get_height()) == (middle - 2, 4)


def test_traces_step_through_the_counts_of_their_cells():
    steps = pd.DataFrame(
        {"step": [1, 5, 10] * 2, "cell": [1] * 3 + [2] * 3, "count": [3, 4, 4, 7, 8, 9]}
    )
    summary = pd.DataFrame(
        {
            "cell": [1, 2],
            "name": ["female, under 5", "female, 5-9"],
            "proposed": [False, True],
            "confidential": [3, 6],
            "ess": [2.0, 5.0],
            "steps": [10, 10],
        }
    )
    figure = figures.plot_traces(steps, summary, "title")
    for axis, counts, held, how in zip(
        figure.axes, ([7, 8, 9], [3, 4, 4]), (6, 3), ("proposed", "solved"), strict=True
    ):
        trace, line = axis.get_lines()
        assert trace.get_xdata().tolist() == [1, 5, 10]
        assert trace.get_ydata().tolist() == counts
        assert trace.get_drawstyle() == "steps-post"
        assert {*line.get_ydata()} == {held}
        assert how in axis.get_title("left")
    assert "cell 1 (female, under 5)" in figure.axes[1].get_title("left")
    assert inside(figure)


def test_samplers_show_speed_and_law():
    speeds = pd.DataFrame({"sampler": ["b", "a"], "effective_draws_per_second": [10.0, 1000.0]})
    norms = pd.DataFrame(
        {"sampler": ["a", "a", "b"], "norm": [2, 3, 2], "share": [0.25, 0.75, 1.0]}
    )
    figure = figures.plot_samplers(speeds, norms, "title", {"a": "A", "b": "B"})
    left, right = figure.axes
    assert [bar.get_width() for bar in left.patches] == [1000, 10]
    assert [to_hex(bar.get_facecolor()) for bar in left.patches] == list(DARK[:2])
    assert [text.get_text() for text in left.texts] == ["1,000", "10"]
    assert [label.get_text() for label in left.get_yticklabels()] == ["A", "B"]
    assert labelled(right)["A"].get_xydata().tolist() == [[2, 0.25], [3, 0.75]]
    assert labelled(right)["B"].get_xydata().tolist() == [[2, 1.0]]
    assert inside(figure)
