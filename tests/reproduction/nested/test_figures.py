"""Labels and markers of the figures, compared with the data that they show."""

import re

import numpy as np
import pandas as pd
import pytest

from reproduction.jobs.descriptions import read_descriptions
from reproduction.nested import figures
from reproduction.nested.systems import SYSTEMS
from reproduction.nested.tables import SHOWN_QUERIES
from tests import ROOT

DESCRIPTIONS = read_descriptions([ROOT / "src/reproduction/nested/descriptions.yaml"])
UNBIASED = ("integer Gaussian noise", "nested noise", "crossing noise")


def words_of(text):
    return set(re.findall(r"[a-z]{4,}", text.lower()))


def table(rows, columns):
    """Rows of each system with made-up numbers."""
    found = pd.DataFrame([(system, *row) for system in SYSTEMS for row in rows])
    found.columns = ["system", *columns[: len(found.columns) - 1]]
    missing = [name for name in columns if name not in found]
    numbers = np.random.default_rng(1).uniform(1, 9, (len(found), len(missing)))
    return found.join(pd.DataFrame(numbers, columns=missing))


DRAWN = {
    "frontier": (figures.plot_frontier, [()], [["cell"], ["total"]]),
    "errors": (figures.plot_errors, [(query,) for query in SHOWN_QUERIES], [["query"], ["rmse"]]),
    "sizes": (figures.plot_sizes, [("0",), ("1",)], [["size"], ["mean", "rmse"]]),
}


@pytest.mark.parametrize("name", DRAWN)
def test_labels_are_those_of_the_columns_and_hollow_markers_have_no_negative_counts(name):
    plot, rows, sides = DRAWN[name]
    points = table(
        rows,
        ["query" if name == "errors" else "size"] * (name != "frontier")
        + ["share", "cell", "total", "mean", "rmse", "mean_error", "rmse_error"],
    )
    points = points.assign(mean=points["mean"] / 10)
    if name == "frontier":
        curve = points.head(1).assign(system=figures.CURVE)
        points = pd.concat([curve, points], ignore_index=True)
    figure = plot(points)
    meanings = DESCRIPTIONS.columns_of("figures", f"nested_{name}", {*sides[0], *sides[1]})
    xlabels = [figure.axes[-1].get_xlabel()]
    for labels, columns in ((xlabels, sides[0]), ([a.get_ylabel() for a in figure.axes], sides[1])):
        for label, column in zip(labels, columns, strict=True):
            fit = {c: len(words_of(label) & words_of(meanings[c])) for c in meanings}
            assert not label or fit[column] == max(fit.values()), (label, column)
    for axis in figure.axes:
        lines = [c.lines[0] for c in axis.containers] or axis.get_lines()[1:]
        names = [c.get_label() for c in axis.containers] or [each.get_label() for each in lines]
        hollow = {n for n, each in zip(names, lines, strict=True) if each.get_mfc() == "white"}
        assert hollow == {*SYSTEMS} - {*UNBIASED}
