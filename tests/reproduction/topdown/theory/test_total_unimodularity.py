from itertools import combinations

import numpy as np
import pytest
from flint import fmpz_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from isdp import Invariants
from reproduction.topdown.theory.total_unimodularity import (
    find_minor,
    totally_unimodular,
    two_laminar_families,
    whole_vertices,
)

TWO_WAY = [(0, 1), (0, 2), (1, 2)]


def ask(matrix, question=totally_unimodular):
    return question(np.random.default_rng(1), np.asarray(matrix))


def largest_minor(matrix):
    """Determinants of all square parts, one by one."""
    rows, columns = matrix.shape
    return max(
        abs(int(fmpz_mat(matrix[np.ix_(r, c)].tolist()).det()))
        for size in range(1, min(rows, columns) + 1)
        for r in combinations(range(rows), size)
        for c in combinations(range(columns), size)
    )


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_the_answer_is_that_of_all_minors(seed, rows, columns, signed):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-1 if signed else 0, 2, (rows, columns))
    verdict = ask(matrix)
    assert verdict.unimodular == (largest_minor(matrix) <= 1)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_two_laminar_families_are_never_claimed_of_another_matrix(seed):
    matrix = np.random.default_rng(seed).integers(0, 2, (5, 5))
    if two_laminar_families(matrix):
        assert largest_minor(matrix) <= 1


@pytest.mark.parametrize(
    "matrix",
    [
        np.ones((1, 6), dtype=int),  # a national sum
        Invariants.margins((4, 5), [(1,)]).matrix,  # sums cell by cell
        Invariants.margins((4, 5)).matrix,  # and the children's totals
        np.vstack(  # and nested groups of cells in each child
            [
                np.kron(np.eye(3, dtype=int), [[1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 1, 1]]),
                np.kron(np.ones((1, 3), dtype=int), np.eye(4, dtype=int)),
            ]
        ),
    ],
)
def test_what_topdown_rounds_is_totally_unimodular_by_structure(matrix):
    verdict = ask(matrix)
    assert verdict.unimodular
    assert "laminar" in verdict.reason


@pytest.mark.parametrize(
    "matrix",
    [
        Invariants.margins((2, 2, 3), TWO_WAY).matrix,
        Invariants.margins((2, 3, 3), TWO_WAY).matrix,
        Invariants.margins((3, 3, 3), TWO_WAY).matrix,
        [[1, 1, 0], [0, 1, 1], [1, 0, 1]],  # three pairs of three kinds
        [[1, 2], [1, 1]],
    ],
)
def test_a_counterexample_is_a_square_part_of_the_matrix(matrix):
    matrix = np.asarray(matrix)
    verdict = ask(matrix)
    part = matrix[np.ix_(verdict.rows, verdict.columns)]
    assert verdict.unimodular is False
    assert verdict.determinant == int(fmpz_mat(part.tolist()).det())
    assert abs(verdict.determinant) > 1


@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 2, 3), (2, 2, 5), (2, 3, 3), (2, 3, 4)])
def test_three_way_tables_of_two_layers_have_whole_vertices(shape):
    """Not all are totally unimodular; one layer is the other's complement."""
    verdict = ask(Invariants.margins(shape, TWO_WAY).matrix, whole_vertices)
    assert verdict.unimodular


def test_three_way_tables_of_three_layers_have_fractional_vertices():
    verdict = ask(Invariants.margins((3, 3, 3), TWO_WAY).matrix, whole_vertices)
    assert verdict.unimodular is False


def test_a_part_that_only_some_rows_show_is_not_held_against_the_whole_system():
    """A whole inverse leaves one vertex, which is whole; two of the rows alone have others."""
    matrix = np.array(
        [[1, 0, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 1, 0, 1], [1, 1, 0, 0, 1]]
    )
    assert abs(int(fmpz_mat(matrix.tolist()).det())) == 1
    assert ask(matrix).unimodular is False
    assert find_minor(np.random.default_rng(1), matrix, drop=False, trials=100) is None
