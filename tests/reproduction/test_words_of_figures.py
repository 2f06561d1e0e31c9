"""Titles, labels, legends and scales of all figures, from one description, against the data drawn.

`figures.csv` has a row for each panel: its words, its scales, and the rows and columns of a table
that its named lines show. Numbers, which may follow from random draws, are left out of all words
but labels of axes. Words that are changed on purpose are changed there too.
"""

import re

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from tests import ROOT
from tests.reproduction.replay import FORMATS

COLUMNS = ["figure", "above", "title", "x", "x_scale", "y", "y_scale", "legend", "lines"]
DESCRIBED = pd.read_csv(
    ROOT / "tests/reproduction/figures.csv", dtype=str, keep_default_na=False, na_values=[]
)


def plain(words):
    return re.sub(r"-?\d[\d,.]*(e-?\d+)?", "#", " ".join(words.split()))


def drawn(jobs, replay):
    """The figures of one job of each rule that draws, with the tables that the job reads."""
    papers = {job.given.rule: job for job in jobs if "cube" not in job.name}
    for rule, job in papers.items():
        if rule.startswith("plot_"):
            figures = {name: made for name, made in replay(job).items() if isinstance(made, Figure)}
            files = [file for each in job.inputs.values() for file in each]
            tables = [FORMATS[".csv"][0](replay.folder / f) for f in files if f.endswith(".csv")]
            for name, figure in figures.items():
                (svg,) = job.outputs[name]
                yield svg.rpartition("/")[2].removesuffix(".svg"), figure, tables


def panels(name, figure, tables):
    """The words and the scales of each panel, and what its named lines show."""
    for axis in figure.axes:
        if axis.axison:
            legend = axis.get_legend()
            shown = [plain(text.get_text()) for text in legend.get_texts()] if legend else []
            lines = {
                plain(label): source
                for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
                if (source := source_of(handle, tables))
            }
            yield [
                *(name, plain(figure.get_suptitle()), plain(axis.get_title(loc="left"))),
                *(" ".join(axis.get_xlabel().split()), axis.get_xscale()),
                *(" ".join(axis.get_ylabel().split()), axis.get_yscale()),
                "; ".join(dict.fromkeys(shown)),
                "; ".join(f"{label}: {source}" for label, source in lines.items()),
            ]


def source_of(handle, tables):
    """The column, and the one value of another column, whose rows have the numbers of a line."""
    line = handle.lines[0] if hasattr(handle, "lines") else handle
    if not hasattr(line, "get_ydata") or len(line.get_ydata()) < 2:
        return None
    sides = line.get_xdata(), line.get_ydata()
    for table in tables:
        numbers = table.select_dtypes("number")
        for key in table.columns.difference(numbers.columns):
            for value, part in numbers.groupby(table[key]):
                columns = part, part.select_dtypes("float")
                places = list(map(place_of, sides, columns))
                if places[1]:
                    return f"{places[1]} by {places[0]} where {key} is {value}"
    return None


def place_of(side, part):
    side = np.asarray(side)
    if side.dtype.kind not in "fi":
        return None
    side = side[np.isfinite(side)]
    for column in part:
        for factor in (1, 100):
            values = factor * part[column].dropna().to_numpy(float)
            near = len(values) and np.isclose(side[:, None], values).any(axis=1).all()
            if near and len(side) > 1 and np.ptp(side) > 0:
                return column if factor == 1 else f"100 {column}"
    return None


def described(jobs, replay):
    rows = [row for each in drawn(jobs, replay) for row in panels(*each)]
    return pd.DataFrame(rows, columns=COLUMNS)


def test_words_and_scales_are_those_described(jobs, replay):
    found = described(jobs, replay)
    assert found["figure"].nunique() > 30
    for name, panels in found.groupby("figure", sort=False):
        known = DESCRIBED[DESCRIBED["figure"] == name]
        assert panels.to_numpy().tolist() == known.to_numpy().tolist()
    assert set(DESCRIBED["figure"]) == set(found["figure"])
