import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isdp import InputError, Invariants
from isdp.lattice.elimination import solve_for, unit_cells
from reproduction.data.table_p12 import sex_by_age_invariants


def test_the_papers_cells_follow_from_the_others():
    offset, matrix = solve_for(sex_by_age_invariants(), [0, 0, 0], [0, 22, 45])
    assert offset.tolist() == [0, 0, 0]
    assert set(np.unique(matrix)) <= {-1, 0, 1}


@given(st.integers(2, 4), st.integers(2, 4), st.integers(0, 10**6))
def test_found_cells_solve_every_table(rows, columns, seed):
    margins = Invariants.margins((rows, columns))
    solved = unit_cells(margins)
    assert len(solved) == rows + columns - 1
    rng = np.random.default_rng(seed)
    table = rng.integers(-50, 50, rows * columns)
    offset, matrix = solve_for(margins, margins.apply(table), solved)
    free = np.setdiff1d(np.arange(table.size), solved)
    assert (offset + matrix @ table[free] == table[solved]).all()


def test_dependent_rows_do_no_harm_but_must_agree():
    twice = Invariants.subsets([[0, 1, 2], [0, 1, 2], [2]], 3)
    assert unit_cells(twice).tolist() == [0, 2]
    assert solve_for(twice, [6, 6, 1], [0, 2])[0].tolist() == [5, 1]
    with pytest.raises(InputError, match="their totals disagree"):
        solve_for(twice, [6, 7, 1], [0, 2])


@pytest.mark.parametrize(
    ("solved", "words"),
    [
        ([0, 1], "columns have rank 1, but the equalities have rank 2"),
        ([0], "1 solved cells"),
        ([0, 0], "must be different cells from 0 to 3"),
        ([0, 9], "must be different cells from 0 to 3"),
    ],
)
def test_cells_that_do_not_follow_are_refused(solved, words):
    with pytest.raises(InputError, match=words):
        solve_for(Invariants.subsets([[0, 1, 2, 3], [2, 3]], 4), [0, 0], solved)


def test_fractions_are_refused_with_their_denominator():
    halves = Invariants(np.array([[2, 1, 1]]))
    with pytest.raises(InputError, match="cell 0 would be solved in fractions, with denominator 2"):
        solve_for(halves, [0], [0])
    assert unit_cells(halves).tolist() == [1]


def test_no_unit_is_refused_with_the_row():
    with pytest.raises(InputError, match="'even' has no cell"):
        unit_cells(Invariants(np.array([[2, 4, 2]]), ["even"]))


def test_totals_of_nothing():
    none = Invariants(np.zeros((1, 2), np.int64))
    assert solve_for(none, [0], [])[1].shape == (0, 2)
    with pytest.raises(InputError, match="over no cell"):
        solve_for(none, [3], [])
