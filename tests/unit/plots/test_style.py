import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from isdp.plots.style import finish, legend_above, panels, save, strokes, styled
from isdp.plots.svg import _short, lighten
from tests import ROOT

SVG = "{http://www.w3.org/2000/svg}"


@styled
def picture(title="a title & more"):
    figure, ((left, right),) = panels(1, 2, (6, 3))
    left.plot([0.0, 1.0, 2.0, 3.0], [1.0, 4.0, 4.0, 2.0], color="#123456")
    left.fill_between([0.0, 1.0], [0.0, 1.0], [2.0, 3.0], alpha=0.2)
    strokes(right, (np.arange(5.0), np.zeros(5)), (np.arange(5.0), np.ones(5)), color="#654321")
    right.plot(np.arange(40.0), np.arange(40.0) % 2, "o", color="#abcdef")
    return finish(figure, title)


def test_equal_data_give_equal_files(tmp_path):
    for name in ("one", "two"):
        save(picture(), tmp_path / f"{name}.svg", tmp_path / f"{name}.png")
    for kind in ("svg", "png"):
        content = (tmp_path / f"one.{kind}").read_bytes()
        assert content == (tmp_path / f"two.{kind}").read_bytes()
        assert content
    assert b"Date" not in (tmp_path / "one.png").read_bytes()


def test_a_figure_of_another_canvas_is_saved_too(tmp_path):
    figure = Figure()
    figure.subplots().plot([1, 2])
    for name in ("one", "two"):  # the first time leaves the canvas of the SVG
        save(figure, tmp_path / f"{name}.svg", tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_figure_that_was_not_laid_out_is_fitted_when_saved(tmp_path):
    figure, ((axis,),) = panels(1, 1, (3, 2))
    axis.set_xlabel("two\nlines")
    assert figure.get_tightbbox().y0 < 0
    save(figure, tmp_path / "a.svg", tmp_path / "a.png")
    assert figure.get_tightbbox().y0 > 0


def test_strokes_are_one_line_with_gaps():
    _, ((axis,),) = panels(1, 1, (3, 2))
    line = strokes(axis, ([1, 2], 5), ([3, 4], [6, 7]), lw=2)
    x, y = line.get_data()
    np.testing.assert_array_equal(x, [1, 3, np.nan, 2, 4, np.nan])
    np.testing.assert_array_equal(y, [5, 6, np.nan, 5, 7, np.nan])


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


@styled
def on_logarithms(low, high):
    figure, ((axis,),) = panels(1, 1, (4, 2))
    axis.plot([low, high], [1, 2])
    axis.set_xscale("log")
    axis.set_xlim(low, high)
    return finish(figure), axis


def test_powers_are_text_and_minor_ticks_are_there_if_they_are_labelled():
    figure, axis = on_logarithms(1e-3, 1e4)
    shown = [label.get_text() for label in axis.get_xticklabels()]
    assert {"10⁻³", "10⁰", "10⁴"} <= set(shown)
    assert len(axis.get_xticks(minor=True)) == 0
    figure, axis = on_logarithms(2.0, 5.0)
    assert len(axis.get_xticks(minor=True)) > 0
    figure.canvas.draw()
    assert any(label.get_text() for label in axis.get_xticklabels(minor=True))


def test_the_style_ends_with_the_figure():
    before = dict(mpl.rcParams)
    picture()
    assert dict(mpl.rcParams) == before


def test_no_figure_module_imports_seaborn_or_pyplot_or_sets_a_backend():
    modules = ["isdp.plots." + name for name in ("boxes", "bounds", "constraints", "laws")]
    found = sorted((ROOT / "src/reproduction").glob("*/figures.py"))
    modules += [f"reproduction.{path.parent.name}.figures" for path in found]
    assert len(found) > 5
    modules += [
        f"reproduction.counties.{name}_figures" for name in ("projection", "truncation", "sweep")
    ]
    words = f"import sys, {', '.join(modules)}; import matplotlib as mpl"
    words += "; print([m for m in ('seaborn', 'matplotlib.pyplot') if m in sys.modules])"
    words += "; print(mpl.get_backend(auto_select=False))"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "None"]


# -- lighter SVG ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def heavy(tmp_path_factory):
    path = tmp_path_factory.mktemp("svg") / "a.svg"
    with mpl.rc_context({"svg.hashsalt": "x", "svg.fonttype": "none"}):
        picture().savefig(path, format="svg", metadata={"Date": None})
    return path.read_text()


def points(path):
    """Points of a path of single steps, absolute or relative, also where an axis is left out."""
    found, at, start = [], (0.0, 0.0), (0.0, 0.0)
    for letter, text in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        values = [float(number) for number in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", text)]
        base = at if letter.islower() else (0.0, 0.0)
        if letter in "zZ":
            at = start
        elif letter in "hH":
            at = (base[0] + values[0], at[1])
        elif letter in "vV":
            at = (at[0], base[1] + values[0])
        else:
            pairs = zip(values[::2], values[1::2], strict=True)
            *_, at = ((base[0] + x, base[1] + y) for x, y in pairs)
        if letter in "mM":
            start = at
        found.append((letter.upper() if letter in "mMzZ" else "L", *at))
    return found


def shown(svg):
    """All paths, marks and texts of an SVG with the style that applies to each."""
    root = ET.fromstring(svg)
    sheet = "".join(style.text or "" for style in root.iter(f"{SVG}style"))
    classes = dict(re.findall(r"\.(\w+)\{([^}]*)\}", sheet))
    found = []

    def walk(element, inherited):
        style = classes.get(element.get("class"), element.get("style")) or inherited
        tag = element.tag.removeprefix(SVG)
        link = element.get("href", element.get("{http://www.w3.org/1999/xlink}href"))
        if tag in ("path", "use", "text", "rect", "image"):
            place = [element.get(key) for key in ("x", "y", "transform", "clip-path")]
            found.append((tag, style, link, element.get("d"), element.text, place))
        for child in element:
            walk(child, style)

    walk(root, None)
    return found


def numbers(text):
    return [float(number) for number in re.findall(r"-?[\d.]+\d|\d", text or "")]


def test_a_lighter_svg_shows_the_same(heavy):
    light = lighten(heavy)
    assert len(light) < 0.6 * len(heavy)
    before, after = shown(heavy), shown(light)
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        assert old[:3] == new[:3]
        assert old[4] == new[4] or not (old[4] or "").strip()
        assert old[5][3] == new[5][3]
        for one, two in zip(old[5][:3], new[5][:3], strict=True):
            assert numbers(two) == pytest.approx(numbers(one), abs=0.051)
        if old[3]:
            kept = points(new[3])
            left = [point for point in points(old[3]) if point[0] != "z"]
            for letter, x, y in left:
                assert any(abs(x - u) < 0.052 and abs(y - v) < 0.052 for _, u, v in kept), (
                    letter,
                    x,
                    y,
                )


@pytest.mark.parametrize(
    ("path", "decimals", "short"),
    [
        ("M 10.04 20 L 10.04 30.06 L 12.0 30.06 z L 13 20", 1, "M10 20V30.1h2zh3"),
        ("M 100.31 200.2 L 101.2 199.33", 1, "M100.3 200.2l.9-.9"),
        ("M 100 0 L 2 1", 1, "M100 0L2 1"),
        ("M 1 1 L 1.04 1.04 L 1.2 1.2", 1, "M1 1l.2 .2"),
        ("M 100 100 C 101 101 102 101 103 100 Q 104 99 105 100", 0, "M100 100c1 1 2 1 3 0q1-1 2 0"),
        ("M -0.004 0.5", 2, "M0 .5"),
        ("M 0 0 L 1 0 L 3 0 L 2 0 L 2 4 L 2 9 z", 0, "M0 0H3H2V9z"),
        ("M 0 0 L 1 0 M 2 0 L 3 0", 0, "M0 0H1M2 0H3"),
    ],
)
def test_a_path_is_written_short(path, decimals, short):
    assert _short(path, decimals) == short


def test_upright_labels_are_turned_together_and_stay_where_they_are():
    label = '<g id="t"><text transform="translate({} {}) rotate(-90)">{}</text></g>'
    labels = "".join(label.format(10 + i, 20.5 - 9 * i, i) for i in range(4))
    other = '<text transform="translate(7 8) rotate(-45)">o</text>'
    light = lighten(f'<svg xmlns="http://www.w3.org/2000/svg"><g id="a">{labels}{other}</g></svg>')
    (group,) = ET.fromstring(light).findall(f"{SVG}g")
    assert group.get("transform") == "rotate(-90)"
    found = [(text.text, float(text.get("x")), float(text.get("y"))) for text in group]
    # (x, y) turned by -90 degrees is (y, -x)
    assert [(words, y, -x) for words, x, y in found] == [
        (str(i), 10 + i, 20.5 - 9 * i) for i in range(4)
    ]
    assert other.split(">")[0] in light


def test_relative_steps_add_up_to_what_was_rounded():
    """The errors of thousands of steps do not gather: each point is within half a unit."""
    x, y = np.cumsum(np.random.default_rng(1).normal(0, 0.7, (2, 5000)), axis=1) + 300
    path = "M " + " L ".join(f"{a:.6f} {b:.6f}" for a, b in zip(x, y, strict=True))
    ends = np.array([point[1:] for point in points(_short(path, 1))])
    assert np.abs(ends[-1] - (x[-1], y[-1])).max() < 0.0501
    near = [np.hypot(*(ends - end).T).min() for end in zip(x[::50], y[::50], strict=True)]
    assert max(near) < 0.0501 * np.sqrt(2)


def test_equal_styles_have_equal_names_in_all_figures_and_others_never(heavy):
    other = lighten(heavy.replace("#123456", "#fedcba"))
    names = [dict(re.findall(r"\.(\w+)\{([^}]*)\}", svg)) for svg in (lighten(heavy), other)]
    for name in names[0].keys() & names[1].keys():
        assert names[0][name] == names[1][name]
