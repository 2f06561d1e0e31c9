import numpy as np
import pytest

from isdp import InputError
from isdp.constraints.hierarchy import Hierarchy

COLUMNS = {"state": ["a", "b", "a", "b"], "county": ["1", "2", "3", "4"]}


def test_rows_are_joined_by_name_and_not_by_position():
    tree = Hierarchy.from_columns(COLUMNS, root="nation")
    assert tree.levels == ("nation", "state", "county")
    assert tree.units[1] == ("a", "b")
    assert [c.tolist() for c in tree.children(0)] == [[0, 1]]
    assert [c.tolist() for c in tree.children(1)] == [[0, 2], [1, 3]]


def test_every_level_is_an_exact_sum():
    table = np.array([[1, 2], [3, 4], [5, 6], [7, 8]])
    nation, state, county = Hierarchy.from_columns(COLUMNS).aggregate(table)
    assert nation.tolist() == [[16, 20]]
    assert state.tolist() == [[6, 8], [10, 12]]
    assert (county == table).all()


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({}, "column"),
        ({"root": ["a"]}, "root"),
        ({"state": ["a", "b"], "county": ["1"]}, "rows"),
        ({"state": ["a", ""], "county": ["1", "2"]}, "row 1"),
        ({"state": ["a", None], "county": ["1", "2"]}, "row 1"),
        ({"state": ["a", float("nan")], "county": ["1", "2"]}, "row 1"),
        ({"state": ["a", "b"], "county": ["1", "1"]}, "county"),
        ({"state": ["a", "a"], "county": ["1", "1"]}, "county"),
        ({"state": [], "county": []}, "rows"),
    ],
)
def test_columns_that_make_no_hierarchy_are_refused(columns, match):
    with pytest.raises(InputError, match=match):
        Hierarchy.from_columns(columns)


@pytest.mark.parametrize(
    ("table", "match"),
    [
        (np.ones((3, 2), dtype=int), "table"),
        (np.ones(4, dtype=int), "table"),
        (np.ones((4, 2)), "float64"),
        (np.array([[1, 1], [1, -1], [1, 1], [1, 1]]), "row 1, cell 1"),
        (np.full((4, 2), 2**62), "64-bit"),
    ],
)
def test_tables_that_are_no_counts_are_refused(table, match):
    with pytest.raises(InputError, match=match):
        Hierarchy.from_columns(COLUMNS).aggregate(table)


def test_an_unknown_level_is_named():
    with pytest.raises(InputError, match="tract"):
        Hierarchy.from_columns(COLUMNS).number("tract")
