"""The smallest and the largest count of each cell under given totals."""

from itertools import product

import numpy as np
import pytest
import scipy

from isdp import InputError
from isdp.constraints import Invariants, cell_intervals
from isdp.constraints.intervals import UNBOUNDED


@pytest.mark.parametrize("seed", range(40))
def test_intervals_agree_with_an_enumeration_of_all_tables(seed):
    """Each cell has a total of at most 8, so that the enumeration is complete."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 2, (rng.integers(1, 5), rng.integers(2, 6)))
    matrix[0, ~matrix.any(axis=0)] = 1
    totals = matrix @ rng.integers(0, 3, matrix.shape[1])
    tables = np.array(list(product(range(totals.max() + 1), repeat=matrix.shape[1])))
    tables = tables[(tables @ matrix.T == totals).all(axis=1)]
    found = cell_intervals(Invariants(matrix), totals)
    assert (found.lower <= tables.min(axis=0)).all()
    assert (found.upper >= tables.max(axis=0)).all()
    assert (found.lower == tables.min(axis=0))[found.exact].all()
    assert (found.upper == tables.max(axis=0))[found.exact].all()
    assert found.exact.all()


@pytest.mark.parametrize("seed", range(5))
def test_intervals_of_a_sparse_table_agree_with_linear_programs(seed):
    """Margins of a table with missing cells are totally unimodular."""
    rng = np.random.default_rng(seed)
    matrix = Invariants.margins((5, 6)).matrix[:, rng.random(30) < 0.7]
    totals = matrix @ rng.integers(0, 9, matrix.shape[1])
    found = cell_intervals(Invariants(matrix), totals)
    for cell in range(matrix.shape[1]):
        for sign, bound in ((1, found.lower), (-1, found.upper)):
            cost = sign * np.eye(matrix.shape[1])[cell]
            best = scipy.optimize.linprog(cost, A_eq=matrix, b_eq=totals).fun
            assert bound[cell] == pytest.approx(sign * best, abs=1e-6)


def test_nested_totals_bound_the_cells_of_the_rest():
    found = cell_intervals(Invariants([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]]), [9, 4])
    assert found.lower.tolist() == [0] * 5
    assert found.upper.tolist() == [4, 4, 5, 5, UNBOUNDED]


@pytest.mark.parametrize(
    ("matrix", "totals"),
    [([[1, 1, 1], [1, 1, 0]], [3, 4]), (Invariants.margins((2, 2)).matrix, [1, 2, 2, 2])],
)
def test_totals_that_contradict_each_other_are_refused(matrix, totals):
    with pytest.raises(InputError, match="no table of counts"):
        cell_intervals(Invariants(matrix), totals)
