"""TopDown on sparse tables: the same law as on full ones, all sums kept."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isdp import InputError
from isdp.constraints.hierarchy import Hierarchy
from isdp.topdown import Budget, Plan, Schema
from reproduction.national.sparse_descent import run_sparse

SCHEMA = Schema(("race", "sex"), (6, 2))
LEVELS = ("root", "state", "county", "block")


def make_plan(loss=1.0, queries=None, **options):
    queries = queries or {"total": "1/4", "race": "1/4", "detail": "1/2"}
    levels = dict.fromkeys(LEVELS, "1/4")
    budget = Budget("pure", loss, levels, dict.fromkeys(LEVELS, queries))
    return Plan(SCHEMA, budget, **options)


def make_table(seed, states=3, counties=4, blocks=6):
    rng = np.random.default_rng(seed)
    names = [(s, c, b) for s in range(states) for c in range(counties) for b in range(blocks)]
    columns = {
        "state": [f"{s}" for s, _, _ in names],
        "county": [f"{s}.{c}" for s, c, _ in names],
        "block": [f"{s}.{c}.{b}" for s, c, b in names],
    }
    size = (len(names), SCHEMA.cells)
    counts = rng.poisson(20, size) * (rng.random(size) < 0.15) * (rng.random((size[0], 1)) < 0.7)
    return counts, Hierarchy.from_columns(columns)


@pytest.mark.parametrize(
    "options",
    [
        {"held": ("state",)},
        {"held": ("state",), "passes": "isolate_total"},
        {"passes": "isolate_total", "one_pass_at": ("block",)},
    ],
)
def test_every_level_adds_up_and_what_is_held_stays(options):
    counts, hierarchy = make_table(1)
    plan = make_plan(**options)
    released = run_sparse(np.random.default_rng(2), csr_array(counts), hierarchy, plan)
    assert tuple(released) == LEVELS
    sums = hierarchy.aggregate(released["block"].toarray())
    for level, wanted in zip(LEVELS, sums, strict=True):
        assert (released[level].toarray() == wanted).all()
    true = hierarchy.aggregate(counts)
    assert released["root"].sum() == counts.sum()
    held = (released["state"].sum(axis=1) == true[1].sum(axis=1)).all()
    assert held == ("held" in options)
    assert (released["block"].toarray() != counts).any()


def test_without_noise_it_gives_the_truth_back():
    counts, hierarchy = make_table(3)

    def none(rng, flavour, losses, numbers):
        return np.zeros(sum(numbers), dtype=np.int64)

    for passes in ("one", "isolate_total"):
        plan = make_plan(passes=passes)
        rng = np.random.default_rng(1)
        released = run_sparse(rng, csr_array(counts), hierarchy, plan, none)
        assert (released["block"].toarray() == counts).all()


def test_noise_is_drawn_only_for_answers_that_count_a_cell_of_the_parent():
    counts, hierarchy = make_table(3)
    counts[:6, 4:8] = 0
    drawn = []

    def noise(rng, flavour, losses, numbers):
        drawn.append(numbers)
        return np.zeros(sum(numbers), dtype=np.int64)

    run_sparse(np.random.default_rng(1), csr_array(counts), hierarchy, make_plan(), noise)
    county = hierarchy.aggregate(counts)[2][0].reshape(SCHEMA.shape)
    races = np.count_nonzero(county.sum(axis=1))
    blocks = next(each for each in drawn if each[0] == 6)  # the first county's six blocks
    assert blocks == [6, 6 * races, 6 * np.count_nonzero(county)]
    assert races < SCHEMA.shape[0]


def test_a_county_with_one_block_and_a_state_of_nobody():
    counts, hierarchy = make_table(7, states=2, counties=2, blocks=1)
    counts[2:] = 0
    counts[0, 0] = 10**9
    plan = make_plan(held=("state",))
    released = run_sparse(np.random.default_rng(8), csr_array(counts), hierarchy, plan)
    assert (released["county"].toarray() == released["block"].toarray()).all()
    assert released["state"].toarray()[1].sum() == 0


def test_structural_zeros_stay_zero_and_people_in_them_are_refused():
    counts, hierarchy = make_table(9)
    counts[:, 3] = 0
    plan = make_plan(structural_zeros=(3,))
    released = run_sparse(np.random.default_rng(8), csr_array(counts), hierarchy, plan)
    assert not released["block"].toarray()[:, 3].any()
    counts[0, 3] = 1
    with pytest.raises(InputError, match="structural zero"):
        run_sparse(np.random.default_rng(8), csr_array(counts), hierarchy, plan)


def test_a_state_at_a_time_comes_out_as_all_states_do_together():
    counts, hierarchy = make_table(11)
    plan = make_plan(held=("state",), passes="isolate_total", one_pass_at=("block",))
    together = run_sparse(np.random.default_rng(12), csr_array(counts), hierarchy, plan)
    names = hierarchy.units[1]
    state_of = hierarchy.leaf_units[1]
    upper = Hierarchy.from_columns({"state": names})
    sums = csr_array(hierarchy.aggregate(counts)[1])
    states = run_sparse(np.random.default_rng(12), sums, upper, plan)["state"]
    assert (states != together["state"]).nnz == 0
    for number, name in enumerate(names):
        rows = np.flatnonzero(state_of == number)
        county = [hierarchy.units[2][each] for each in hierarchy.leaf_units[2][rows]]
        block = [hierarchy.units[3][each] for each in rows]
        columns = {"state": [name] * len(rows), "county": county, "block": block}
        part, one = Hierarchy.from_columns(columns), states[[number]]
        rng = np.random.default_rng(12)
        alone = run_sparse(rng, csr_array(counts[rows]), part, plan, above=[one, one])
        assert (alone["block"] != together["block"][rows]).nnz == 0
