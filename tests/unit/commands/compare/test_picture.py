"""The picture of a comparison: each mark is the error that the legend and the ticks name."""

import itertools

import numpy as np
import pandas as pd
import pytest

from isdp.commands.compare.picture import error_by_query
from isdp.commands.compare.report import format_budget

UNITS = {("pure", "person"): ("pure privacy", "epsilon"), ("zCDP", "person"): ("zCDP", "rho")}


def table():
    rows = [
        (system, *group, words[1], budget, query, size)
        for group, words in UNITS.items()
        for system, budget in itertools.product([f"{group[0]} 1", f"{group[0]} 2"], [1.0, 2.0, 4.0])
        for query, size in [("cells", "all"), ("cells", "1 to 9"), ("sex", "all"), ("age", "all")]
    ]
    names = ["system", "flavour", "unit", "parameter", "budget", "query", "size"]
    number = np.arange(1.0, len(rows) + 1)
    held = np.where(number % 13 == 0, 0, number)
    return pd.DataFrame(rows, columns=names).assign(rmse=held, rmse_error=number / 100)


def test_each_mark_is_the_error_that_the_legend_and_the_ticks_name():
    errors, seen = table(), 0
    figure = error_by_query(errors, {group: words for group, (words, _) in UNITS.items()}, "title")
    zero = 0.5 * errors["rmse"][errors["rmse"] > 0].min()
    queries = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    for axis, ((flavour, _), (words, _)) in zip(figure.axes, UNITS.items(), strict=True):
        assert axis.get_title(loc="left") == words
        legend = axis.get_legend()
        names = [text.get_text() for text in legend.get_texts()]
        looks = [(each.get_color(), each.get_marker()) for each in legend.legend_handles]
        part = errors[errors["flavour"] == flavour]
        known = len(part["system"].unique())
        systems = {colour: names[i] for i, (colour, _) in enumerate(looks[:known])}
        budgets = {marker: names[known + i] for i, (_, marker) in enumerate(looks[known:])}
        for line, _, (bars,) in (container.lines for container in axis.containers):
            rows = part[part["system"] == systems[line.get_color()]]
            label = [format_budget(*each) for each in rows[["parameter", "budget"]].to_numpy()]
            rows = rows[np.array(label) == budgets[line.get_marker()]]
            for x, y, ends in zip(*line.get_data(), bars.get_segments(), strict=True):
                row = rows.iloc[round(y)]
                assert queries[round(y)].startswith(row["query"])
                assert x == (row["rmse"] or zero)
                assert np.ptp(ends[:, 0]) / 2 == pytest.approx(row["rmse_error"])
                seen += 1
    assert seen == len(errors)
