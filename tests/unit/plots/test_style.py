import matplotlib as mpl
import numpy as np

from isdp.plots.style import WIDTH, finish, panels, save, styled
from tests.artists import inside


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


def test_the_style_ends_with_the_figure():
    before = dict(mpl.rcParams)
    picture()
    assert dict(mpl.rcParams) == before


def test_a_long_title_and_a_long_legend_are_above_the_panels_and_within_the_figure():
    figure, ((axis,),) = panels(1, 1, (WIDTH, 4))
    handles = [axis.plot([0, i], label=f"a line with the number {i}")[0] for i in range(7)]
    finish(figure, f"{'long words ' * 20}\nsecond line", handles)
    assert inside(figure)
    (legend,) = figure.legends
    title, key = figure.texts[0].get_window_extent(), legend.get_window_extent()
    assert title.y0 >= key.y1 - 1
    assert key.y0 >= axis.get_window_extent().y1
    assert figure.get_suptitle().count("\n") == 3  # the first line takes three
    assert len({text.get_window_extent().x0 for text in legend.get_texts()}) == 3  # columns
