import numpy as np
import pandas as pd
import pytest

from reproduction.counties.projection import (
    CHOICES,
    project_state,
    projected_box_table,
    summary_rows,
)

COUNTIES = pd.DataFrame(
    {"fips": ["1", "2", "3", "4"], "county": list("abcd"), "population": [5, 6, 7, 8]}
)


@pytest.fixture(scope="module")
def projected():
    return project_state(np.random.default_rng(1), 4, 0.2, 120, 100)


def test_highs_agrees_with_the_closed_form_in_every_simulation_it_solves(projected):
    noise, solved = projected
    assert set(noise) == set(CHOICES)
    assert solved["checked"] == 100
    assert solved["linear_equal"] == solved["integer_equal"] == solved["linear_optimal"] == 100
    assert all((each.sum(axis=1) == 0).all() and len(each) == 120 for each in noise.values())


def test_the_vertex_changes_the_picture(projected):
    noise, solved = projected
    summary = summary_rows("XX", noise, noise["even"][None], solved).set_index("choice")
    assert summary.loc["solver", "sd_max"] > 1.3 * summary.loc["even", "sd_max"]
    assert summary.loc["even", "overlap"] == pytest.approx(1)
    assert summary.loc["even", "box_overlap_min"] == 1
    assert 0 < summary.loc["solver", "overlap"] < 1


def test_the_boxes_are_of_all_laws_and_counties(projected):
    noise, _ = projected
    table = projected_box_table(COUNTIES, noise, noise["even"][None])
    assert set(table["law"]) == {"generalized", *CHOICES}
    assert (table.groupby("law")["rank"].nunique() == 4).all()
    assert table.loc[table["rank"] == 3, "county"].unique().tolist() == ["c"]
