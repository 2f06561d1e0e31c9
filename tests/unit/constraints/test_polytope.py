import numpy as np
import pytest

from isdp import InputError, Invariants
from isdp.constraints.polytope import Polytope

SUMS = Invariants.subsets([[0, 1, 2, 3], [0, 1]], 4, ["all", "first two"])
COUNTS = np.array([3, 0, 5, 2])


def test_a_table_lies_in_its_own_polytope_and_noise_around_it():
    polytope = Polytope.of_counts(SUMS, COUNTS)
    assert polytope.contains(COUNTS)
    tables = np.array([[2, 1, 5, 2], [3, 0, 6, 1], [4, -1, 5, 2], [3, 1, 5, 1]])
    assert polytope.contains(tables).tolist() == [True, True, False, False]
    noise = polytope.around(COUNTS)
    assert noise.contains(tables - COUNTS).tolist() == [True, True, False, False]
    assert noise.slack(np.zeros(4, np.int64)).tolist() == COUNTS.tolist()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([4, -1, 5, 2], "cell 1 is not negative"),
        ([3, 1, 5, 1], "first two"),
    ],
)
def test_the_first_broken_condition_is_named(table, words):
    with pytest.raises(InputError, match=words):
        Polytope.of_counts(SUMS, COUNTS).check(np.array([COUNTS, table]))


def test_a_feasible_table_is_found_and_checked():
    polytope = Polytope.nonnegative(SUMS, np.array([10, 7]))
    assert polytope.contains(polytope.feasible_table())


def test_contradicting_conditions_are_a_certificate():
    """The prices of the conditions named must prove that nothing can meet them."""
    rows = Invariants.subsets([[0, 1], [0], [3]], 4, ["pair", "one", "apart"])
    polytope = Polytope.nonnegative(rows, np.array([2, 5, 1]))
    conflict = polytope.contradiction()
    # cell 0 is 5 and cells 0 and 1 add up to 2, so cell 1 would be negative; "apart" is innocent
    assert conflict == ["pair (= 2)", "one (= 5)", "cell 1 is not negative (>= 0)"]
    with pytest.raises(InputError, match="pair"):
        polytope.feasible_table()


def test_no_contradiction_where_there_is_a_table():
    assert Polytope.of_counts(SUMS, COUNTS).contradiction() == []


def test_fractions_that_no_whole_number_meets_are_told_apart():
    doubled = Invariants(np.array([[2, 2, 0, 0]]), ["twice the pair"])
    polytope = Polytope.nonnegative(doubled, np.array([3]))
    with pytest.raises(InputError, match="whole numbers"):
        polytope.feasible_table()


@pytest.mark.parametrize(
    ("totals", "least", "words"),
    [
        (np.array([1]), np.zeros(4, np.int64), "totals"),
        (np.array([1.0, 2.0]), np.zeros(4, np.int64), "totals"),
        (np.array([1, 2]), np.array([0, 0, 0, 2**62]), "least"),
    ],
)
def test_parts_that_do_not_fit_are_refused(totals, least, words):
    walls = Polytope.of_counts(SUMS, COUNTS).inequalities
    with pytest.raises(InputError, match=words):
        Polytope(SUMS, totals, walls, least)


def test_other_cells_are_refused():
    with pytest.raises(InputError, match="cells"):
        Polytope(SUMS, np.zeros(2, np.int64), Invariants.total(3), np.zeros(1, np.int64))
