import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from isdp import InputError, Invariants
from isdp.subspace import (
    Query,
    differences,
    null_sensitivity,
    null_space,
    quotient_sensitivity,
    sensitivity,
)
from isdp.subspace.privacy.neighbours import RELATIONS
from isdp.subspace.privacy.sensitivities import quotient_norm, rank_of_differences
from tests.unit.subspace.workloads import WORKLOADS

RNG = np.random.default_rng(2108)


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_sensitivities_against_the_list_of_all_differences(name, relation):
    query, held = WORKLOADS[name]
    moves = differences(query, relation)
    projected = moves @ null_space(held).matrix()
    lengths = np.linalg.norm(projected, axis=1)
    assert sensitivity(query, 1, relation) == np.abs(moves).sum(axis=1).max()
    assert sensitivity(query, 2, relation) == pytest.approx(np.linalg.norm(moves, axis=1).max())
    assert null_sensitivity(query, held, relation) == pytest.approx(lengths.max())
    assert rank_of_differences(query, held, relation) == np.linalg.matrix_rank(projected, tol=1e-9)


def least_length(move, row):
    """Least l1 length of a move plus a multiple of a row, which is had at one of its bends."""
    bends = [-m / c for m, c in zip(move, row, strict=True) if c] or [0]
    return min(np.abs(move + w * np.array(row)).sum() for w in bends)


entries = st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), min_size=3, max_size=3)


@example([[0, 3, 1, 0], [0, 3, 0, 0], [0, 2, 1, 0]], [1, 0, 0], "add-remove")
@given(entries, st.lists(st.integers(-2, 2), min_size=3, max_size=3), st.sampled_from(RELATIONS))
def test_sensitivities_of_any_query_with_equal_and_empty_columns(matrix, row, relation):
    query, held = Query.linear(matrix), Invariants([row])
    moves = differences(query, relation)
    projected = moves @ null_space(held).matrix()
    lengths = np.linalg.norm(projected, axis=1).max(initial=0)
    quotient = max((least_length(move, row) for move in moves), default=0)
    assert sensitivity(query, 1, relation) == np.abs(moves).sum(axis=1).max(initial=0)
    assert null_sensitivity(query, held, relation) == pytest.approx(lengths, abs=1e-6)
    assert quotient_sensitivity(query, held, relation) == pytest.approx(quotient, abs=1e-6)
    rank = np.linalg.matrix_rank(projected, tol=1e-9) if len(moves) else 0
    assert rank_of_differences(query, held, relation) == rank


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (3, 5), (4, 4), (14, 24)])
def test_tables_with_both_margins_held(rows, columns):
    held = Invariants.margins((rows, columns))
    expected = 2 * (1 - 1 / max(rows, columns))
    query = Query.histogram(rows * columns)
    assert null_sensitivity(query, held) ** 2 == pytest.approx(expected)


def test_the_campus_example():
    held = Invariants.margins((20, 14, 24), ((0, 1), (0, 2)))
    query = Query.histogram(6720)
    assert quotient_sensitivity(query, held) == pytest.approx(2)
    assert rank_of_differences(query, held) == 5980
    # its twenty buildings are alike and apart, and any two records are in one or in two
    two = Invariants.margins((2, 14, 24), ((0, 1), (0, 2)))
    assert null_sensitivity(Query.histogram(672), two) ** 2 == pytest.approx(23 / 12)


def test_a_hundred_thousand_cells():
    query, held = Query.histogram(10**5), Invariants.total(10**5)
    assert sensitivity(query, 1) == 2
    assert null_sensitivity(query, held) ** 2 == pytest.approx(2)
    assert quotient_sensitivity(query, held) == pytest.approx(2)


@pytest.mark.parametrize(
    ("query", "held", "expected"),
    [
        (Query.histogram(16), Invariants.margins((4, 4)), 2),
        (Query.histogram(2), Invariants([[3, 1]]), 4 / 3),
        (Query.ranges(16), Invariants.subsets([[15]], 136), 72),
        (Query.hierarchy((4, 4)), Invariants.subsets([[0]], 21), 4),
        (Query.histogram(2), Invariants([[1, 0], [0, 1]]), 0),
    ],
)
def test_exact_l1_sensitivities_within_the_null_space(query, held, expected):
    assert quotient_sensitivity(query, held) == pytest.approx(expected, abs=1e-7)


def test_the_diagonal_pair_of_a_two_by_two_table_has_no_loss_at_all():
    held = Invariants.margins((2, 2))
    assert quotient_norm([1, 0, 0, -1], held) == pytest.approx(0, abs=1e-9)
    assert quotient_norm([1, -1, 0, 0], held) == pytest.approx(2)


def test_one_type_has_no_neighbours_and_adding_has():
    query, held = Query.histogram(1), Invariants.total(1)
    assert sensitivity(query, 1) == 0
    assert null_sensitivity(query, held) == 0
    assert sensitivity(query, 1, "add-remove") == 1
    assert null_sensitivity(query, held, "add-remove") == 0
    assert quotient_sensitivity(query, held, "add-remove") == 0


def test_what_does_not_fit_or_is_too_large_is_refused():
    with pytest.raises(InputError, match="answers"):
        null_sensitivity(Query.ranges(4), Invariants.total(4))
    with pytest.raises(InputError, match="relation"):
        sensitivity(Query.histogram(3), 1, "swap")
    with pytest.raises(InputError, match="p"):
        sensitivity(Query.histogram(3), 3)
    many = Invariants.partition(np.repeat(np.arange(15000), 2))
    with pytest.raises(InputError, match="types"):
        null_sensitivity(Query.histogram(30000), many)
