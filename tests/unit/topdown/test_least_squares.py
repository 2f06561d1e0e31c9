import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from isdp import InputError
from isdp.topdown import Budget, Schema
from isdp.topdown.budget import workload
from isdp.topdown.least_squares import LeastSquaresProblem, normal_equations, solve

SCHEMA = Schema(("race", "sex", "adult"), (3, 2, 2))
PROMISED = 1e-3  # persons by which an entry may be off, as `solve` says
SHARES = {"total": "1/4", "race": "1/8", "race*sex": "1/8", "adult": "1/4", "detail": "1/4"}


def make_problem(seed, children=4, cell_sums=True, child_sums=False, queries=None):
    rng = np.random.default_rng(seed)
    budget = Budget("zCDP", 0.5, {"leaf": 1}, {"leaf": queries or SHARES})
    work = workload(SCHEMA, budget, "leaf")
    true = rng.integers(0, 30, (children, SCHEMA.cells)) * (rng.random((children, 12)) < 0.5)
    answers = (work.rows @ true.T).T
    answers = answers + np.rint(rng.normal(0, work.weights**-0.5, answers.shape))
    parent = true.sum(axis=0)
    kept = np.flatnonzero(parent) if cell_sums else np.arange(SCHEMA.cells)
    matrix, pull = normal_equations(work.rows, work.weights, answers, kept)
    return LeastSquaresProblem(
        matrix,
        pull,
        parent[kept] if cell_sums else None,
        true.sum(axis=1) if child_sums else None,
    )


def test_cells_that_are_left_out_are_held_at_zero():
    """Also where as many cells are kept as there are answers."""
    rows = csr_array(np.array([[1, 1, 1], [0, 2, 1]]))
    weights, answers = np.array([0.5, 3.0]), np.array([[4, 7], [1, 0]])
    for kept in ([0, 2], [1], [0, 1, 2]):
        dense = rows.toarray()[:, kept]
        matrix, pull = normal_equations(rows, weights, answers, np.array(kept))
        assert matrix.tolist() == (dense.T @ np.diag(weights) @ dense).tolist()
        assert pull.tolist() == (answers * weights @ dense).tolist()


def violation(problem, table, nonnegative=True):
    """Smallest violation of the optimality conditions that any multipliers leave, in persons.

    The gradient must equal a_j + c_x where the table is positive and be no smaller elsewhere.
    """
    gradient = table @ problem.matrix - problem.linear_term
    children, cells = table.shape
    inside = (table > 1e-6).ravel() if nonnegative else np.ones(table.size, dtype=bool)
    parts = []
    if problem.child_sums is not None:
        parts.append(np.kron(np.eye(children), np.ones((cells, 1))))
    if problem.cell_sums is not None:
        parts.append(np.kron(np.ones((children, 1)), np.eye(cells)))
    multipliers = np.hstack(parts)
    one = np.ones((table.size, 1))
    g = gradient.ravel()
    above = np.hstack([multipliers, -one])  # a + c - t <= g
    below = np.hstack([-multipliers, -one])[inside]  # g <= a + c + t on the support
    found = linprog(
        np.append(np.zeros(multipliers.shape[1]), 1.0),
        A_ub=np.vstack([above, below]),
        b_ub=np.concatenate([g, -g[inside]]),
        bounds=[(None, None)] * multipliers.shape[1] + [(0, None)],
    )
    assert found.status == 0
    return found.fun / np.linalg.eigvalsh(problem.matrix)[0]


def check_sums(problem, table):
    if problem.cell_sums is not None:
        np.testing.assert_allclose(table.sum(axis=0), problem.cell_sums, atol=1e-8)
    if problem.child_sums is not None:
        np.testing.assert_allclose(table.sum(axis=1), problem.child_sums, atol=1e-8)


FORMS = [(True, False), (True, True), (False, True)]


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize(("cell_sums", "child_sums"), FORMS)
@pytest.mark.parametrize("queries", [None, {"detail": 1}])
@pytest.mark.parametrize("seed", range(4))
def test_the_estimate_meets_the_conditions_of_optimality(
    seed, queries, cell_sums, child_sums, nonnegative
):
    problem = make_problem(seed, 5, cell_sums, child_sums, queries)
    table = solve(problem, nonnegative)
    check_sums(problem, table)
    assert not nonnegative or table.min() >= 0
    assert violation(problem, table, nonnegative) < PROMISED


def test_the_conditions_of_optimality_notice_a_table_that_is_off():
    problem = make_problem(0, 5, True, True)
    table = solve(problem)
    j, x = np.argwhere(table > 2)[0]
    k, y = next((k, y) for k, y in np.argwhere(table > 2) if k != j and y != x)
    for one, other, change in ((j, x, -0.5), (k, y, -0.5), (j, y, 0.5), (k, x, 0.5)):
        table[one, other] += change
    check_sums(problem, table)
    assert violation(problem, table) > 20 * PROMISED  # of the half a person that was moved


def test_dropping_the_parents_zeros_is_holding_them_at_zero():
    budget = Budget("zCDP", 0.5, {"leaf": 1}, {"leaf": SHARES})
    work = workload(SCHEMA, budget, "leaf")
    rng = np.random.default_rng(8)
    answers = rng.integers(-5, 60, (4, len(work.weights)))
    parent = np.array([9, 0, 4, 0, 7, 8, 0, 5, 30, 1, 2, 0])
    asked = work.rows, work.weights, answers
    whole = LeastSquaresProblem(*normal_equations(*asked, np.arange(12)), parent, None)
    kept = np.flatnonzero(parent)
    small = LeastSquaresProblem(*normal_equations(*asked, kept), parent[kept], None)
    assert not whole.diagonal
    np.testing.assert_allclose(solve(whole)[:, kept], solve(small), rtol=0, atol=PROMISED)
    assert not solve(whole)[:, parent == 0].any()


def test_nothing_to_add_up_to_is_refused():
    with pytest.raises(InputError, match="child_sums"):
        LeastSquaresProblem(np.eye(2), np.ones((1, 2)), None, None)
