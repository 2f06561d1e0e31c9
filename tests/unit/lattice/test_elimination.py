from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isdp import InputError, Invariants
from isdp.lattice.elimination import (
    pivot_columns,
    row_reduce,
    solve_determined,
    solve_for,
    unit_cells,
)
from reproduction.data.table_p12 import sex_by_age_invariants

SMALL = st.integers(1, 4).flatmap(
    lambda cells: st.lists(
        st.lists(st.integers(-6, 6), min_size=cells, max_size=cells), min_size=1, max_size=4
    )
)


def by_hand(matrix):
    """Reduced row echelon form in fractions, as in a textbook."""
    rows, pivots = [[Fraction(entry) for entry in row] for row in matrix], []
    for column in range(len(matrix[0])):
        done = len(pivots)
        found = next((i for i in range(done, len(rows)) if rows[i][column]), None)
        if found is None:
            continue
        rows[done], rows[found] = rows[found], rows[done]
        rows[done] = [entry / rows[done][column] for entry in rows[done]]
        for i, row in enumerate(rows):
            if i != done:
                rows[i] = [x - row[column] * y for x, y in zip(row, rows[done], strict=True)]
        pivots.append(column)
    return rows[: len(pivots)], pivots


@given(SMALL)
def test_elimination_is_that_of_the_textbook(matrix):
    rows, pivots, denominator = row_reduce(matrix)
    wanted, columns = by_hand(matrix)
    assert denominator > 0
    assert pivots.tolist() == pivot_columns(matrix).tolist() == columns
    assert (rows / Fraction(denominator)).tolist() == wanted


@given(SMALL, st.randoms(use_true_random=False))
def test_settled_cells_are_the_first_independent_ones_and_meet_the_equalities(matrix, random):
    order = random.sample(range(len(matrix[0])), len(matrix[0]))
    cells, free, weights, denominator = solve_determined(matrix, order)
    assert cells.tolist() == [
        order[i] for i in by_hand([[row[j] for j in order] for row in matrix])[1]
    ]
    assert free.tolist() == [cell for cell in order if cell not in cells]
    for one in np.eye(len(free), dtype=int):
        vector = np.zeros(len(order), dtype=object)
        vector[free] = one * denominator
        vector[cells] = weights @ one
        assert not (np.array(matrix) @ vector).any()


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
    with pytest.raises(InputError, match="totals"):
        solve_for(twice, [6, 7, 1], [0, 2])


@pytest.mark.parametrize(
    ("solved", "words"),
    [
        ([0, 1], "rank"),
        ([0], "1 solved cells"),
        ([0, 0], "solved cells"),
        ([0, 9], "solved cells"),
    ],
)
def test_cells_that_do_not_follow_are_refused(solved, words):
    with pytest.raises(InputError, match=words):
        solve_for(Invariants.subsets([[0, 1, 2, 3], [2, 3]], 4), [0, 0], solved)


def test_fractions_are_refused_with_their_denominator():
    halves = Invariants(np.array([[2, 1, 1]]))
    with pytest.raises(InputError, match=r"cell 0 .*denominator 2"):
        solve_for(halves, [0], [0])
    assert unit_cells(halves).tolist() == [1]


def test_a_solution_beyond_64_bits_is_refused():
    steep = Invariants([[1, 2**62, 0], [0, 1, 2**62]])
    with pytest.raises(InputError, match="64-bit"):
        solve_for(steep, [0, 0], [0, 1])


def test_totals_of_nothing():
    none = Invariants(np.zeros((1, 2), np.int64))
    assert solve_for(none, [0], [])[1].shape == (0, 2)
    with pytest.raises(InputError, match="totals"):
        solve_for(none, [3], [])
