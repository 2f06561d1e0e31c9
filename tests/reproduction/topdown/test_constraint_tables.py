import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from isdp.seeds import stream
from reproduction.topdown.constraint_tables import (
    implied_tables,
    select_counties,
    workaround_tables,
)
from reproduction.topdown.dormitories import naive_table

SETTINGS = {
    "naive": {"epsilons": [1.0], "draws": 200},
    "cuts": {"regions": 10, "epsilons": [0.02], "runs": 1},
    "failsafe": {"epsilons": [0.05], "runs": 2},
}
COUNTIES = pd.DataFrame({"state": ["DE", "VT", "DE", "VT"], "name": ["a", "b", "c", "d"]})
PEOPLE = np.array([[3, 4, 0], [1, 1, 9], [2, 0, 5], [7, 2, 2]])


def test_all_states_are_kept():
    counties, people = select_counties(COUNTIES, PEOPLE, "all")
    assert_frame_equal(counties, COUNTIES)
    assert people.tolist() == PEOPLE.tolist()


@pytest.mark.parametrize(("states", "rows"), [(["VT"], [1, 3]), (["VT", "DE"], [0, 1, 2, 3])])
def test_counties_of_chosen_states_stay_in_their_order(states, rows):
    counties, people = select_counties(COUNTIES, PEOPLE, states)
    assert counties["name"].tolist() == COUNTIES["name"][rows].tolist()
    assert counties.index.tolist() == list(range(len(rows)))
    assert people.tolist() == PEOPLE[rows].tolist()


def test_each_table_has_its_own_stream():
    tables = implied_tables(3, COUNTIES, PEOPLE, SETTINGS)
    names = ["dormitories", "naive", "regions", "witness", "implied", "unimodular"]
    assert list(tables) == names
    wanted = naive_table(stream(3, "topdown", "naive"), **SETTINGS["naive"])
    assert_frame_equal(tables["naive"], wanted)
    assert tables["implied"]["state"].tolist() == ["DE", "VT"]


def test_workarounds_release_every_state_in_every_run():
    tables = workaround_tables(3, COUNTIES, PEOPLE, SETTINGS)
    assert list(tables) == ["cuts", "failsafe"]
    assert tables["failsafe"]["releases"].tolist() == [4, 4, 4]  # two states in two runs
