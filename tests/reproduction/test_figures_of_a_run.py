"""The figures of a finished run against the tables that they show.

`figures.csv` has a row for each panel: its words without numbers, the scales of its axes, the
column that its named ticks stand for, and, for each artist, the rows and columns whose numbers it
shows. These are found by a comparison of the drawn numbers with the tables. Another column, other
rows, exchanged names, or ticks in another order therefore give another row.
"""

import itertools
import re
from collections import defaultdict
from functools import cached_property

import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch
from matplotlib.text import Text

from isdp.plots.style import INK, WIDTH
from reproduction.jobs.descriptions import read_descriptions
from tests import ROOT

KNOWN = ROOT / "tests/reproduction/figures.csv"
DESCRIPTIONS = read_descriptions((ROOT / "src/reproduction").glob("*/descriptions.yaml"))
MIN_TEXT = 8  # points, about 11 pixels at the width of a page
MEASURED = ("effective_draws_per_second",)  # of the machine
NUMBER = re.compile(r"[-+]?\d[\d,.]*(e-?\d+)?")
FACTORS = (1, 100, 1000)  # a share may be drawn in per cent, or for 1000 persons


def plain(words):
    words = re.sub("^_.*?(?=,|$)", "", words)
    return NUMBER.sub("#", " ".join(words.split()))


def drawn(jobs, replay):
    """The figures of one job of each rule that draws, with what the job reads and its settings."""
    papers = {job.given.rule: job for job in jobs if "cube" not in job.name}
    for rule, job in papers.items():
        if rule.startswith("plot_"):
            tables = []

            def read(_, table, tables=tables):
                tables.append(with_errors(table))
                return tables[-1]

            figures = {n: made for n, made in replay(job, read).items() if isinstance(made, Figure)}
            for name, figure in figures.items():
                (svg,) = job.outputs[name]
                yield svg.rpartition("/")[2].removesuffix(".svg"), figure, tables, job.params


def with_errors(table):
    """A table with made-up standard errors where a single run has none, and made-up speeds."""
    numbers = table.select_dtypes("number")
    unknown = [c for c in numbers if re.search("error$|_se$", c) and numbers[c].isna().all()]
    rng = np.random.default_rng([len(table), *"".join(table).encode()])  # others for each table
    made = dict(zip(unknown, rng.uniform(0.1, 0.2, (len(unknown), len(table))), strict=True))
    made |= {c: 1234.56789 * np.arange(1, len(table) + 1) for c in MEASURED if c in table}
    return table.assign(**made)


def series(axis):
    """The name, and the x and the y, of everything in a panel that shows numbers."""
    found, taken, alike = [], set(), defaultdict(list)
    for each in axis.containers:
        if isinstance(each, BarContainer):
            boxes = [bar.get_bbox() for bar in each.patches]
            ends = [(box.x1, (box.y0 + box.y1) / 2) for box in boxes]
            if each.orientation == "vertical":
                ends = [((box.x0 + box.x1) / 2, box.y1) for box in boxes]
            found.append((each.get_label(), *np.transpose(ends)))
        if isinstance(each, ErrorbarContainer):
            line, caps, bars = each.lines
            taken |= {line, *caps, *bars}
            if line:
                found.append((each.get_label(), *line.get_data()))
            for bar in bars:
                found += ends_of(f"{each.get_label()}, bar", bar.get_segments())
    for line in axis.get_lines():
        if line not in taken and line.get_transform() == axis.transData:
            name, points = line.get_label(), line.get_xydata()
            if name.startswith("_"):
                look = line.get_linestyle(), line.get_marker()
                alike[name_of(axis, line), line.get_color(), len(points), *look].append(points)
            else:
                found.append((name, *points.T))
    for (name, *_), points in alike.items():
        both = np.array(points)
        if len(both) < 3 or not both.size:
            found += [(name, *each.T) for each in both]
        else:  # of whiskers the lower ones, and the upper
            found += [(name, *both[i::2, end].T) for i in (0, 1) for end in (0, -1)]
    for each in axis.collections:
        if each in taken:
            continue
        if isinstance(each, LineCollection):
            found += ends_of("", each.get_segments())
        elif isinstance(each, PathCollection):
            found.append((each.get_label(), *np.asarray(each.get_offsets()).T))
        else:
            for path in each.get_paths():
                side = (len(path.vertices) - 3) // 2
                lower, upper = path.vertices[1 : side + 1], path.vertices[side + 2 : -1]
                found += [("band", *lower.T), ("band", *upper[::-1].T)]
    boxes = defaultdict(list)
    for patch in axis.patches:
        if isinstance(patch, PathPatch):
            boxes[patch.get_facecolor()].append(patch.get_path().get_extents())
    for each in boxes.values():
        middle = [(box.x0 + box.x1) / 2 for box in each]
        found += [("box", middle, [getattr(box, end) for box in each]) for end in ("y0", "y1")]
    return found


def name_of(axis, line):
    """The words of the legend for lines of a colour; dark entries are for a style."""
    names = []
    for legend in filter(None, [axis.get_legend(), *axis.figure.legends]):
        for entry, words in zip(legend.legend_handles, legend.get_texts(), strict=True):
            if isinstance(entry, Line2D) and (
                entry.get_linestyle() == line.get_linestyle()
                if entry.get_color() == INK
                else entry.get_color() == line.get_color()
            ):
                names.append(words.get_text())
    return " and ".join(names)


def look_of(entry):
    """What sets an entry of a legend apart from the others."""
    if isinstance(entry, Line2D):
        colours = map(to_hex, (entry.get_color(), entry.get_markerfacecolor()))
        return entry.get_linestyle(), entry.get_marker(), entry.get_linewidth(), *colours
    return str(entry.get_facecolor())


def alike(figure):
    """Legends of which two entries look alike."""
    legends = filter(None, [*figure.legends, *(axis.get_legend() for axis in figure.axes)])
    kinds = Line2D, Patch
    looks = [[look_of(e) for e in each.legend_handles if isinstance(e, kinds)] for each in legends]
    return [each for each in looks if len(set(each)) < len(each)]


def lightness(colour):
    return float(np.dot(to_rgb(colour), (0.2126, 0.7152, 0.0722)))


def alike_in_grey(figure):
    """Entries of a legend that differ by no more than a hue."""
    for legend in filter(None, [*figure.legends, *(axis.get_legend() for axis in figure.axes)]):
        for one, other in itertools.combinations(legend.legend_handles, 2):
            if isinstance(one, Line2D) and isinstance(other, Line2D):
                (*style, ink, face), (*same, other_ink, other_face) = look_of(one), look_of(other)
                far = [
                    abs(lightness(a) - lightness(b))
                    for a, b in ((ink, other_ink), (face, other_face))
                ]
                if style == same and max(far) < 0.06:
                    yield one.get_label(), other.get_label()


def illegible(figure):
    """What is too wide or too small for a page of 700 pixels."""
    figure.draw_without_rendering()
    if figure.get_figwidth() > WIDTH:
        yield f"{figure.get_figwidth()} inches wide"
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and text.get_fontsize() < MIN_TEXT:
            yield text.get_text()


def values_of(name, settings):
    """The values of settings with a word in their names."""
    for key, each in settings.items():
        yield from values_of(name, each) if isinstance(each, dict) else [each] * (name in key)


def misnamed(figure, tables, settings):
    """Numbers after "epsilon =" or "delta =" that are no such setting, nor in such a column."""
    texts = [text.get_text() for text in figure.findobj(Text)]
    for name, value in re.findall(r"(epsilon|delta) = ([\d.e-]*\d)", "\n".join(texts)):
        known = [0, *values_of(name, settings)]
        known += [each for table in tables if name in table for each in table[name]]
        if value not in {f"{each:g}" for each in known if isinstance(each, int | float)}:
            yield f"{name} = {value}"


def words(axis, first):
    """The words of a panel but those of ticks; of the whole figure in the first panel."""
    legends = [axis.get_legend(), *(axis.figure.legends if first else ())]
    texts = [axis.get_title(loc) for loc in ("left", "center", "right")]
    texts += [axis.get_xlabel(), axis.get_ylabel(), *(text.get_text() for text in axis.texts)]
    for legend in filter(None, legends):
        texts += [legend.get_title().get_text(), *(text.get_text() for text in legend.get_texts())]
    texts += [text.get_text() for text in axis.figure.texts] if first else []
    return " / ".join(NUMBER.sub("#", " ".join(text.split())) for text in texts if text)


def ends_of(name, segments):
    """The ends of bars, and the standard errors that they have."""
    ends = np.array([part for part in segments if len(part) == 2])
    if not len(ends):
        return []
    x, y = ends[..., 0], ends[..., 1]
    upright = np.allclose(x[:, 0], x[:, 1])
    reach = np.ptp(y if upright else x, axis=1) / 6  # bars of three standard errors
    sides = [(x[:, at], y[:, at]) for at in (0, 1)]
    return [(name, *side) for side in [*sides, (x[:, 0], reach) if upright else (reach, y[:, 0])]]


class Part:
    """Rows of a table, with the numbers of each column in order."""

    def __init__(self, where, rows):
        self.where, self.rows = where, rows
        columns = rows.select_dtypes("number").columns
        self.numbers = {c: rows[c].to_numpy(float, na_value=np.nan) for c in columns}
        self.sorted = {c: np.sort(v[~np.isnan(v)]) for c, v in self.numbers.items()}

    @cached_property
    def computed(self):
        """What figures compute of columns: names, and an array of shape (names, rows)."""
        with np.errstate(all="ignore"):
            made = {f"({c} + 1)": v + 1 for c, v in self.numbers.items()}
            made |= {f"log10 {c}": np.log10(v) for c, v in self.numbers.items()}
            for (a, one), (b, other) in itertools.permutations(self.numbers.items(), 2):
                made[f"{a} / {b}"] = one / other
        return list(made), np.reshape([*made.values()], (len(made), len(self.rows)))


def parts_of(tables):
    """Rows with each value of each column of words, and whole tables after these."""
    for table in tables:
        for key in table.select_dtypes(exclude="number"):
            if 1 < table[key].nunique() < 100:
                for value, rows in table.groupby(key):
                    yield Part(f" where {key} is {value}", rows)
        yield Part("", table)


def source_of(x, y, parts, upright):
    """The first rows and columns that have all pairs of numbers, or else all of one side.

    Where no columns have them, numbers that are computed of the columns of all rows are tried, and
    then the other side.
    """
    sides = []
    for up, places in itertools.product((upright, not upright), (places_of, computed_places)):
        for part in () if sides and up != upright else parts:
            if main := places(y if up else x, part):
                for one, other in itertools.product(main, places(x if up else y, part)):
                    on_x, on_y = (other, one) if up else (one, other)
                    if one[0] != other[0] and paired(part, on_x, on_y, x, y):
                        return part, on_x, on_y
                sides.append((part, None, main[0]) if up else (part, main[0], None))
    return sides[0] if sides else None


def in_words(source):
    part, *sides = source
    names = [f"{f} {c}" if f > 1 else c for c, f in filter(None, reversed(sides))]
    return " by ".join(names) + part.where


def places_of(side, part):
    """Columns, each with a factor, among whose numbers are all of one side."""
    side = np.asarray(side, float)
    side = side[np.isfinite(side)]
    if in_many_columns(side):
        return []
    return [
        (column, factor)
        for column, values in part.sorted.items()
        for factor in FACTORS
        if among(side, factor * values).all()
    ]


def computed_places(side, part):
    """As `places_of`, also for a ratio of two columns, the logarithm of one, and one more."""
    found, side = places_of(side, part), np.sort(np.asarray(side, float))
    whole = not part.where and len(side) < len(part.rows) < 500
    if found or in_many_columns(side) or not (whole or len(side) == len(part.rows) < 100):
        return found
    names, made = part.computed
    for i, factor in itertools.product(range(len(names)), FACTORS):
        values = np.sort(factor * made[i])
        if among(side, values).all() if whole else np.allclose(values, side):
            found.append((names[i], factor))
            part.numbers[names[i]] = made[i]
    return found


def in_many_columns(side):
    few = len(np.unique(side)) < 3
    return not side.size or (few and (side == side.round(3)).any())


def among(side, values):
    if not len(values):
        return np.zeros(len(side), bool)
    at = np.searchsorted(values, side)
    near = np.stack([values[np.clip(at + step, 0, len(values) - 1)] for step in (-1, 0)])
    return np.isclose(near, side, rtol=1e-6).any(axis=0)


def paired(part, on_x, on_y, x, y):
    both = np.column_stack([factor * part.numbers[column] for column, factor in (on_x, on_y)])
    points = np.column_stack([x, y]).astype(float)
    points = points[np.isfinite(points).all(axis=1)]
    return all(np.isclose(both, point, rtol=1e-6).all(axis=1).any() for point in points)


def named(side):
    words = "".join(text.get_text() for text in side.get_ticklabels())
    return re.search("[A-Za-z]", words.replace("mathdefault", ""))


def ticks_of(axis, sources):
    """The column that the named ticks of a panel stand for, or its values by their words."""
    for place, side in enumerate((axis.xaxis, axis.yaxis)):
        names = [text.get_text() for text in side.get_ticklabels()]
        for data, (part, *sides) in sources if named(side) else ():
            if on := sides[1 - place]:
                at = (rows_at(part, on, data, place, tick) for tick in side.get_ticklocs())
                known = [(name, rows) for name, rows in zip(names, at, strict=True) if len(rows)]
                for key in part.rows if len(known) > 1 else ():
                    values = [(name, set(rows[key].map(str))) for name, rows in known]
                    if all(starts(name, each) for name, each in values):
                        return key
                for key in part.rows.select_dtypes(exclude="number") if len(known) > 1 else ():
                    values = {name: set(rows[key].map(str)) for name, rows in known}
                    if len(set().union(*values.values())) == sum(map(len, values.values())):
                        return f"{key}: " + ", ".join(
                            f"{plain(n)}={v.pop()}" for n, v in values.items()
                        )
    return ""


def starts(name, values):
    return any(value and name.startswith(value.removesuffix(" County")) for value in values)


def rows_at(part, on, data, place, tick):
    """Rows whose number is drawn within half a step of a tick."""
    at, values = (np.asarray(data[way], float) for way in (place, 1 - place))
    column, factor = on
    near = np.sort(values[np.abs(at - tick) < 0.5])
    return part.rows[among(factor * part.numbers[column], near)]


def panels(name, figure, tables, _):
    """A row for each panel."""
    parts = list(parts_of(tables))
    for i, axis in enumerate(axis for axis in figure.axes if axis.axison):
        upright = not named(axis.yaxis)
        found = [(label, x, y, source_of(x, y, parts, upright)) for label, x, y in series(axis)]
        # boxes of a few numbers are found in many columns by chance
        found = [f for f in found if f[-1] and (f[0] != "box" or len(np.unique(f[2])) > 2)]
        shown = [f"{plain(label)}: {in_words(source)}" for label, _, _, source in found]
        ticks = ticks_of(axis, [((x, y), source) for _, x, y, source in found])
        scales = axis.get_xscale(), axis.get_yscale()
        drawn = "; ".join(dict.fromkeys(shown))
        yield name, words(axis, i == 0), *scales, ticks, drawn


def test_captions_give_the_length_of_the_bars_that_the_figures_draw():
    """Bars of which `ends_of` finds the standard errors are three of them."""
    drawn = (
        pd.read_csv(KNOWN, dtype=str, keep_default_na=False)
        .groupby("figure")["drawn"]
        .agg(" ".join)
    )
    found = 0
    for name, words in drawn.items():
        said = re.findall(r"(\w+) standard errors", DESCRIPTIONS.caption_of("figures", name))
        if said and re.search(r"bar: \w*error\b", words):
            assert said == ["three"], name
            found += 1
    assert found > 4


def test_figures_show_their_tables_on_their_scales(jobs, replay, tmp_path):
    figures = list(drawn(jobs, replay))
    assert [name for name, figure, *_ in figures if alike(figure)] == []
    for check in (alike_in_grey, illegible):
        assert [(name, bad) for name, each, *_ in figures if (bad := list(check(each)))] == []
    assert [(each[0], wrong) for each in figures if (wrong := list(misnamed(*each[1:])))] == []
    columns = ["figure", "words", "x_scale", "y_scale", "ticks", "drawn"]
    found = pd.DataFrame((row for each in figures for row in panels(*each)), columns=columns)
    assert found["figure"].nunique() > 30
    made = tmp_path / KNOWN.name
    found.to_csv(made, index=False, lineterminator="\n")
    lines, known = made.read_text().splitlines(), KNOWN.read_text().splitlines()
    changed = sorted(set(lines) ^ set(known), key=lambda line: line.split(",")[0])
    advice = f"If all of these changes are meant: cp {made} {KNOWN}"
    assert lines == known, "\n".join([*changed, advice])
