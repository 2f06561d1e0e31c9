import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isdp import InputError
from isdp.constraints.hierarchy import Hierarchy
from isdp.topdown import Budget, Plan, Schema, draw_noise_for_release, run

SCHEMA = Schema(("race", "sex"), (3, 2))
LEVELS = ("nation", "state", "county")
SEVERAL = {"total": "1/4", "race": "1/4", "detail": "1/2"}
IDENTITY = {"detail": 1}


def budget(total, queries, flavour="pure"):
    return Budget(flavour, total, dict.fromkeys(LEVELS, "1/3"), dict.fromkeys(LEVELS, queries))


def make_tree(states=3, counties=4):
    names = [(f"s{i}", f"c{i}.{j}") for i in range(states) for j in range(counties)]
    return Hierarchy.from_columns(
        {"state": [n[0] for n in names], "county": [n[1] for n in names]}, root="nation"
    )


def make_table(seed, rows=12, size=40):
    rng = np.random.default_rng(seed)
    return rng.integers(0, size, (rows, 6)) * (rng.random((rows, 6)) < 0.4)


PLANS = {
    "identity": Plan(SCHEMA, budget(1, IDENTITY)),
    "held": Plan(SCHEMA, budget(1, IDENTITY), held=("state",)),
    "all held": Plan(SCHEMA, budget(1, SEVERAL), held=("county",)),
    "several": Plan(SCHEMA, budget(0.5, SEVERAL, "zCDP"), held=("state",)),
    "isolated": Plan(SCHEMA, budget(1, SEVERAL), passes="isolate_total"),
    "free": Plan(SCHEMA, budget(1, SEVERAL), held=("state",), nonnegative=False),
    "free, isolated": Plan(SCHEMA, budget(1, SEVERAL), nonnegative=False, passes="isolate_total"),
}


def check_release(release, truth, plan, tree):
    tables = [release.tables[level] for level in LEVELS]
    for depth, table in enumerate(tables):
        assert table.dtype == np.int64
        assert table.shape == truth[depth].shape
        assert not plan.nonnegative or table.min() >= 0
        if depth:
            above = np.zeros_like(tables[depth - 1])
            np.add.at(above, tree.parents[depth], table)
            assert (above == tables[depth - 1]).all()
    for level in ("nation", *plan.held):
        depth = LEVELS.index(level)
        assert (tables[depth].sum(axis=1) == truth[depth].sum(axis=1)).all()


@pytest.mark.parametrize("name", PLANS)
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_every_level_adds_up_and_what_is_held_stays(name, seed):
    tree, plan, table = make_tree(counties=2), PLANS[name], make_table(seed, rows=6)
    release = run(np.random.default_rng(seed), table, tree, plan)
    check_release(release, tree.aggregate(table), plan, tree)
    for node in release.nodes:
        assert node["off_whole"] == 0
        assert node["cells"] + node["dropped"] == 6


@pytest.mark.parametrize("name", PLANS)
def test_without_noise_the_truth_comes_back(name):
    tree, table = make_tree(), make_table(5)
    silent = run(
        np.random.default_rng(0),
        table,
        tree,
        PLANS[name],
        noise=lambda rng, flavour, losses, counts: np.zeros(sum(counts), dtype=np.int64),
    )
    for ours, truth in zip(silent.tables.values(), tree.aggregate(table), strict=True):
        assert (ours == truth).all()


def test_a_county_is_the_same_whatever_happens_in_another_state():
    """Streams by region: another state's noise never shifts this one's measurements."""
    table, plan = make_table(9), PLANS["identity"]
    columns = {
        "state": ["s1"] * 4 + ["s2"] * 4,
        "county": [f"c{i}.{j}" for i in (1, 2) for j in range(4)],
    }
    part = Hierarchy.from_columns(columns, root="nation")
    whole = run(np.random.default_rng(4), table, make_tree(), plan).measurements
    alone = run(np.random.default_rng(4), table[4:], part, plan).measurements
    assert (whole["state"][1:] == alone["state"]).all()
    assert (whole["county"][4:] == alone["county"]).all()
    noise = alone["state"] - part.aggregate(table[4:])[1]
    assert (noise[0] != noise[1]).any()


def test_equal_seeds_give_equal_tables_and_others_do_not():
    tree, table = make_tree(), make_table(2)

    def counties(seed):
        return run(np.random.default_rng(seed), table, tree, PLANS["several"]).tables["county"]

    assert (counties(1) == counties(1)).all()
    assert (counties(1) != counties(2)).any()


def test_zero_at_the_parent_stays_zero_unless_negatives_are_allowed():
    tree, table = make_tree(), make_table(3, size=3)
    kept = run(np.random.default_rng(3), table, tree, PLANS["identity"])
    zero = kept.tables["nation"][0] == 0
    assert zero.any()
    assert not kept.tables["county"][:, zero].any()
    assert any(node["dropped"] for node in kept.nodes)
    free = run(np.random.default_rng(3), table, tree, PLANS["free"])
    assert (free.tables["county"] < 0).any()
    assert not any(node["dropped"] for node in free.nodes)


def test_a_single_child_is_its_parent():
    tree = make_tree(states=2, counties=1)
    release = run(np.random.default_rng(1), make_table(1, rows=2), tree, PLANS["identity"])
    assert (release.tables["state"] == release.tables["county"]).all()


@pytest.mark.parametrize("name", PLANS)
def test_no_one_and_a_thousand_million_people_pass(name):
    tree, plan, table = make_tree(), PLANS[name], make_table(6)
    table[:4] = 0
    check_release(
        run(np.random.default_rng(1), table, tree, plan), tree.aggregate(table), plan, tree
    )
    table[5, 2] = table[8, 1] = 10**9
    exact = run(np.random.default_rng(1), table, tree, plan, noise=draw_noise_for_release)
    check_release(exact, tree.aggregate(table), plan, tree)
    empty = np.zeros_like(table)
    release = run(np.random.default_rng(1), empty, tree, plan)
    check_release(release, tree.aggregate(empty), plan, tree)
    assert not release.tables["nation"].sum()


def test_structural_zeros_stay_empty_everywhere_and_must_be_empty():
    tree, table = make_tree(), make_table(7)
    table[:, [1, 4]] = 0
    for name in ("several", "free"):
        plan = dataclasses.replace(PLANS[name], structural_zeros=(1, 4))
        release = run(np.random.default_rng(1), table, tree, plan)
        check_release(release, tree.aggregate(table), plan, tree)
        assert not any(counts[:, [1, 4]].any() for counts in release.tables.values())
    table[5, 4] = 1
    with pytest.raises(InputError, match="cell 4 is a structural zero"):
        run(np.random.default_rng(1), table, tree, plan)
    with pytest.raises(InputError, match="6"):
        dataclasses.replace(plan, structural_zeros=(6,))


def test_the_measurements_are_the_truth_plus_the_noise():
    tree, table, plan = make_tree(), make_table(7), PLANS["several"]
    release = run(
        np.random.default_rng(1), table, tree, plan, noise=lambda *_: np.arange(10, dtype=np.int64)
    )
    for level, truth in zip(LEVELS, tree.aggregate(table), strict=True):
        answers = release.measurements[level] - np.arange(10)
        assert (answers[:, 0] == truth.sum(axis=1)).all()
        assert (answers[:, 1:4] == truth.reshape(-1, 3, 2).sum(axis=2)).all()
        assert (answers[:, 4:] == truth).all()


def test_holding_a_level_holds_those_above():
    plan = Plan(SCHEMA, budget(0.1, IDENTITY), held=("county",))
    tree, table = make_tree(), make_table(8)
    release = run(np.random.default_rng(2), table, tree, plan)
    truth = tree.aggregate(table)
    assert (release.tables["state"].sum(axis=1) == truth[1].sum(axis=1)).all()
    assert "each state" in release.guarantee.held
    assert "each county" in release.guarantee.held


def test_what_does_not_fit_together_is_refused():
    tree, rng, plan = make_tree(), np.random.default_rng(0), PLANS["identity"]
    with pytest.raises(InputError, match="cells"):
        run(rng, np.ones((12, 5), dtype=int), tree, plan)
    with pytest.raises(InputError, match="tract"):
        run(rng, make_table(0), tree, dataclasses.replace(plan, held=("tract",)))
    with pytest.raises(InputError, match="isolate"):
        run(rng, make_table(0), tree, dataclasses.replace(plan, passes="isolate_total"))
    with pytest.raises(InputError, match="passes"):
        dataclasses.replace(plan, passes="two")
    with pytest.raises(InputError, match="root"):
        run(rng, np.ones((1, 6), dtype=int), Hierarchy.from_columns({"place": ["x"]}), plan)


def test_a_cell_more_or_less_at_the_parent_decides_no_other_cells_ties():
    tree, plan = make_tree(1, 6), PLANS["identity"]
    table = np.zeros((6, 6), dtype=int)
    table[:, 2:] = 3

    def released(first):
        changed, numbers = table.copy(), itertools.count()
        changed[0, 0] = first

        def noise(rng, flavour, losses, counts):
            """Nation and state are exact, and two counties four people too many a cell."""
            extra = 4 * (next(numbers) in (2, 4))
            return np.array([0, 0, extra, extra, extra, extra])

        return run(np.random.default_rng(5), changed, tree, plan, noise).tables["county"]

    without, with_one = released(0), released(1)
    assert (without[:, 2:] == with_one[:, 2:]).all()
    # eight people too many are taken from six counties: ties among the four that are alike
    assert all(len(set(column)) == 2 for column in without[[1, 3, 4, 5], 2:].T)
