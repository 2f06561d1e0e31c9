from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest

from isdp.plots.style import finish, legend_above, panels, save, styled


@styled
def picture(title="a title & more"):
    figure, ((left, right),) = panels(1, 2, (6, 3))
    left.plot([0.0, 1.0, 2.0, 3.0], [1.0, 4.0, 4.0, 2.0], color="#123456")
    left.fill_between([0.0, 1.0], [0.0, 1.0], [2.0, 3.0], alpha=0.2)
    right.plot(np.arange(40.0), np.arange(40.0) % 2, "o", color="#abcdef", rasterized=True)
    return finish(figure, title)


def test_equal_data_give_equal_files(tmp_path):
    for name in ("one", "two"):
        save(picture(), tmp_path / f"{name}.svg", tmp_path / f"{name}.png")
    for kind in ("svg", "png"):
        content = (tmp_path / f"one.{kind}").read_bytes()
        assert content == (tmp_path / f"two.{kind}").read_bytes()
        assert content
    assert "<dc:date>" not in (tmp_path / "one.svg").read_text()


def test_a_legend_above_stands_on_its_axis():
    figure, ((axis,),) = panels(1, 1, (5, 3))
    legend_above(axis, axis.plot([1, 2], label="words"))
    finish(figure)
    figure.draw_without_rendering()
    box, legend = axis.get_window_extent(), axis.get_legend().get_window_extent()
    assert box.y1 <= legend.y0 < legend.y1 < figure.bbox.y1
    assert legend.y0 - box.y1 < legend.height


def test_rows_that_stand_together_are_close():
    figure, axes = panels(4, 1, (5, 8), together=2)
    finish(figure)
    assert axes.shape == (4, 1)
    box = [axis.get_position() for axis in axes[:, 0]]
    gaps = [above.y0 - below.y1 for above, below in pairwise(box)]
    assert gaps[0] == pytest.approx(gaps[2])
    assert all(above.y0 > below.y1 for above, below in pairwise(box))


def test_the_style_ends_with_the_figure():
    before = dict(mpl.rcParams)
    picture()
    assert dict(mpl.rcParams) == before
