import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest

from isdp.plots.style import finish, panels, save, strokes, styled
from isdp.plots.svg import lighten

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


def test_no_figure_module_imports_seaborn_or_pyplot_or_sets_a_backend():
    modules = ["isdp.plots." + name for name in ("boxes", "bounds", "constraints", "laws")]
    modules += [f"reproduction.{wing}.figures" for wing in ("counties", "congenial", "exactness")]
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
    """Points of a path, whether or not strokes along an axis are written short."""
    found, x, y = [], 0.0, 0.0
    for letter, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        values = [float(number) for number in numbers.split()]
        if letter == "H":
            x = values[0]
        elif letter == "V":
            y = values[0]
        elif values:
            x, y = values[-2:]
        found.append((letter if letter in "MzZ" else "L", x, y))
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


def test_equal_styles_have_equal_names_in_all_figures_and_others_never(heavy):
    other = lighten(heavy.replace("#123456", "#fedcba"))
    names = [dict(re.findall(r"\.(\w+)\{([^}]*)\}", svg)) for svg in (lighten(heavy), other)]
    for name in names[0].keys() & names[1].keys():
        assert names[0][name] == names[1][name]
