from collections import Counter
from statistics import median, pstdev

import numpy as np
import pandas as pd
import pytest

from isdp.testing import check_mean
from reproduction.counties.projection import (
    project_state,
    summarise_projection,
    tabulate_projected_boxes,
)

CHOICES = ("solver", "random", "even")
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


def test_where_no_noise_needs_a_correction_it_would_fall_on_the_first_county():
    noise, solved = project_state(np.random.default_rng(1), 4, 50.0, 20, 5)
    assert not noise["solver"].any()
    assert (solved["checked"], solved["cell"], solved["linear_optimal"]) == (5, 0, 5)


def test_the_vertex_changes_the_picture(projected):
    noise, solved = projected
    summary = summarise_projection("XX", noise, noise["even"][None], solved).set_index("choice")
    # one county takes the noise of the three others; or each keeps three quarters of its own, and
    # the rest, any number of quarters of a person, is rounded
    own = 2 * np.exp(-0.2) / np.expm1(-0.2) ** 2
    squares = {"solver": np.square(noise["solver"][:, solved["cell"]]), "even": noise["even"] ** 2}
    for choice, variance in (("solver", 3 * own), ("even", 3 / 4 * own + (1 - 1 / 16) / 6)):
        one_simulation = squares[choice].reshape(len(noise[choice]), -1).mean(axis=1)
        check_mean(one_simulation, variance)
        root = np.sqrt(np.square(noise[choice] - noise[choice].mean(axis=0)).mean(axis=0)).max()
        assert summary.loc[choice, "sd_max"] == pytest.approx(root)
    assert summary.loc["even", "overlap"] == pytest.approx(1)
    assert summary.loc["even", "box_overlap_min"] == 1
    assert 0 < summary.loc["solver", "overlap"] < 1


def test_the_boxes_are_of_all_laws_and_counties(projected):
    noise, _ = projected
    table = tabulate_projected_boxes(COUNTIES, noise, noise["even"][None])
    assert set(table["law"]) == {"generalized", *CHOICES}
    assert (table.groupby("law")["rank"].nunique() == 4).all()
    assert table.loc[table["rank"] == 3, "county"].unique().tolist() == ["c"]


PROJECTED = np.array(
    [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [-30, 10, 20, 30, 40], [30, -3, 0, 3, 9]], dtype=np.int64
).T
GENERALIZED = np.array(
    [[3, 4, 5, 6, 31], [1, 2, 3, 4, 30], [-31, 12, 22, 32, 42], [30, -3, 0, 3, 9]], dtype=np.int64
).T[None]


def test_a_choice_in_one_row_by_hand():
    solved = {"checked": 4, "linear_equal": 3, "integer_equal": 2, "linear_optimal": 1, "cell": 0}
    table = summarise_projection(
        "XX", {"even": PROJECTED, "none": PROJECTED + 100}, GENERALIZED, solved
    )
    row, other = table.iloc[0], table.iloc[1]
    assert (row["state"], row["choice"], row["counties"], row["simulations"]) == (
        "XX",
        "even",
        4,
        5,
    )
    assert [row[key] for key in list(solved)[:-1]] == [4, 3, 2, 1]
    assert "cell" not in table
    assert row["sum_violations"] == 4  # the first draw alone adds up to zero
    spread = [pstdev(county) for county in PROJECTED.T.tolist()]
    assert row["sd"] == pytest.approx(median(spread))
    assert row["sd_max"] == pytest.approx(max(spread))
    assert row["sd_generalized"] == pytest.approx(
        median(pstdev(county) for county in GENERALIZED[0].T.tolist())
    )
    assert row["beyond_30"] == 1 / 20
    assert row["beyond_30_generalized"] == 4 / 20
    # quartiles 1, 3 and 4, 6; 1, 3 and 2, 4; 10, 30 and 12, 32; the same
    shared = [0, 1 / 3, 18 / 22, 1]
    assert row["box_overlap_median"] == pytest.approx(median(shared))
    assert row["box_overlap_min"] == 0
    assert row["boxes_overlapping"] == 1 / 2
    one, two = Counter(PROJECTED.ravel().tolist()), Counter(GENERALIZED.ravel().tolist())
    assert row["overlap"] == pytest.approx((one & two).total() / 20)
    assert (other["boxes_overlapping"], other["overlap"], other["beyond_30"]) == (0, 0, 1)


def test_boxes_that_are_points_share_all_or_nothing():
    still = np.zeros((3, 2), dtype=np.int64)
    solved = {"checked": 0, "linear_equal": 0, "integer_equal": 0, "linear_optimal": 0}
    same = summarise_projection("XX", {"even": still}, still[None], solved).iloc[0]
    apart = summarise_projection("XX", {"even": still}, still[None] + 1, solved).iloc[0]
    assert (same["box_overlap_min"], same["boxes_overlapping"]) == (1, 1)
    assert (apart["box_overlap_median"], apart["boxes_overlapping"]) == (0, 0)


def test_the_box_table_holds_the_quartiles_of_each_law(projected):
    noise, _ = projected
    table = tabulate_projected_boxes(COUNTIES, noise, GENERALIZED)
    found = table.set_index(["law", "series", "rank"])["value"].sort_index()
    for law, draws in {"generalized": GENERALIZED[0], **noise}.items():
        for series, share in (("q1", 0.25), ("median", 0.5), ("q3", 0.75)):
            expected = np.quantile(draws, share, axis=0).tolist()
            assert found[law, series].tolist() == expected
