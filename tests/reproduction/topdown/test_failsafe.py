import numpy as np
import pytest

from isdp.constraints.presence import Presence
from reproduction.data.histogram import read_group_quarters
from reproduction.data.published import read_published
from reproduction.topdown.failsafe import (
    QUARTERS,
    STUDENTS_PEOPLE,
    compare_ways,
    failsafe_table,
    measure_kinds,
    minimal_schema,
    state_first,
)
from reproduction.topdown.implied import DORMITORIES
from tests import ROOT


@pytest.fixture(scope="module")
def quarters():
    published = read_published(ROOT / "data/census2010_county_population.csv")
    return read_group_quarters(ROOT / "data/census2010_group_quarters_county.csv", published)


def students(seed, epsilon):
    rng = np.random.default_rng(seed)
    state = np.zeros(2, dtype=np.int64)
    return rng, measure_kinds(rng, STUDENTS_PEOPLE, state, DORMITORIES, epsilon)


def test_the_failsafe_fires_on_dormitories_and_never_under_the_implied_constraints():
    fired = 0
    for seed in range(40):
        rng, measured = students(seed, 0.2)
        table, moved = state_first(rng, measured, 0, implied=False)
        fired += moved > 0
        again, never = state_first(rng, measured, 0, implied=True)
        assert never == 0
        for each in (table, again, minimal_schema(rng, measured)):
            assert each.sum(axis=1).tolist() == [100, 100]
            assert (each >= DORMITORIES.least).all()
            assert not each[~DORMITORIES.present].any()
    assert 5 < fired < 40


def test_the_failsafe_moves_the_state_to_the_sum_of_its_counties():
    for seed in range(20):
        rng, measured = students(seed, 0.2)
        table, moved = state_first(rng, measured, 0, implied=False)
        if moved:
            assert DORMITORIES.broken(table.sum(axis=0)) is None
            return
    raise AssertionError("it never fired")


def test_every_way_starts_from_the_same_measurements_and_the_failsafe_is_the_worst():
    copies = 200
    people = np.tile(STUDENTS_PEOPLE, (copies, 1))
    known = Presence(np.tile(DORMITORIES.totals, copies), np.tile(DORMITORIES.present, (copies, 1)))
    pairs = np.repeat(np.arange(copies), 2)
    row = compare_ways(np.random.default_rng(2), people, pairs, known, 0.1, 1)
    assert row["releases"] == copies
    assert row["fired"] > 100
    assert row["error_minimal"] < row["error_implied"] < row["error_failsafe"]
    assert row["moved"] > 0


def test_more_budget_less_failsafe_on_the_real_group_quarters(quarters):
    table = failsafe_table(np.random.default_rng(4), *quarters, [0.001, 0.05], 1)
    real = table[table["where"] == QUARTERS]
    assert (real["releases"] == 52).all()
    assert real["fired"].iloc[0] > real["fired"].iloc[1]
    assert (table["releases"] == 52).all()
