"""The estimation against a well-kept solver of quadratic programmes."""

import numpy as np
import piqp
import pytest
from scipy.sparse import block_diag, csc_array, kron, vstack

from isdp.topdown import Budget, Schema
from isdp.topdown.budget import workload
from isdp.topdown.least_squares import LeastSquaresProblem, normal_equations, solve

SCHEMA = Schema(("race", "sex", "adult"), (9, 2, 2))
QUERIES = {
    "total": "7/10",
    "race": "1/20",
    "race*sex": "1/20",
    "sex*adult": "1/20",
    "detail": "3/20",
}


def make_problem(seed, children, child_sums, kinds=1):
    rng = np.random.default_rng(seed)
    work = workload(SCHEMA, Budget("zCDP", 0.3, {"leaf": 1}, {"leaf": QUERIES}), "leaf")
    size = np.exp(rng.normal(2, 2, (children, SCHEMA.cells)))
    true = rng.poisson(size * (rng.random(size.shape) < 0.4))
    exact = (work.rows @ true.T).T
    answers = exact + np.rint(rng.normal(0, work.weights**-0.5, exact.shape))
    kept = np.flatnonzero(true.sum(axis=0))
    matrix, pull = normal_equations(work.rows, work.weights, answers, kept)
    if kinds == 1:
        totals = true.sum(axis=1) if child_sums else None
        return LeastSquaresProblem(matrix, pull, true.sum(axis=0)[kept], totals)
    group = np.arange(SCHEMA.cells) % kinds
    totals = np.stack([true[:, group == kind].sum(axis=1) for kind in range(kinds)], axis=1)
    return LeastSquaresProblem(matrix, pull, true.sum(axis=0)[kept], totals, group[kept])


def by_oracle(problem):
    """The whole programme at once, centred on the solution without constraints."""
    children, cells = problem.linear_term.shape
    centre = np.linalg.solve(problem.matrix, problem.linear_term.T).T
    rows = [kron(np.ones((1, children)), np.eye(cells))]
    sides = [problem.cell_sums - centre.sum(axis=0)]
    if problem.child_sums is not None:  # the last child's follow from the others
        groups = np.unique(problem.group_of_cell)
        member = (problem.group_of_cell == groups[:, None]).astype(float)
        rows.append(kron(np.eye(children), member).tocsr()[: -len(groups)])
        lacking = problem.group_sums[:, groups] - centre @ member.T
        sides.append(lacking[:-1].ravel())
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-11
    solver.setup(
        csc_array(block_diag([problem.matrix] * children)),
        np.zeros(centre.size),
        csc_array(vstack(rows)),
        np.concatenate(sides),
        x_l=-centre.ravel(),
    )
    assert solver.solve() == piqp.PIQP_SOLVED
    return solver.result.x.reshape(centre.shape) + centre


@pytest.mark.parametrize("child_sums", [False, True])
@pytest.mark.parametrize(("seed", "children"), [(0, 3), (1, 20), (2, 60)])
def test_the_estimate_is_the_oracles_to_a_thousandth_of_a_person(seed, children, child_sums):
    problem = make_problem(seed, children, child_sums)
    ours, theirs = solve(problem), by_oracle(problem)
    assert np.abs(ours - theirs).max() < 1e-3  # as `solve` says
    np.testing.assert_allclose(ours.sum(axis=0), problem.cell_sums, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_totals_by_kind_are_met_by_the_oracles_estimate(seed):
    problem = make_problem(seed, 12, True, kinds=3)
    ours = solve(problem)
    assert np.abs(ours - by_oracle(problem)).max() < 1e-3
    for kind in range(3):
        sums = ours[:, problem.group_of_cell == kind].sum(axis=1)
        np.testing.assert_allclose(sums, problem.group_sums[:, kind], atol=1e-7)
