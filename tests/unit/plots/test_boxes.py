import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.image import imread
from scipy.ndimage import label

from isdp.diagnostics.summaries import boxes
from isdp.plots.boxes import MARKS_HIGH, box_handles, cell_boxes, draw_boxes
from isdp.plots.style import BOX, DRAW, FAINT, INK, panels, save
from tests.artists import boxes_of, inside, legend_of, strokes_of


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    noise = np.rint(rng.laplace(0, [5, 6, 7, 8], (2, 900, 4))).astype(np.int64)
    found = boxes(noise)
    return found.assign(position=2 * found["cell"] + 1, label=found["cell"].map("cell {}".format))


@pytest.fixture(scope="module")
def axis(table):
    _, ((axis,),) = panels(1, 1, (8, 4))
    draw_boxes(axis, table, width=0.5)
    return axis


def values(table, series):
    return table[table["series"] == series].set_index("position")["value"]


def test_boxes_whiskers_and_medians_stand_where_the_table_says(axis, table):
    x = np.array([1, 3, 5, 7])
    (sides,) = boxes_of(axis).values()
    assert list(boxes_of(axis)) == [BOX]
    expected = [x - 0.25, x + 0.25, values(table, "q1"), values(table, "q3")]
    assert sides.tolist() == np.column_stack(expected).tolist()
    whiskers, medians = strokes_of(axis, INK)
    assert (whiskers[..., 0] == x[:, None]).all()
    assert whiskers[:, 0, 1].tolist() == values(table, "whisker_low").tolist()
    assert whiskers[:, 1, 1].tolist() == values(table, "whisker_high").tolist()
    assert (medians[..., 0] == np.column_stack([x - 0.25, x + 0.25])).all()
    assert (medians[..., 1] == values(table, "median").to_numpy()[:, None]).all()


def test_one_draw_is_marked_at_its_value(axis, table):
    (marks,) = strokes_of(axis, DRAW)
    assert marks[..., 0].mean(axis=1).tolist() == pytest.approx([1, 3, 5, 7])
    assert (marks[..., 1] == values(table, "one_draw").to_numpy()[:, None]).all()


def test_a_mark_is_a_square_however_wide_its_box(axis):
    (marks,) = strokes_of(axis, DRAW)
    (drawn,) = [line for line in axis.get_lines() if to_hex(line.get_color()) == DRAW]
    assert np.ptp(marks[..., 0], axis=1).max() < 0.03  # its ends alone make its size
    assert drawn.get_solid_capstyle() == "projecting"


def test_a_mark_in_the_legend_is_about_as_large_as_those_drawn(axis):
    (mark,) = [handle for handle in box_handles() if handle.get_label() == "one draw"]
    drawn = [line for line in axis.get_lines() if to_hex(line.get_color()) == DRAW]
    assert {abs(mark.get_markersize() - line.get_linewidth()) <= 1 for line in drawn} == {True}


def test_every_dot_reaches_the_picture(tmp_path):
    """Where a dot would be snapped to whole pixels it may vanish from a PNG."""
    cells, colour = 100, "#c23b22"
    flat = boxes(np.zeros((1, 5, cells), dtype=np.int64))
    dots = pd.DataFrame({"cell": range(cells), "series": "dot", "value": 9.0})
    table = pd.concat([flat, dots]).assign(label="", position=lambda each: each["cell"])
    figure, ((axis,),) = panels(1, 1, (13.7, 4))
    draw_boxes(axis, table, marks={"dot": ("round", colour, "a dot")})
    save(figure, tmp_path / "dots.svg", tmp_path / "dots.png")
    red, green, blue = imread(tmp_path / "dots.png")[..., :3].transpose(2, 0, 1)
    assert label((red > 0.6) & (green < 0.45) & (blue < 0.4))[1] == cells


def test_every_draw_beyond_lies_on_a_stroke_and_every_stroke_ends_at_one(axis, table):
    (strokes,) = strokes_of(axis, FAINT)
    beyond = table[table["series"] == "extreme"]
    apart = np.ptp(beyond["value"]) / MARKS_HIGH
    assert len(strokes) < len(beyond)
    for position, value in zip(beyond["position"], beyond["value"], strict=True):
        own = strokes[strokes[:, 0, 0] == position]
        assert ((own[:, 0, 1] < value) & (value < own[:, 1, 1])).any()
    drawn = {*zip(beyond["position"], beyond["value"], strict=True)}
    for (x, low), (end, high) in strokes:
        assert x == end
        assert (x, round(low + apart / 4, 6)) in drawn
        assert (x, round(high - apart / 4, 6)) in drawn
    # strokes of one cell are further apart than marks that touch
    for x in (1, 3, 5, 7):
        own = strokes[strokes[:, 0, 0] == x][:, :, 1]
        assert (own[1:, 0] - own[:-1, 1] > apart / 2).all()


def test_labels_stand_under_their_boxes(axis):
    ticks = [label.get_text() for label in axis.get_xticklabels()]
    assert ticks == [f"cell {i}" for i in range(4)]
    assert axis.get_xticks().tolist() == [1, 3, 5, 7]


def test_without_marks_there_are_boxes_alone(table):
    _, ((axis,),) = panels(1, 1, (8, 4))
    draw_boxes(axis, table, marks=None)
    assert len(boxes_of(axis)) == 1
    assert not strokes_of(axis, DRAW)
    assert not strokes_of(axis, FAINT)


def test_a_panel_a_law_in_their_order(table):
    both = [
        table.assign(law=law, name=table["label"], value=scale * table["value"])
        for law, scale in (("b", 1), ("a", 2))
    ]
    laws = {"b": "law b", "a": "law a", "none": "drawn by none"}
    figure = cell_boxes(pd.concat(both), "title", laws)
    assert [axis.get_ylabel().split("\n")[1] for axis in figure.axes] == ["law b", "law a"]
    for axis, scale in zip(figure.axes, (1, 2), strict=True):
        _, medians = strokes_of(axis, INK)
        assert medians[:, 0, 0].tolist() == pytest.approx([0.69, 1.69, 2.69, 3.69])
        expected = scale * values(table, "median")
        assert medians[:, 0, 1].tolist() == expected.tolist()
        assert not any(line.get_visible() for line in axis.get_xgridlines())
        assert all(line.get_visible() for line in axis.get_ygridlines())
    assert "one draw" in legend_of(figure.axes[0])
    assert figure.axes[-1].get_xlabel() == "cell"
    assert inside(figure)


def test_without_any_draws_the_figure_says_why(table):
    figure = cell_boxes(table.assign(law="x", name="")[:0], "title", {"l1": "the law"})
    assert "No perfect sampler" in figure.axes[0].texts[0].get_text()
