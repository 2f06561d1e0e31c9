import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread
from scipy.ndimage import label

from isdp.diagnostics.summaries import boxes
from isdp.plots.boxes import MAX_VECTOR_BOXES, draw_boxes, plot_cell_boxes
from isdp.plots.style import BOX, panels, save
from tests.artists import boxes_of, inside, legend_of, medians_of, whiskers_of


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
    low, high = whiskers_of(axis).T
    assert low.tolist() == values(table, "whisker_low").tolist()
    assert high.tolist() == values(table, "whisker_high").tolist()
    expected = [x - 0.25, x + 0.25, values(table, "median")]
    assert medians_of(axis).tolist() == np.column_stack(expected).tolist()


@pytest.mark.parametrize("cells", [4, MAX_VECTOR_BOXES, MAX_VECTOR_BOXES + 1])
def test_draws_beyond_are_an_image_in_the_svg_and_so_are_many_boxes(tmp_path, cells):
    noise = np.random.default_rng(4).integers(-9, 9, (2, 99, cells)) ** 5
    table = boxes(noise).assign(label="", position=lambda each: each["cell"])
    figure, ((axis,),) = panels(1, 1, (8, 4))
    draw_boxes(axis, table)
    save(figure, tmp_path / "boxes.svg", tmp_path / "boxes.png")
    text = (tmp_path / "boxes.svg").read_text()
    assert 1 <= text.count("<image") <= 2
    assert (text.count("<path") > cells) == (cells <= MAX_VECTOR_BOXES)


def test_every_dot_reaches_the_picture(tmp_path):
    cells, colour = 100, "#c23b22"
    flat = boxes(np.zeros((1, 5, cells), dtype=np.int64))
    dots = pd.DataFrame({"cell": range(cells), "series": "dot", "value": 9.0})
    table = pd.concat([flat, dots]).assign(label="", position=lambda each: each["cell"])
    figure, ((axis,),) = panels(1, 1, (13.7, 4))
    draw_boxes(axis, table, marks={"dot": ("o", colour, "a dot")})
    save(figure, tmp_path / "dots.svg", tmp_path / "dots.png")
    red, green, blue = imread(tmp_path / "dots.png")[..., :3].transpose(2, 0, 1)
    assert label((red > 0.6) & (green < 0.45) & (blue < 0.4))[1] == cells


def test_a_panel_a_law_in_their_order(table):
    both = [
        table.assign(law=law, name=table["label"], value=scale * table["value"])
        for law, scale in (("b", 1), ("a", 2))
    ]
    laws = {"b": "law b", "a": "law a", "none": "drawn by none"}
    figure = plot_cell_boxes(pd.concat(both), "title", laws)
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["law b", "law a"]
    for axis, scale in zip(figure.axes, (1, 2), strict=True):
        left, _, medians = medians_of(axis).T
        assert left.tolist() == pytest.approx([0.69, 1.69, 2.69, 3.69])
        assert medians.tolist() == (scale * values(table, "median")).tolist()
        assert not any(line.get_visible() for line in axis.get_xgridlines())
        assert all(line.get_visible() for line in axis.get_ygridlines())
    assert "one draw" in legend_of(figure)
    assert figure.axes[-1].get_xlabel() == "cell"
    assert inside(figure)
