import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, vstack

from isdp.constraints.hierarchy import Hierarchy
from isdp.streams import stream
from reproduction.data.histogram import CELLS
from reproduction.national.sparse_descent import run_sparse
from reproduction.national.synthetic_blocks import allocate_blocks, draw_state
from reproduction.national.topdown_to_blocks import (
    check_sums,
    descend,
    release_states,
    sum_level_errors,
    tabulate_levels,
)
from reproduction.topdown.configurations import six_level_plan

BLOCKS = 1_200  # the fewest, in hundreds, with which a county has tracts and a tract groups


def test_synthetic_blocks_hold_the_people_of_their_counties():
    counts = np.array([[500, 0, 3, 40], [0, 9, 0, 1]])
    table, hierarchy = draw_state(1, "VT", (["a", "b"], counts), [400, 60])
    assert hierarchy.levels == ("nation", "state", "county", "tract", "block group", "block")
    assert hierarchy.units[1] == ("VT",)
    assert table.shape == (460, 4)
    assert (hierarchy.aggregate(table.toarray())[2] == counts).all()
    assert [len(units) for units in hierarchy.units] == [1, 1, 2, 4, 10, 460]
    assert (table.sum(axis=1) == 0).mean() > 0.3


def test_blocks_are_shared_by_people_and_evenly_with_a_group_for_each():
    """Three in five by population, and the others in equal parts."""
    assert allocate_blocks([100, 300], 2000).tolist() == [300 + 400, 900 + 400]
    assert allocate_blocks([0, 10**6], 200).tolist() == [57, 160]


def test_a_level_that_does_not_add_up_is_noticed():
    counts = np.array([[500, 0, 3, 40]])
    table, hierarchy = draw_state(1, "VT", (["a"], counts), [120])
    levels = hierarchy.aggregate(table.toarray())
    released = {name: csr_array(each) for name, each in zip(hierarchy.levels, levels, strict=True)}
    check_sums(released, table, hierarchy)
    moved = levels[3].copy()
    moved[0, 0] += 1
    with pytest.raises(AssertionError, match="tract: counts do not sum"):
        check_sums(released | {"tract": csr_array(moved)}, table, hierarchy)
    with pytest.raises(AssertionError, match="number of persons"):
        check_sums(released | {"block": csr_array(0 * levels[5])}, table, hierarchy)
    swapped = levels[5].copy()
    swapped[0, 0] -= 600
    swapped[1, 0] += 600
    with pytest.raises(AssertionError, match="negative"):
        check_sums(released | {"block": csr_array(swapped)}, table, hierarchy)


def test_errors_of_a_level_are_sums_over_its_regions():
    hierarchy = Hierarchy.from_columns({"state": ["a", "b"]}, root="nation")
    true = np.array([[5, 0, 2], [1, 1, 0]])
    got = np.array([[5, 1, 0], [0, 1, 1]])
    found = sum_level_errors({"state": csr_array(got)}, csr_array(true), hierarchy).iloc[0]
    assert found.to_dict() == {
        "level": "state",
        "regions": 2,
        "cells": 6,
        "not_zero": 4,
        "released_not_zero": 4,
        "people_off": 1,
        "people_off_squared": 1,
        "cells_off": 5,
        "cells_off_squared": 7,
    }
    table = tabulate_levels(pd.DataFrame([found, found]))
    assert table.loc[0, "regions"] == 4
    assert table.loc[0, "rmse_total"] == pytest.approx(np.sqrt(1 / 2))
    assert table.loc[0, "mae_cell"] == pytest.approx(5 / 6)


def test_jobs_of_a_state_each_make_the_run_of_all_states(small):
    """The oracle is one run over all states' blocks at once."""
    counties = small.counties
    numbers = allocate_blocks(counties["population"], BLOCKS)
    parts, columns = [], {}
    for state in ("DE", "RI", "VT"):
        here = np.flatnonzero(counties["state"] == state)
        given = counties["fips"].to_numpy()[here].tolist(), small.counts[here]
        table, tree = draw_state(5, state, given, numbers[here])
        parts.append(table)
        for depth, level in enumerate(tree.levels[1:], start=1):
            names = np.array(tree.units[depth])[tree.leaf_units[depth]]
            columns.setdefault(level, []).extend(names.tolist())
    whole = Hierarchy.from_columns(columns, root="nation")
    people = vstack(parts).tocsr()
    wanted = sum_level_errors(
        run_sparse(stream(5, "national", "six levels"), people, whole, six_level_plan()),
        people,
        whole,
    )

    released, errors = release_states(5, small).values()
    assert released[list(CELLS)].sum(axis=1).tolist() == [897934, 1052567, 625741]
    every = [descend(5, small, BLOCKS, released, states) for states in (["VT"], ["DE", "RI"])]
    found = tabulate_levels(pd.concat([errors, *every], ignore_index=True))
    pd.testing.assert_frame_equal(found, tabulate_levels(wanted))
    assert found["level"].tolist() == list(whole.levels)
    assert found["regions"].iloc[1] == 3
    # at each level more than a hundred cells hold more than a hundred people: with an error of a
    # standard deviation of 1 in each, all of them are right by chance once in 0.4^-100
    assert (found["rmse_cell"].iloc[1:] > 0).all()
