import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from isdp.streams import stream
from reproduction.topdown.implied_constraints import (
    derive_constraints,
    tabulate_group_quarters,
    tabulate_naive,
)

SETTINGS = {
    "naive": {"epsilons": [1.0], "draws": 200},
    "cuts": {"regions": 10, "epsilons": [0.02], "runs": 1},
    "failsafe": {"epsilons": [0.05], "runs": 2},
}
COUNTIES = pd.DataFrame({"state": ["DE", "VT", "DE", "VT"]})
PEOPLE = np.array([[3, 4, 0], [1, 1, 9], [2, 0, 5], [7, 2, 2]])


@pytest.mark.parametrize(("states", "found"), [("all", ["DE", "VT"]), (["VT"], ["VT"])])
def test_each_table_has_its_own_stream_and_chosen_states_alone(states, found):
    given = 3, COUNTIES, PEOPLE, SETTINGS | {"states": states}
    tables = derive_constraints("implied", *given) | derive_constraints("workarounds", *given)
    wanted = tabulate_naive(stream(3, "topdown", "naive"), **SETTINGS["naive"])
    assert_frame_equal(tables["naive"], wanted)
    kept = COUNTIES["state"].isin(found).to_numpy()
    own = tabulate_group_quarters(COUNTIES[kept].reset_index(drop=True), PEOPLE[kept])
    assert_frame_equal(tables["implied"], own)
    assert own["state"].tolist() == found
    # every state is released in both runs, and as often the dormitories
    assert tables["failsafe"]["releases"].tolist() == [2 * len(found)] * 3
