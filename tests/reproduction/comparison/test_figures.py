"""What figures show is what the tables say."""

import numpy as np
import pandas as pd
import pytest

from reproduction.comparison import figures
from reproduction.comparison.experiment import (
    DEMONSTRATION_SYSTEM,
    POPULATION_CLASSES,
    SWAPPED_STATES,
)
from reproduction.comparison.tables import select_error_points

SYSTEMS = {
    "integer noise": ("epsilon", [0.5, 2.0]),
    "TopDown, production": ("rho", [0.1, 1.2]),
    DEMONSTRATION_SYSTEM: ("rho", [1.2]),
    "permutation swapping": ("rate", [0.05]),
}
CHOSEN = {"epsilon": 0.5, "rho": 1.2, "rate": 0.05}
SIZES = ["all", "0", "1", "over 1000"]


def tables():
    rng = np.random.default_rng(2)
    errors, shares = [], []
    for system, (parameter, budgets) in SYSTEMS.items():
        for budget in budgets:
            head = {
                "system": system,
                "parameter": parameter,
                "budget": budget,
                "scope": SWAPPED_STATES,
            }
            for query in ("detail", "total"):
                for size in SIZES:
                    values = dict(zip(["bias", "rmse"], rng.uniform(0.5, 9, 2), strict=True))
                    if system == "permutation swapping" and query == "total":
                        values = {"bias": 0.0, "rmse": 0.0}
                    more = {"bias_error": 0.1, "rmse_error": 0.2}
                    errors.append(head | {"query": query, "size": size} | values | more)
            for size in ["all", *POPULATION_CLASSES]:
                row = {"share": "Hispanic", "size": size, "mae": rng.uniform(0.1, 3)}
                shares.append(head | row | {"mae_error": 0.05})
    return pd.DataFrame(errors), pd.DataFrame(shares)


def points_of(axis):
    """Marked points of every line by its label, gaps left out."""
    found = {}
    for line in axis.get_lines():
        if not line.get_label().startswith("_"):  # those of error bars have no name of their own
            x, y = line.get_data()
            found[line.get_label()] = np.column_stack([x, y])
    for container in axis.containers:
        line = container.lines[0]
        found[container.get_label()] = np.column_stack(line.get_data())
    return found


def test_errors_are_drawn_where_the_table_has_them():
    errors, shares = tables()
    figure = figures.plot_errors(select_error_points(errors, shares))
    listed = select_error_points(errors, shares)
    axes = np.array(figure.axes).reshape(3, 3)
    drawn = converted = 0
    for row, query in enumerate(figures.ERROR_ROWS):
        for column, parameter in enumerate(figures.PANELS):
            for label, points in points_of(axes[row, column]).items():
                system, _, theorem = label.partition(", by ")
                if theorem:  # a pure system where its epsilon puts it as zCDP
                    assert parameter == "rho"
                    part = listed[(listed["system"] == system) & (listed["query"] == query)]
                    wanted = np.column_stack([part["budget"] ** 2 / 2, part["value"]])
                    assert points == pytest.approx(wanted)
                    converted += len(points)
                    continue
                part = listed[(listed["system"] == system) & (listed["query"] == query)]
                assert set(part["parameter"]) == {parameter}
                assert points[:, 1] == pytest.approx(part["value"].to_numpy())
                # aside by less than what tells budgets apart
                assert points[:, 0] == pytest.approx(part["budget"].to_numpy(), rel=0.15)
                drawn += len(points)
    assert drawn == len(listed) == 6 * 3 - 1  # the swap has no error in totals
    assert converted == 2 * 3
    remarks = {place: [text.get_text() for text in axes[place].texts] for place in np.ndindex(3, 3)}
    assert remarks.pop((1, 2)) == ["invariant: no error"]
    assert not any(remarks.values())


@pytest.mark.parametrize("plot", [figures.plot_bias, figures.plot_shares])
def test_classes_are_in_order_whatever_the_order_of_the_rows(plot):
    errors, shares = tables()
    points = shares if plot is figures.plot_shares else errors[errors["query"] == "detail"]
    points = points[points["budget"] == points["parameter"].map(CHOSEN)]
    first = points[points["system"] == points["system"].iloc[0]]
    mixed = pd.concat([first, points.drop(first.index).sample(frac=1, random_state=1)])
    one, other = ([points_of(axis) for axis in plot(rows).axes] for rows in (points, mixed))
    for ours, theirs in zip(one, other, strict=True):
        assert {name: each.tolist() for name, each in ours.items()} == {
            name: each.tolist() for name, each in theirs.items()
        }
