import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isdp import InputError
from isdp.testing import check_distribution
from isdp.topdown.controlled_rounding import round_tables


def random_table(seed, rows, columns, grid):
    """A real table with whole sums: a mixture of whole tables with the same sums."""
    rng = np.random.default_rng(seed)
    whole = rng.integers(0, 3, (rows, columns))
    table = whole.astype(float)
    for _ in range(12):
        if min(rows, columns) < 2:
            break
        (j, k), (x, y) = rng.choice(rows, 2, False), rng.choice(columns, 2, False)
        most = min(table[j, x], table[k, y])
        part = most if grid == 1 else np.floor(rng.random() * most * grid) / grid
        table[[j, k], [x, y]] -= part
        table[[j, k], [y, x]] += part
    return table, whole.sum(axis=1), whole.sum(axis=0)


def cheapest(table, rows, columns):
    """Try every way of rounding each cell down or up."""
    floor = np.floor(table + 1e-9)
    free = np.argwhere(table - floor > 1e-9)
    best = np.inf
    for choice in itertools.product((0, 1), repeat=len(free)):
        trial = floor.copy()
        trial[tuple(free.T)] += choice
        if columns is not None and (trial.sum(axis=0) != columns).any():
            continue
        if rows is not None and (trial.sum(axis=1) != rows).any():
            continue
        best = min(best, np.abs(trial - table).sum())
    return best


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 3), st.integers(2, 4), st.sampled_from([2, 10, 1000]))
@pytest.mark.parametrize("held", ["cells", "children", "both"])
def test_no_other_rounding_is_cheaper(held, seed, rows, columns, grid):
    table, across, down = random_table(seed, rows, columns, grid)
    across = None if held == "cells" else across
    down = None if held == "children" else down
    found = round_tables(np.random.default_rng(seed), table, down, across)
    assert found.table.dtype == np.int64
    assert down is None or (found.table.sum(axis=0) == down).all()
    assert across is None or (found.table.sum(axis=1) == across).all()
    assert np.abs(found.table - table).max() < 1 + 1e-6
    assert found.table.min() >= 0
    assert found.cost == pytest.approx(cheapest(table, across, down), abs=1e-5)
    assert found.off_whole == 0 or found.off_whole < 1e-9


def test_a_whole_table_stays_as_it_is():
    table = np.arange(12.0).reshape(3, 4) + 1e-9
    found = round_tables(
        np.random.default_rng(0), table, table.round().sum(0), table.round().sum(1)
    )
    assert (found.table == np.arange(12).reshape(3, 4)).all()
    assert found.variables == 0


def test_negative_tables_are_rounded_too():
    table = np.array([[-1.25], [0.5], [-0.25]])
    found = round_tables(np.random.default_rng(0), table, cell_sums=np.array([-1]))
    assert found.table.ravel().tolist() in ([-1, 0, 0], [-2, 1, 0], [-1, 1, -1])
    assert found.cost == pytest.approx(1.0)


def test_ties_fall_on_every_entry_alike():
    rng = np.random.default_rng(11)
    table = np.full((5, 1), 0.4)
    seen = sum(round_tables(rng, table, cell_sums=np.array([2])).table[:, 0] for _ in range(4000))
    # 8000 places, 5 entries; the two of a table exclude each other, which only evens counts out
    check_distribution(seen, np.full(5, 0.2))


def test_ties_of_a_programme_fall_on_every_vertex_alike():
    rng = np.random.default_rng(12)
    table = np.full((2, 2), 0.5)
    ones = np.ones(2, dtype=np.int64)
    first = [round_tables(rng, table, ones, ones).table[0, 0] for _ in range(400)]
    check_distribution([400 - sum(first), sum(first)], [0.5, 0.5])


def test_a_table_without_the_sums_is_refused():
    with pytest.raises(InputError, match="sums"):
        round_tables(np.random.default_rng(0), np.ones((2, 2)), cell_sums=np.array([2, 9]))
    with pytest.raises(InputError, match="rounding"):
        round_tables(np.random.default_rng(0), np.ones((2, 2)), np.array([2, 9]), np.array([5, 6]))


def test_cells_that_lost_their_remainders_may_go_down_where_nothing_else_will_do():
    """Tenths that were snapped at 10^13 leave one row with one too many, the other one too few."""
    table = np.array([[1e13, 5.0], [2e13, 0.0]])
    rows, columns = np.array([10**13 + 4, 2 * 10**13 + 1]), np.array([3 * 10**13, 5])
    found = round_tables(np.random.default_rng(4), table, columns, rows)
    assert (found.table.sum(axis=0) == columns).all()
    assert (found.table.sum(axis=1) == rows).all()
    assert np.abs(found.table - table).max() == 1
    assert found.cost == 2
    # one kind of sums: the first column has one too many, the second one too few
    found = round_tables(np.random.default_rng(4), table, np.array([3 * 10**13 - 1, 6]))
    assert (found.table.sum(axis=0) == [3 * 10**13 - 1, 6]).all()
    assert found.cost == 2
    small = np.array([[10**4, 5.0], [2 * 10**4, 0.0]])
    with pytest.raises(InputError, match="rounding"):  # of few digits no remainder is lost
        round_tables(
            np.random.default_rng(4), small, np.array([30_000, 5]), np.array([10_004, 20_001])
        )


def test_ties_that_are_given_decide_and_the_cells_beside_them_do_not():
    table = np.full((4, 3), 0.5)
    ties = np.random.default_rng(1).random((4, 3))
    whole = round_tables(np.random.default_rng(2), table, np.array([2, 2, 2]), ties=ties).table
    for up, numbers in zip(whole.T, ties.T, strict=True):
        assert set(np.flatnonzero(up)) == set(np.argsort(numbers)[2:])
    fewer = round_tables(
        np.random.default_rng(3), table[:, 1:], np.array([2, 2]), ties=ties[:, 1:]
    ).table
    assert (fewer == whole[:, 1:]).all()
