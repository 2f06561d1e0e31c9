"""What figures show is what the tables say."""

import numpy as np
import pandas as pd
import pytest

from reproduction.comparison import figures
from reproduction.comparison.experiment import BUREAU, POPULATIONS, SWAPPED
from tests.artists import inside

SYSTEMS = {
    "integer noise": ("epsilon", [0.5, 2.0]),
    "TopDown, production": ("rho", [0.1, 1.2]),
    BUREAU: ("rho", [1.2]),
    "permutation swapping": ("rate", [0.05]),
}
CHOSEN = {"epsilon": 0.5, "rho": 1.2, "rate": 0.05}
SIZES = ["all", "0", "1", "over 1000"]


def tables():
    rng = np.random.default_rng(2)
    errors, shares = [], []
    for system, (parameter, budgets) in SYSTEMS.items():
        for budget in budgets:
            head = {"system": system, "parameter": parameter, "budget": budget, "scope": SWAPPED}
            for query in ("detail", "total"):
                for size in SIZES:
                    values = dict(zip(["bias", "rmse"], rng.uniform(0.5, 9, 2), strict=True))
                    if system == "permutation swapping" and query == "total":
                        values = {"bias": 0.0, "rmse": 0.0}
                    more = {"bias_error": 0.1, "rmse_error": 0.2}
                    errors.append(head | {"query": query, "size": size} | values | more)
            for size in ["all", *POPULATIONS]:
                row = {"share": "Hispanic", "size": size, "mae": rng.uniform(0.1, 3)}
                shares.append(head | row)
    return pd.DataFrame(errors), pd.DataFrame(shares)


def points_of(axis):
    """Marked points of every line by its label, gaps left out."""
    found = {}
    for line in axis.get_lines():
        if not line.get_label().startswith("_"):
            x, y = line.get_data()
            found[line.get_label()] = np.column_stack([x, y])
    for container in axis.containers:
        line = container.lines[0]
        found[container.get_label()] = np.column_stack(line.get_data())
    return found


def test_errors_are_drawn_where_the_table_has_them():
    errors, shares = tables()
    figure = figures.errors(errors, shares, SWAPPED)
    listed = figures.error_points(errors, shares, SWAPPED)
    axes = np.array(figure.axes).reshape(3, 3)
    drawn = 0
    for row, query in enumerate(figures.ROWS):
        for column, parameter in enumerate(figures.PANELS):
            for label, points in points_of(axes[row, column]).items():
                system, _, theorem = label.partition(", by ")
                if theorem:  # a pure system where its epsilon puts it as zCDP
                    assert parameter == "rho"
                    part = listed[(listed["system"] == system) & (listed["query"] == query)]
                    converted = np.column_stack([part["budget"] ** 2 / 2, part["value"]])
                    assert points == pytest.approx(converted)
                    continue
                part = listed[(listed["system"] == system) & (listed["query"] == query)]
                assert set(part["parameter"]) == {parameter}
                assert points == pytest.approx(part[["budget", "value"]].to_numpy())
                drawn += len(points)
    assert drawn == len(listed) == 6 * 3 - 1  # the swap has no error in totals
    remarks = {place: [text.get_text() for text in axes[place].texts] for place in np.ndindex(3, 3)}
    assert remarks.pop((1, 2)) == ["held: no error"]
    assert not any(remarks.values())


def test_bias_is_drawn_where_the_table_has_it():
    errors, _ = tables()
    figure = figures.bias(errors, CHOSEN, SWAPPED)
    listed = figures.bias_points(errors, CHOSEN, SWAPPED)
    assert len(listed) == 4 * 3
    assert [axis.get_yscale() for axis in figure.axes] == ["symlog", "log"]
    for axis, column in zip(figure.axes, ("bias", "rmse"), strict=True):
        points = points_of(axis)
        assert len(points) == 4
        for label, drawn in points.items():
            part = listed[[label.startswith(name) for name in listed["system"]]]
            assert drawn[:, 1] == pytest.approx(part[column].to_numpy())
            assert np.abs(drawn[:, 0] - np.arange(3)).max() < 0.5


def test_shares_are_drawn_where_the_table_has_them():
    _, shares = tables()
    figure = figures.shares(shares, CHOSEN, SWAPPED)
    listed = figures.share_points(shares, CHOSEN, SWAPPED)
    (axis,) = figure.axes
    assert inside(figure)
    points = points_of(axis)
    assert len(points) == 4
    for label, drawn in points.items():
        part = listed[[label.startswith(name) for name in listed["system"]]]
        assert drawn[:, 1] == pytest.approx(part["mae"].to_numpy())
