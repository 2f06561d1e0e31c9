"""Tables of the study by subject, at sizes that take seconds."""

from pathlib import Path

import pandas as pd
import pytest

import reproduction.subspace
from reproduction.jobs.descriptions import read_descriptions
from reproduction.subspace.tables import (
    compare_errors,
    tabulate_campus,
    tabulate_equal_privacy,
    tabulate_guarantees,
)

DESCRIPTIONS = read_descriptions(
    [Path(reproduction.subspace.__file__).parent / "descriptions.yaml"]
)
SEED = 7
WORKLOADS = {
    "total": {"query": "histogram", "size": 4, "held": "total"},
    "square": {"query": "histogram", "size": [3, 3], "held": "margins"},
}
EPSILON, DELTA = 0.5, 1e-5
CONSTANT = {"epsilons": [0.5, 1], "deltas": [1e-3, 1e-14]}
LOSSES = {"cells": [2, 3], "epsilons": [0, 0.5], "draws": 200}
EQUAL = {"counties": 5, "table": [2, 3], "table_epsilon": 1.0, "draws": 200, "walk_steps": 200}
CAMPUS = {
    "buildings": 2,
    "groups": 3,
    "hours": 4,
    "repetitions": 5,
    "experiments": 3,
    "exact_experiments": 20,
    "integer_repetitions": 4,
}


@pytest.fixture(scope="module")
def errors():
    return compare_errors(SEED, WORKLOADS, EPSILON, DELTA, 100)


@pytest.fixture(scope="module")
def guarantees():
    return tabulate_guarantees(SEED, WORKLOADS, EPSILON, CONSTANT, LOSSES)


@pytest.fixture(scope="module")
def equal():
    return tabulate_equal_privacy(SEED, EPSILON, DELTA, EQUAL)


@pytest.fixture(scope="module")
def campus():
    return tabulate_campus(SEED, CAMPUS)


def test_comparisons_are_of_the_errors_in_the_table(errors):
    table = errors["errors"].set_index(["workload", "mechanism"])
    row = errors["formulas"].set_index(["workload", "mechanism"])
    pd.testing.assert_series_equal(row["z"], table["z"].loc[row.index])
    factor = errors["frameworks"].set_index("workload")["gaussian"]
    wanted = table["error"]["square", "extended Gaussian"]
    assert factor["square"] == pytest.approx(
        wanted / table["error"]["square", "projected Gaussian"]
    )


def test_guarantees_follow_the_settings(guarantees):
    assert guarantees["attained"]["cells"].unique().tolist() == [2, 3]
    # the loss approaches epsilon from below as the release moves away from the truth
    share = guarantees["attained"].groupby("cells")["share"].max()
    assert share.between(0.999, 1 + 1e-9).all()
    assert len(guarantees["constant"]) == 4
    assert guarantees["losses"]["loss"].max() == pytest.approx(EPSILON)


def test_the_results_of_the_campus_follow_from_the_seed(campus):
    again = tabulate_campus(SEED, CAMPUS)
    for name in campus:
        pd.testing.assert_frame_equal(campus[name], again[name])
    assert campus["campus_integer"]["tables"].item() == 2 * 4
