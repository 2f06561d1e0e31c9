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
    made = pd.DataFrame(rows, columns=names).assign(rmse=held, rmse_error=number / 100)
    return made.sample(frac=1, random_state=2)


def test_each_mark_is_the_error_that_the_legend_and_the_ticks_name():
    errors, seen = table(), 0
    figure = error_by_query(errors, {group: words for group, (words, _) in UNITS.items()}, "title")
    zero = 0.5 * errors["rmse"][errors["rmse"] > 0].min()
    queries = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    for axis, ((flavour, _), (words, parameter)) in zip(figure.axes, UNITS.items(), strict=True):
        assert axis.get_title(loc="left") == words
        legend = axis.get_legend()
        names = [text.get_text() for text in legend.get_texts()]
        entries = list(zip(names, legend.legend_handles, strict=True))
        part = errors[errors["flavour"] == flavour]
        systems = {mark.get_color(): name for name, mark in entries if name in set(part["system"])}
        budgets = {mark.get_marker(): name for name, mark in entries if parameter in name}
        assert (len(systems), len(budgets)) == (2, 3)
        for line, _, (bars,) in (container.lines for container in axis.containers):
            rows = part[part["system"] == systems[line.get_color()]]
            label = [format_budget(*each) for each in rows[["parameter", "budget"]].to_numpy()]
            rows = rows[np.array(label) == budgets[line.get_marker()]]
            words = rows["query"] + (" of " + rows["size"]).replace(" of all", "")
            for x, y, ends in zip(*line.get_data(), bars.get_segments(), strict=True):
                (row,) = rows[words == queries[round(y)]].to_dict("records")
                assert x == (row["rmse"] or zero)
                assert np.ptp(ends[:, 0]) / 2 == pytest.approx(row["rmse_error"])
                seen += 1
    assert seen == len(errors)
