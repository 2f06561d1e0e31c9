import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from isdp.plots.style import BOX, DARK, DAS, DRAW, FAINT
from reproduction.counties import figures
from reproduction.counties.experiment import tabulate_boxes
from reproduction.counties.projection import project_state, tabulate_projected_boxes
from tests.artists import boxes_of, inside, labelled, legend_of, marks_of


def counties(number, das=True):
    errors = [i % 7 - 3 if das and i != 1 else pd.NA for i in range(number)]
    return pd.DataFrame(
        {
            "fips": [f"{i:05d}" for i in range(number)],
            "county": [f"Place{i} County" for i in range(number)],
            "population": np.arange(number) * 1000 + 1,
            "das_error": pd.array(errors, dtype="Int64"),
        }
    )


def boxes(number, das=True):
    rng = np.random.default_rng(1)
    return tabulate_boxes(counties(number, das), rng.integers(-9, 10, (2, 30, number)))


def of(table, series):
    return table[table["series"] == series].set_index("rank")["value"]


def labels(axis):
    return [label.get_text() for label in axis.get_xticklabels()]


def holds_names_that_can_be_read(axis, first, last):
    """Names stand under their counties, up to the last, as close as there is room."""
    ranks = axis.get_xticks().astype(int).tolist()
    assert labels(axis) == [f"Place{i - 1} ({(i - 1) * 1000 + 1:,})" for i in ranks]
    (step,) = {*np.diff(ranks)} or {1}
    assert ranks == list(range(last, first - 1, -step))[::-1]
    texts = [each.get_window_extent() for each in axis.get_xticklabels()]
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(texts))
    assert min(each.get_fontsize() for each in axis.get_xticklabels()) >= 8
    return step


# -- noise ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "rows"), [(5, 1), (105, 1), (106, 2)])
def test_every_county_has_its_box_and_marks_in_order_of_population(number, rows):
    table = boxes(number)
    figure = figures.plot_county_boxes(table, "a state", "20210608")
    assert len(figure.axes) == rows
    assert inside(figure)
    ranks = np.arange(1, number + 1)
    parts = [ranks[low : low + -(-number // rows)] for low in range(0, number, -(-number // rows))]
    for axis, part in zip(figure.axes, parts, strict=True):
        step = holds_names_that_can_be_read(axis, part[0], part[-1])
        assert step == -(-len(part) // 41)
    sides = np.concatenate([boxes_of(axis)[BOX] for axis in figure.axes])
    assert sides[:, :2].mean(axis=1).tolist() == pytest.approx(ranks.tolist())
    assert sides[:, 2].tolist() == of(table, "q1").tolist()
    assert sides[:, 3].tolist() == of(table, "q3").tolist()
    for colour, series in ((DRAW, "one_draw"), (DAS, "das_error")):
        x, y = np.concatenate([marks_of(axis, colour)[0] for axis in figure.axes]).T
        assert x.tolist() == ranks.tolist()
        np.testing.assert_array_equal(y, of(table, series).reindex(ranks))
    for axis, part in zip(figure.axes, parts, strict=True):
        low, high = axis.get_xlim()
        assert low < part[0]
        assert part[-1] < high < part[0] + len(part)
    assert "20210608" in legend_of(figure)[-1]


# -- slopes and convergence -----------------------------------------------------------------------


def test_convergence_is_a_strip_a_state_and_a_bar_in_each_panel():
    table = pd.DataFrame(
        {
            "state": ["IL", "IL", "DC", "AK"],
            "rhat": [1.001, 1.002, np.nan, 1.02],
            "ess_bulk": [3000.0, 3500.0, np.nan, 1500.0],
            "frozen": [False, False, True, False],
        }
    )
    figure = figures.plot_convergence(table, "Convergence")
    for axis, column, bar in zip(figure.axes, ("rhat", "ess_bulk"), (1.01, 2000), strict=True):
        points = np.concatenate([strip.get_offsets() for strip in axis.collections])
        wanted = [(1.001, 0), (1.002, 0), (1.02, 2)]
        if column == "ess_bulk":
            wanted = [(3000, 0), (3500, 0), (1500, 2)]
        found = sorted((x, round(y)) for x, y in points.tolist())
        assert found == sorted(wanted)
        (line,) = [line for line in axis.get_lines() if to_hex(line.get_color()) == DAS]
        assert {*line.get_xdata()} == {bar}
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["IL", "DC", "AK"]
    assert "1 frozen counties are not shown" in figure.get_suptitle()
    assert inside(figure)


# -- projection and truncation --------------------------------------------------------------------


@pytest.mark.parametrize("number", [12, 80])
def test_projected_noise_stands_beside_the_generalized_laplaces(number):
    noise, _ = project_state(np.random.default_rng(1), number, 0.2, 60, 5)
    table = tabulate_projected_boxes(counties(number), noise, noise["even"][None])
    figure = figures.plot_projected_boxes(table, "title")
    rows = -(-number // 60)
    assert len(figure.axes) == rows
    for law, colour, shift in (
        ("generalized", BOX, -0.2),
        (figures.PROJECTED, figures.PROJECTED_COLOUR, 0.2),
    ):
        own = table[table["law"] == law]
        sides = np.concatenate([boxes_of(axis)[colour] for axis in figure.axes])
        assert sides[:, :2].mean(axis=1).tolist() == pytest.approx(
            (np.arange(1, number + 1) + shift).tolist()
        )
        assert sides[:, 2].tolist() == of(own, "q1").tolist()
        assert sides[:, 3].tolist() == of(own, "q3").tolist()
    assert inside(figure)
    width = -(-number // rows)
    for axis, first in zip(figure.axes, range(1, number, width), strict=True):
        holds_names_that_can_be_read(axis, first, min(first + width - 1, number))


def test_a_box_that_runs_off_the_scale_is_told_with_its_quartiles():
    noise, solved = project_state(np.random.default_rng(1), 12, 0.2, 60, 5)
    table = tabulate_projected_boxes(counties(12), noise, noise["even"][None])
    figure = figures.plot_projected_boxes(table, "title")
    low, high = np.quantile(noise["solver"][:, solved["cell"]], (0.25, 0.75))
    (text,) = figure.axes[0].texts
    assert text.get_text().startswith(
        f"Place{solved['cell']} County exceeds the scale: quartiles {low:.0f} and {high:.0f}"
    )
    assert text.xy[0] == pytest.approx(solved["cell"] + 1.4)


def test_truncation_draws_each_states_curve_and_the_population_needed():
    curves = pd.DataFrame(
        {
            "state": ["AA"] * 3 + ["BB"] * 3,
            "epsilon": [0.1, 0.3, 1] * 2,
            "expected": [1, 0.02, 0.0, 2e-5, 1e-6, 1e-7],
        }
    )
    needed = pd.DataFrame(
        {"epsilon": [0.1, 1] * 2, "chance": [1e-3, 1e-3, 1e-6, 1e-6], "population": [60, 6, 120, 0]}
    )
    marks = pd.DataFrame({"county": ["Loving"], "state": ["TX"], "population": [82]})
    figure = figures.plot_truncation(pd.concat([curves, needed]), marks, 0.192)
    left, right = figure.axes
    named = labelled(left)["AA"]
    assert to_hex(named.get_color()) == DARK[0]
    assert named.get_xydata().tolist() == [[0.1, 1000], [0.3, 20]]
    (grey,) = [line for line in left.get_lines() if to_hex(line.get_color()) == "#cccccc"]
    assert grey.get_ydata().tolist() == pytest.approx([0.02, 0.001, 0.0001])
    lines = labelled(right)
    assert lines["probability 0.001"].get_xydata().tolist() == [[0.1, 60], [1, 6]]
    assert lines["probability 1e-06"].get_ydata().tolist() == [120, 0.5]
    assert [list(line.get_ydata()) for line in right.get_lines() if line.get_color() == FAINT] == [
        [82, 82]
    ]
    for axis in (left, right):
        (bar,) = [line for line in axis.get_lines() if to_hex(line.get_color()) == DAS]
        assert {*bar.get_xdata()} == {0.192}
    assert inside(figure)
