import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isdp import InputError
from isdp.topdown.controlled_rounding import round_tables
from isdp.topdown.projections import project_onto_simplices, project_onto_transportation_polytope


def random_case(seed, rows, columns, size=20):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, size, (rows, columns)) * (rng.random((rows, columns)) < 0.6)
    return rng.normal(table, size / 2), table.sum(axis=1), table.sum(axis=0)


def test_a_simplex_projection_solved_by_hand():
    assert project_onto_simplices([[5], [1], [-3]], [2]).ravel().tolist() == [2, 0, 0]
    assert project_onto_simplices([[1], [2], [3]], [3]).ravel().tolist() == [0, 1, 2]
    assert project_onto_simplices([[1], [2]], [0]).ravel().tolist() == [0, 0]


def test_transportation_projections_solved_by_hand():
    found = project_onto_transportation_polytope([[1, 0], [0, 0]], [1, 1], [1, 1])
    np.testing.assert_allclose(found, [[0.75, 0.25], [0.25, 0.75]], atol=1e-12)
    found = project_onto_transportation_polytope([[3, -1, 2], [0, 4, 1]], [5, 3], [2, 3, 3])
    np.testing.assert_allclose(found, [[2, 0, 3], [0, 3, 0]], atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 8))
def test_simplex_projections_take_one_number_from_all_that_stay_positive(seed, rows, columns):
    points, _, totals = random_case(seed, rows, columns)
    found = project_onto_simplices(points, totals)
    np.testing.assert_allclose(found.sum(axis=0), totals, atol=1e-10)
    for column in np.flatnonzero(totals):
        taken = (points - found)[:, column]
        positive = found[:, column] > 0
        assert np.ptp(taken[positive]) < 1e-10
        assert (taken[~positive] <= taken[positive].max() + 1e-10).all()


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 9))
def test_no_feasible_direction_comes_nearer(seed, rows, columns):
    """Around four cells in a cycle, the sums stay; the derivative along it must not be negative."""
    points, across, down = random_case(seed, rows, columns)
    found = project_onto_transportation_polytope(points, across, down)
    np.testing.assert_allclose(found.sum(axis=1), across, atol=1e-8)
    np.testing.assert_allclose(found.sum(axis=0), down, atol=1e-8)
    assert found.min() >= 0
    gradient = found - points
    # g[j, x] - g[j, y] - g[k, x] + g[k, y], moving from (j, y), (k, x) to (j, x), (k, y)
    slope = (
        gradient[:, :, None, None]
        - gradient[:, None, None, :]
        - gradient.T[None, :, :, None]
        + gradient[None, None, :, :]
    )
    able = (found[:, None, None, :] > 1e-9) & (found.T[None, :, :, None] > 1e-9)
    assert slope[np.broadcast_to(able, slope.shape)].min(initial=0) > -1e-7


def test_forbidden_cells_stay_empty():
    points = np.array([[5.0, -np.inf], [3.0, 2.0]])
    found = project_onto_transportation_polytope(points, [4, 6], [7, 3])
    np.testing.assert_allclose(found, [[4, 0], [3, 3]], atol=1e-10)


def test_entries_of_a_simplex_may_be_forbidden_too():
    none = -np.inf
    found = project_onto_simplices([[none, none], [3, none], [1, none]], [2, 0])
    assert found.tolist() == [[0, 0], [2, 0], [0, 0]]
    with pytest.raises(InputError, match="cell"):
        project_onto_simplices([[none], [none]], [1])


def test_sums_that_contradict_each_other_are_refused():
    with pytest.raises(InputError, match="sums"):
        project_onto_transportation_polytope(np.ones((2, 2)), [1, 1], [1, 2])
    with pytest.raises(InputError, match="sums"):
        project_onto_transportation_polytope([[0, -np.inf], [0, 0]], [4, 6], [3, 7])


@pytest.mark.parametrize("digits", [9, 12, 13])
@pytest.mark.parametrize("seed", range(4))
def test_counts_of_many_digits_keep_their_sums_to_a_few_thousandths(digits, seed):
    """And are rounded to whole ones with just these sums, wherever their noise has sent them."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 10**digits, (6, 12)) * (rng.random((6, 12)) > 0.3)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    for noise in (1e-9, 1.0):
        points = table + rng.normal(0, noise * 10**digits, table.shape)
        found = project_onto_transportation_polytope(points, rows, columns)
        nearest = np.rint(found)
        part = found - nearest  # sums of whole numbers below 2^53 are exact in doubles
        for axis, sums in ((0, columns), (1, rows)):
            off = nearest.sum(axis=axis) - sums + part.sum(axis=axis)
            assert np.abs(off).max() < 2e-3 + 12 * np.spacing(found.max())
        whole = round_tables(rng, found, columns, rows).table
        assert (whole.sum(axis=0) == columns).all()
        assert (whole.sum(axis=1) == rows).all()
        assert whole.min() >= 0
        assert np.abs(whole - found).max() < 1.5
