import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from isdp import Invariants
from isdp.testing import check_mean
from reproduction.data.histogram import read_group_quarters
from reproduction.data.published import read_published
from reproduction.topdown.implied_constraints import (
    DORMITORIES,
    IMPOSSIBLE_TOTALS,
    WITNESS,
    build_presence,
    check_unimodularity,
    count_needed,
    simulate_naive_releases,
    tabulate_group_quarters,
    tabulate_regions,
)
from tests import ROOT
from tests.reproduction.topdown.students import share_beyond


@pytest.fixture(scope="module")
def quarters():
    published = read_published(ROOT / "data/census2010_county_population.csv")
    return read_group_quarters(ROOT / "data/census2010_group_quarters_county.csv", published)


def test_the_slides_refused_release_meets_the_obvious_constraints_only():
    released = np.array(IMPOSSIBLE_TOTALS)
    assert (released >= DORMITORIES.minimums.sum(axis=0)).all()
    assert released.sum() == DORMITORIES.totals.sum()
    assert DORMITORIES.violated_bound(released) == (2,)


@pytest.mark.parametrize("truth", [(99, 2, 99), (2, 100, 98)])
def test_naive_releases_fail_near_a_bound_as_often_as_by_enumeration(truth):
    share = share_beyond(truth, 1.0, 25)
    found = simulate_naive_releases(np.random.default_rng(3), truth, 1.0, 20_000)
    check_mean(found, share, np.sqrt(share * (1 - share) / 20_000))


@pytest.mark.parametrize("truth", [(50, 100, 50), (10, 180, 10)])
def test_naive_releases_never_fail_far_from_a_bound(truth):
    # where the noise would have to reach 49 persons: a chance below 1e-15 a release
    assert simulate_naive_releases(np.random.default_rng(3), truth, 1.0, 20_000) == 0


def test_the_bounds_of_group_quarters_hold_for_the_true_counts(quarters):
    counties, people = quarters
    for places in counties.groupby("state").indices.values():
        presence = build_presence(people[places])
        true = people[places].sum(axis=0)
        assert presence.violated_bound(true[true > 0]) is None


def test_few_of_the_group_quarters_bounds_are_needed(quarters):
    table = tabulate_group_quarters(*quarters)
    assert len(table) == 52
    assert (table["subsets"] == 2 ** table["kinds"] - 1).all()
    assert (table["needed"] <= table["binding"]).all()
    assert (table["binding"] < table["subsets"]).all()
    assert table.loc[table["counties"] == 1, "needed"].tolist() == [0]  # DC
    assert (table["kinds"] <= 7).all()


def removed_one_by_one(presence):
    """Count the bounds that are left when each is removed that the others imply."""
    members, bounds = presence.subset_bounds()
    kept = list(range(len(bounds) - 1))
    for number in range(len(bounds) - 1):
        others = [each for each in kept if each != number]
        largest = linprog(
            -members[number].astype(float),
            A_ub=members[others] if others else None,
            b_ub=bounds[others] if others else None,
            A_eq=np.ones((1, presence.groups)),
            b_eq=[presence.totals.sum()],
            bounds=[(least, None) for least in presence.minimums.sum(axis=0)],
        )
        if -largest.fun <= bounds[number] + 1e-6:
            kept = others
    return len(kept)


@pytest.mark.parametrize("state", ["CT", "DC", "DE", "MA", "ME", "MN", "NH", "VT"])
def test_needed_bounds_are_those_that_no_others_imply(quarters, state):
    counties, people = quarters
    presence = build_presence(people[(counties["state"] == state).to_numpy()])
    assert count_needed(presence) == removed_one_by_one(presence)


def test_the_total_of_types_that_only_some_counties_have_counts_once():
    apart = build_presence(np.array([[3, 4, 0, 0], [0, 0, 2, 5], [0, 0, 3, 0]]))
    # the sum of the first two types is 7, and the third has at least 3 + 1 persons
    assert count_needed(apart) == 2


def test_regions_a_and_b_reach_fewer_parents_than_their_margins_allow():
    table = tabulate_regions().set_index("region")
    assert table.loc["A", ["least", "most", "tables"]].tolist() == [1, 6, 6]
    assert table.loc["B", ["least", "most", "tables"]].tolist() == [0, 5, 6]
    parents = {a + b for a in range(1, 7) for b in range(6)}
    assert table.loc["parent, reached", "tables"] == len(parents) == 11
    assert table.loc["parent, own margins", "tables"] > len(parents)


def whole_tables(left):
    """Choose one cell of each line (i, j) so that lines (i, k) and (j, k) are met: enumeration."""
    lines = [
        (i, j, [k for k in range(6) if WITNESS[i][j][k] == "1"])
        for i, j in itertools.product(range(3), range(4))
    ]
    rows, columns = left

    def extend(number, rows, columns):
        if number == len(lines):
            return 1
        i, j, choices = lines[number]
        return sum(
            extend(number + 1, rows - {(i, k)}, columns - {(j, k)})
            for k in choices
            if (i, k) in rows and (j, k) in columns
        )

    return extend(0, rows, columns)


def test_halves_meet_margins_that_no_whole_table_has():
    halves = np.array([[list(map(int, line)) for line in layer] for layer in WITNESS]) / 2
    sums = Invariants.margins((3, 4, 6), ((0, 1), (0, 2), (1, 2))).matrix @ halves.ravel()
    assert set(sums.tolist()) == {0, 1}
    # every line (i, j) has exactly one person among its two cells
    assert (halves.sum(axis=2) == 1).all()
    rows = frozenset(map(tuple, np.argwhere(halves.sum(axis=1) == 1).tolist()))
    columns = frozenset(map(tuple, np.argwhere(halves.sum(axis=0) == 1).tolist()))
    assert whole_tables((rows, columns)) == 0


def test_the_table_of_unimodular_matrices_leaves_nothing_open():
    table = check_unimodularity(np.random.default_rng(1)).set_index("constraints")
    assert table["unimodular"].notna().all()
    assert table["whole_vertices"].notna().all()
    assert table.loc["sums cell by cell, totals of children", "unimodular"]
    assert abs(table.loc["all subsets of three kinds", "determinant"]) == 2
    assert table.loc["all two-way margins of 2 x 2 x 2", "unimodular"]
    assert not table.loc["all two-way margins of 2 x 2 x 3", "unimodular"]
    assert table.loc["all two-way margins of 2 x 2 x 3", "whole_vertices"]
    assert not table.loc["all two-way margins of 3 x 3 x 3", "whole_vertices"]
