import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from isdp import Invariants, Polytope
from isdp.constraints.contradictions import irreducible_conflict


def make(equal, totals, above, least):
    cells = np.shape(equal)[1]
    return Polytope(
        Invariants(equal, [f"equality {i}" for i in range(len(equal))]),
        np.array(totals, dtype=np.int64),
        Invariants(np.reshape(above, (-1, cells)), [f"bound {i}" for i in range(len(above))]),
        np.array(least, dtype=np.int64),
    )


def test_only_the_constraints_at_fault_are_named():
    contradictory = make(
        [[1, 1, 0], [0, 1, 1]], [3, 5], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [2, 2, 0]
    )
    assert irreducible_conflict(contradictory) == ["equality 0", "bound 0", "bound 1"]


def test_constraints_of_a_table_of_counts_are_named_without_their_sides():
    rows = Invariants.subsets([[0, 1], [0], [3]], 4, ["pair", "one", "apart"])
    contradictory = Polytope.nonnegative(rows, np.array([2, 5, 1]))
    # cell 0 is 5 and cells 0 and 1 add up to 2, so cell 1 would be negative
    assert irreducible_conflict(contradictory) == ["pair", "one", "cell 1 is not negative"]


def test_constraints_that_can_be_met_are_no_conflict():
    assert irreducible_conflict(make([[1, 1]], [3], [[1, 0]], [1])) == []


def test_fractions_that_meet_the_constraints_are_no_conflict():
    assert irreducible_conflict(make([[2, 2]], [3], [[1, 0], [0, 1]], [0, 0])) == []


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_dropping_any_one_constraint_makes_the_rest_possible(seed):
    rng = np.random.default_rng(seed)
    above = rng.integers(-2, 3, (8, 3))
    contradictory = make([[1, 1, 1]], [4], above, rng.integers(0, 5, 8))
    named = irreducible_conflict(contradictory)
    for drop in named:
        kept = [i for i in range(8) if f"bound {i}" in named and f"bound {i}" != drop]
        equal = [[1, 1, 1]] if "equality 0" in named and drop != "equality 0" else [[0, 0, 0]]
        total = [4] if equal[0][0] else [0]
        rest = make(equal, total, above[kept], contradictory.lower_bounds[kept])
        assert irreducible_conflict(rest) == []
