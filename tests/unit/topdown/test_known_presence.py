"""Kinds of people that regions are known to have: kept at every level, whatever the noise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isdp import InputError
from isdp.constraints.hierarchy import Hierarchy
from isdp.topdown import Budget, Plan, Schema, run
from isdp.topdown.budget import workload
from isdp.topdown.known_presence import KnownPresence, measured_group_totals, split_group_totals

SCHEMA = Schema(("quarters", "sex", "adult"), (4, 2, 2))
LEVELS = ("all", "state", "county", "tract")
QUERIES = {"total": "1/4", "quarters": "1/8", "sex*quarters": "1/8", "detail": "1/2"}


def make(seed, loss=0.05, absent=True, **options):
    rng = np.random.default_rng(seed)
    names = [(s, c, t) for s in range(3) for c in range(3) for t in range(rng.integers(1, 4))]
    hierarchy = Hierarchy.from_columns(
        {
            "state": [f"{s}" for s, _, _ in names],
            "county": [f"{s}.{c}" for s, c, _ in names],
            "tract": [f"{s}.{c}.{t}" for s, c, t in names],
        },
        root="all",
    )
    there = rng.random((len(names), 4)) < 0.5
    there[np.arange(len(names)), rng.integers(0, 4, len(names))] = True
    people = rng.poisson(6, (len(names), 4, 4)) * there[:, :, None]
    people[:, :, 0] += there
    counts = people.reshape(len(names), 16)
    least = (there & (rng.random(there.shape) < 0.7)).astype(int)
    known = KnownPresence(("quarters",), least, there if absent else np.ones_like(there))
    budget = Budget("pure", loss, dict.fromkeys(LEVELS, "1/4"), dict.fromkeys(LEVELS, QUERIES))
    return rng, counts, hierarchy, Plan(SCHEMA, budget, known=known, **options)


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([(), ("state",), ("county",), ("tract",)]),
    st.booleans(),
)
def test_what_is_known_holds_at_every_level_with_the_totals(seed, held, absent):
    rng, counts, hierarchy, plan = make(seed, absent=absent, held=held)
    tables = run(rng, counts, hierarchy, plan).tables
    tract = tables["tract"]
    for level, wanted in zip(LEVELS, hierarchy.aggregate(tract), strict=True):
        assert (tables[level] == wanted).all()
    kinds = tract.reshape(-1, 4, 4).sum(axis=2)
    assert (kinds >= plan.known.min_counts).all()
    assert not kinds[~plan.known.allowed].any()
    assert tract.sum() == counts.sum()
    true = hierarchy.aggregate(counts)
    for level in held:
        depth = LEVELS.index(level)
        assert (tables[level].sum(axis=1) == true[depth].sum(axis=1)).all()


def test_little_noise_gives_the_truth_back():
    rng, counts, hierarchy, plan = make(1, loss=4000, held=("county",))
    assert (run(rng, counts, hierarchy, plan).tables["tract"] == counts).all()


def test_kinds_along_two_axes_in_any_order():
    known = KnownPresence(("adult", "quarters"), np.zeros((1, 8), int), np.ones((1, 8), bool))
    kind = known.group_of_cells(SCHEMA).reshape(4, 2, 2)
    assert (kind[3, :, 1] == 1 * 4 + 3).all()
    assert (kind[2, :, 0] == 2).all()


def test_a_table_without_what_is_known_or_with_what_is_absent_is_refused():
    known = KnownPresence(("quarters",), np.array([[1, 0, 0, 0]]), np.array([[True] * 3 + [False]]))
    table = np.eye(1, 16, dtype=np.int64)
    known.check(table, SCHEMA)
    for cell, count in ((0, 0), (15, 1)):
        wrong = table.copy()
        wrong[0, cell] = count
        with pytest.raises(InputError, match="presence"):
            known.check(wrong, SCHEMA)


def test_estimates_of_kinds_are_unbiased_and_the_total_moves_all_alike():
    rng = np.random.default_rng(3)
    budget = Budget("pure", 1, {"a": 1}, {"a": QUERIES})
    counts = rng.integers(0, 50, (5, 16))
    exact = (workload(SCHEMA, budget, "a").rows @ counts.T).T
    for axes, shape in ((("quarters",), (4,)), (("sex", "quarters"), (2, 4))):
        size = int(np.prod(shape))
        known = KnownPresence(axes, np.zeros((5, size), int), np.ones((5, size), bool))
        cube = counts.reshape(5, 4, 2, 2).sum(axis=3)
        true = cube.sum(axis=2) if size == 4 else cube.transpose(0, 2, 1).reshape(5, -1)
        found, _ = measured_group_totals(known, SCHEMA, budget, "a", exact)
        np.testing.assert_allclose(found, true, atol=1e-9)
        moved = exact.copy()
        moved[:, 0] += 100
        shift = measured_group_totals(known, SCHEMA, budget, "a", moved)[0] - found
        np.testing.assert_allclose(shift, shift[0, 0])
        assert 0 < shift[0].sum() < 100


def test_the_estimate_of_kinds_is_the_best_linear_one():
    budget = Budget("pure", 1, {"a": 1}, {"a": QUERIES})
    work = workload(SCHEMA, budget, "a")
    known = KnownPresence(("quarters",), np.zeros((1, 4), int), np.ones((1, 4), bool))
    answers = np.random.default_rng(2).integers(0, 99, (1, work.rows.shape[0]))
    found, _ = measured_group_totals(known, SCHEMA, budget, "a", answers)
    # each query that keeps the kinds as so many measurements of them, and the total
    rows, values, weights, first = [], [], [], 0
    for query in budget.measured_queries("a"):
        size = SCHEMA.answers(query)
        part = answers[0, first : first + size]
        first += size
        variance = budget.variance("a", query)
        if query == "total":
            rows.append(np.ones((1, 4)))
            values.append(part)
            weights.append([1 / variance])
            continue
        margin = work.rows[first - size : first].toarray().reshape(size, 4, 4).sum(axis=2) > 0
        rows.append(np.eye(4))
        values.append(margin.T.astype(float) @ part)
        weights.append(np.full(4, 4 / (size * variance)))
    rows, values, weights = np.vstack(rows), np.concatenate(values), np.concatenate(weights)
    wanted = np.linalg.solve(rows.T @ (weights[:, None] * rows), rows.T @ (weights * values))
    np.testing.assert_allclose(found[0], wanted)


def test_a_kind_goes_to_regions_that_may_have_it():
    rng = np.random.default_rng(1)
    least = np.array([[1, 0], [2, 0], [0, 0]])
    allowed = np.array([[True, False], [True, True], [True, False]])
    for _ in range(20):
        noisy = rng.normal(0, 30, (3, 2))
        found = split_group_totals(rng, noisy, least, allowed, np.array([9, 7]))
        assert found.sum(axis=0).tolist() == [9, 7]
        assert (found >= least).all()
        assert found[:, 1].tolist() == [0, 7, 0]


def test_what_does_not_fit_is_refused():
    rng, counts, hierarchy, plan = make(1)
    with pytest.raises(InputError, match="negative"):
        Plan(SCHEMA, plan.budget, known=plan.known, nonnegative=False)
    with pytest.raises(InputError, match="structural zeros"):
        Plan(SCHEMA, plan.budget, known=plan.known, structural_zeros=(0, 1, 2, 3))
    with pytest.raises(InputError, match="axes"):
        Plan(
            SCHEMA,
            plan.budget,
            known=KnownPresence(("sex",), plan.known.min_counts, plan.known.allowed),
        )
    with pytest.raises(InputError, match="shape"):
        KnownPresence(("sex",), np.zeros((2, 2), int), np.ones((3, 2), bool))
    with pytest.raises(InputError, match="minimum"):
        KnownPresence(("sex",), np.ones((2, 2), int), np.zeros((2, 2), bool))
    row, kind = np.argwhere(plan.known.min_counts > 0)[0]
    counts[row, 4 * kind : 4 * kind + 4] = 0
    with pytest.raises(InputError, match=f"row {row} .*group {kind}"):
        run(rng, counts, hierarchy, plan)
