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
from tests.artists import inside

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
    listed = select_error_points(errors, shares)
    figure = figures.plot_errors(listed, CHOSEN)
    assert inside(figure)
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert [name for name in names if name] == list(SYSTEMS)
    headers = [text.get_text() for text in figure.axes[0].texts]
    assert [header.split(", ")[-1] for header in headers[:2]] == [
        "epsilon 0.5 for one person",
        "rho 1.2 for one person",
    ]
    for axis, query in zip(figure.axes, figures.ERROR_COLUMNS, strict=True):
        for system, points in points_of(axis).items():
            part = listed[(listed["system"] == system) & (listed["query"] == query)]
            part = part[part["budget"] == CHOSEN[SYSTEMS[system][0]]]
            assert points[:, 0].tolist() == part["value"].tolist()
            assert set(points[:, 1]) <= {names.index(system)}
            (bars,) = next(c for c in axis.containers if c.get_label() == system).lines[2]
            wide = [np.ptp(ends[:, 0]) for ends in bars.get_segments()]
            assert wide == pytest.approx((6 * part["error"]).tolist())
    exact = [text for text in figure.axes[1].texts if text.get_text() == "exact"]
    assert [text.get_position()[1] for text in exact] == [names.index("permutation swapping")]


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
