import numpy as np
import pytest

from isdp import InputError, Invariants
from isdp.constraints.polytope import Polytope

SUMS = Invariants.subsets([[0, 1, 2, 3], [0, 1]], 4, ["all", "first two"])
COUNTS = np.array([3, 0, 5, 2])


def test_a_feasible_table_is_found_and_checked():
    polytope = Polytope.nonnegative(SUMS, np.array([10, 7]))
    assert polytope.contains(polytope.feasible_table())


@pytest.mark.parametrize(
    ("rows", "totals"),
    [([[1, 1, 0, 0], [1, 0, 0, 0]], [2, 5]), ([[2, 2, 0, 0]], [3])],
)
def test_constraints_that_no_table_satisfies_are_refused(rows, totals):
    polytope = Polytope.nonnegative(Invariants(np.array(rows)), np.array(totals))
    with pytest.raises(InputError, match="polytope"):
        polytope.feasible_table()


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


def test_messages_quote_no_count():
    counts = np.array([3000, 0, 5000, 2000])
    with pytest.raises(InputError) as refused:
        Polytope.of_counts(SUMS, counts).check(2 * counts)
    assert not set("35789") & set(str(refused.value))


@pytest.mark.parametrize(
    ("totals", "lower_bounds", "words"),
    [
        (np.array([1]), np.zeros(4, np.int64), "totals"),
        (np.array([1.0, 2.0]), np.zeros(4, np.int64), "totals"),
        (np.array([1, 2]), np.array([0, 0, 0, 2**62]), "lower_bounds"),
    ],
)
def test_parts_that_do_not_fit_are_refused(totals, lower_bounds, words):
    walls = Polytope.of_counts(SUMS, COUNTS).inequalities
    with pytest.raises(InputError, match=words):
        Polytope(SUMS, totals, walls, lower_bounds)


def test_other_cells_are_refused():
    with pytest.raises(InputError, match="cells"):
        Polytope(SUMS, np.zeros(2, np.int64), Invariants.total(3), np.zeros(1, np.int64))
