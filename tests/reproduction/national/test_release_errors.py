import numpy as np
import pandas as pd
import pytest

from reproduction.comparison.experiment import measure_queries
from reproduction.comparison.settings import FAMILIES
from reproduction.comparison.systems import list_systems
from reproduction.data.histogram import Histogram
from reproduction.national.release_errors import NATION, list_releases, pool_states, run_batch
from reproduction.national.settings import list_states, split_batches
from reproduction.topdown.experiment import keep_states
from tests import ROOT

STATES = ["DE", "RI", "VT"]
SETTINGS = {"epsilons": [1, 0.5], "rhos": [0.1], "rates": [0.1]}


TWO = ["DE", "VT"]  # small and not so small, for which not all samplers are the same


def in_batches(histogram, family, size):
    every = list_releases(family, TWO, SETTINGS)
    parts = [run_batch(5, histogram, family, batch) for batch in split_batches(every, size)]
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_tables_do_not_depend_on_the_batches(small, family):
    histogram = keep_states(small, TWO)
    # batches of three cut between and within the releases of one budget
    every, three = in_batches(histogram, family, 1000), in_batches(histogram, family, 3)
    pd.testing.assert_frame_equal(every, three)
    assert set(every["state"]) == set(TWO)
    assert set(every["system"]) == {system.name for system in list_systems()[family]}


def test_every_state_has_every_budget_of_every_system_once():
    pure = {"integer noise", "projected Laplace noise", "K-norm noise"}
    found = list_releases("noise", STATES, SETTINGS)
    assert len(found) == len(set(found)) == 3 * (3 * 2 + 2)
    assert {name for name, budget, _ in found if budget == 0.5} == pure
    assert list_releases("swapping", STATES, SETTINGS) == [
        ("permutation swapping", 0.1, state) for state in STATES
    ]


def test_topdown_is_run_on_all_states_together(small):
    assert {place for _, _, place in list_releases("topdown", STATES, SETTINGS)} == {NATION}
    found = run_batch(5, small, "topdown", [("TopDown, production", 0.1, NATION)])
    total = found[(found["query"] == "total") & (found["size"] == "all")].set_index("state")
    assert list(total.index) == STATES
    assert (total["rmse"] > 0).all()
    # each state's total is held, so that its counties' errors cancel
    assert total["bias"].to_numpy() == pytest.approx(0)


def test_every_release_has_noise_of_its_own(small):
    """States with equal counts and nearly equal budgets, so that only the streams differ."""
    one = keep_states(small, ["VT"])
    counties = pd.concat([one.counties, one.counties.assign(state="XX")], ignore_index=True)
    twice = Histogram(counties, np.vstack([one.counts, one.counts]))
    budgets = (1.0, np.nextafter(1.0, 2))
    every = [("projected Laplace noise", b, state) for b in budgets for state in ("VT", "XX")]
    found = run_batch(5, twice, "noise", every).query("query == 'detail' and size == 'all'")
    assert found["rmse"].nunique() == len(every)


def test_pooled_errors_are_those_of_all_counties_together():
    rng = np.random.default_rng(1)
    true = rng.integers(0, 300, (9, 252))
    released = true + rng.integers(-9, 9, true.shape)
    labels = {"system": "integer noise", "parameter": "epsilon", "budget": 1.0}
    parts = [
        measure_queries(released[rows], true[rows]).assign(**labels, state=state)
        for state, rows in (("B", slice(0, 2)), ("A", slice(2, 9)))
    ]
    pooled = pool_states(pd.concat(parts, ignore_index=True))
    assert not any(isinstance(kind, pd.CategoricalDtype) for kind in pooled.dtypes)
    pooled = pooled.set_index(["query", "size"])
    wanted = measure_queries(released, true).set_index(["query", "size"])
    assert set(pooled.index) < set(wanted.index)
    columns = ["answers", "bias", "mae", "rmse", "negative"]
    for key, row in pooled.iterrows():
        assert row[columns].astype(float).tolist() == pytest.approx(
            wanted.loc[key, columns].astype(float).tolist()
        )
    cells = pooled.loc["detail"]
    assert list(cells.index[:4]) == ["all", "0", "1", "2"]
    assert cells["states"].iloc[0] == 2


def test_states_are_all_or_some_in_the_order_of_the_counts():
    published = ROOT / "data/census2010_county_population.csv"
    every = list_states({"states": "all"}, published)
    assert len(every) == 52
    assert {"DC", "PR"} < set(every)
    assert list_states({"states": ["VT", "DE"]}, published) == ["DE", "VT"]
