"""The tables of a region's children that fit their measurements best, over the reals.

With b_j the sum of all answers of child j, each weighted by one over its variance and put back on
the cells that it counts, and P the same for the queries themselves, the children minimise

    sum_j h_j' P h_j / 2 - b_j' h_j

under sums over the children (the parent's cells) and, where asked, over the cells (totals of the
children). This is the least squares problem of the slides (TDA), written without its constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from isdp.errors import InputError
from isdp.topdown.projections import project_onto_simplices, project_onto_transportation_polytope

MOST_STEPS = 20_000
CLOSE = 1e-5  # persons: how near ADMM's two copies come, and how little they still move
RELATIVE = 1e-11  # of the largest count, where counts are so large that digits end before that
RELAXATION = 1.6
BALANCE = 10.0  # one residual over the other before the step is changed


@dataclass(frozen=True, eq=False)
class LeastSquaresProblem:
    """Least squares of one parent's children.

    Attributes
    ----------
    matrix : float64 array, shape (cells, cells)
        P, positive definite.
    pull : float64 array, shape (children, cells)
        b.
    cell_sums : int64 array, shape (cells,), or None
        What the children add up to, cell by cell.
    child_sums : int64 array, shape (children,) or (children, groups), or None
        Total of each child, or of each group of its cells.
    groups : int64 array, shape (cells,), optional
        Group of each cell, from 0 up; by default all are in one.
    """

    matrix: np.ndarray
    pull: np.ndarray
    cell_sums: np.ndarray | None
    child_sums: np.ndarray | None
    groups: np.ndarray | None = None

    def __post_init__(self):
        if self.groups is None:
            object.__setattr__(self, "groups", np.zeros(len(self.matrix), dtype=np.int64))
        if self.cell_sums is None and self.child_sums is None:
            raise InputError(
                "topdown: neither the parent's cells nor the children's totals are told"
            )

    @property
    def group_sums(self) -> np.ndarray:
        """Sums of the children by group, int64 (children, groups)."""
        return np.reshape(self.child_sums, (len(self.pull), -1))

    @property
    def parts(self) -> list[np.ndarray]:
        """Cells of each group; a group that no cell belongs to is empty."""
        count = 1 if self.child_sums is None else self.group_sums.shape[1]
        return [np.flatnonzero(self.groups == group) for group in range(count)]

    @property
    def diagonal(self) -> bool:
        """Whether P is a multiple of the identity, so that no cell speaks for another."""
        d = np.diagonal(self.matrix)
        return bool((d == d[0]).all()) and np.count_nonzero(self.matrix) == len(d)


def normal_equations(rows, weights, answers, cells) -> tuple[np.ndarray, np.ndarray]:
    """Compute P and b from the measurements, on some of the cells.

    Leaving out the cells that are zero at the parent is the same as holding them at zero.

    Parameters
    ----------
    rows : csr_array, shape (answers, cells)
        The queries, as in `isdp.topdown.budget.Workload`.
    weights : float array, shape (answers,)
    answers : int array, shape (children, answers)
    cells : int array
        Numbers of the cells that are kept.

    Returns
    -------
    matrix : float64 array, shape (kept, kept)
    pull : float64 array, shape (children, kept)
    """
    kept = (rows if len(cells) == rows.shape[1] else rows[:, cells]).astype(float)
    weighted = kept.copy()
    weighted.data *= np.repeat(weights, np.diff(kept.indptr))
    matrix = (kept.T @ weighted).toarray()
    return matrix, (weighted.T @ np.asarray(answers, dtype=float).T).T


def solve(problem: LeastSquaresProblem, nonnegative: bool = True) -> np.ndarray:
    """Find the children's best tables over the reals.

    Returns
    -------
    float64 array, shape (children, cells)
        Its sums are met up to rounding errors. In a problem of several queries an entry may be
        off by about 1e-3 persons.

    Raises
    ------
    InputError
        If the sums contradict each other, or the steps do not come to rest.
    """
    if not nonnegative:
        return _solve_free(problem)
    if problem.diagonal:
        return _project(problem.pull / problem.matrix[0, 0], problem)
    return _solve_by_splitting(problem)


def _project(points, problem: LeastSquaresProblem) -> np.ndarray:
    """Nearest non-negative tables with the sums that the problem asks for."""
    if problem.child_sums is None:
        return project_onto_simplices(points, problem.cell_sums)
    if problem.cell_sums is None:
        return _simplices(points, problem)
    table = np.zeros_like(points)
    for cells, sums in zip(problem.parts, problem.group_sums.T, strict=True):
        if len(cells):
            table[:, cells] = project_onto_transportation_polytope(
                points[:, cells], sums, problem.cell_sums[cells]
            )
    return table


def _solve_free(problem: LeastSquaresProblem) -> np.ndarray:
    """Solve without the sign: all share one correction, and each has its own along P^-1 A.

    P (h_j - t_j) = A a_j + c, with t_j = P^-1 b_j and A the groups' rows; the a_j are those that
    meet the totals.
    """
    if problem.diagonal and problem.child_sums is None:
        table = problem.pull / problem.matrix[0, 0]
        return table + (problem.cell_sums - table.sum(axis=0)) / len(table)
    factor = cho_factor(problem.matrix)
    table = cho_solve(factor, problem.pull.T).T
    if problem.child_sums is not None:
        inside = _indicators(problem)
        along = cho_solve(factor, inside)
        lacking = problem.group_sums[:, np.unique(problem.groups)] - table @ inside
        if problem.cell_sums is not None:
            lacking = lacking - lacking.mean(axis=0)  # the rest comes with the cells' sums
        table = table + lacking @ np.linalg.solve(inside.T @ along, along.T)
    if problem.cell_sums is not None:
        table = table + (problem.cell_sums - table.sum(axis=0)) / len(table)
    return table


def _solve_by_splitting(problem: LeastSquaresProblem) -> np.ndarray:
    """Alternate least squares (with the children's totals) and simplex projections.

    With totals of the children and the parent's cells, the projection meets the cells' sums and
    the least squares the totals; the last step is one transportation projection that meets both.
    """
    both = problem.child_sums is not None and problem.cell_sums is not None
    values, vectors = eigh(problem.matrix, driver="evd")
    start = (problem.pull @ vectors / values) @ vectors.T
    least_squares = _LeastSquares(problem, values, vectors, both)
    found = minimize_by_admm(
        least_squares,
        lambda table: _simplices(table, problem),
        start,
        _first_step(values, both),
        balance=True,
    )
    return _project(found, problem) if both else found


def minimize_by_admm(
    least_squares: Callable, project: Callable, start, step: float, *, balance: bool
) -> np.ndarray:
    """Minimise a quadratic function over a convex set by operator splitting (ADMM).

    Parameters
    ----------
    least_squares : callable
        ``least_squares(step, push)`` minimises the function plus step |h|^2/2 - push'h.
    project : callable
        Gives the nearest table of the convex set; the first one is that of `start`.
    balance : bool
        Whether to change the step where one of the two residuals is far above the other.

    Raises
    ------
    InputError
        If the steps do not come to rest.
    """
    copy = project(start)
    gap = np.zeros_like(copy)
    limit = CLOSE + RELATIVE * (1.0 + np.abs(copy).max())
    for turn in range(1, MOST_STEPS + 1):
        table = least_squares(step, step * (copy - gap))
        mixed = RELAXATION * table + (1 - RELAXATION) * copy
        before, copy = copy, project(mixed + gap)
        gap = gap + mixed - copy
        apart, moved = np.abs(table - copy).max(), np.abs(copy - before).max()
        if max(apart, moved) <= limit:
            return copy
        if balance and turn % 25 == 0 and not 1 / BALANCE < apart / max(moved, 1e-300) < BALANCE:
            factor = np.sqrt(np.clip(apart / max(moved, 1e-300), 0.04, 25))
            step, gap = step * factor, gap / factor
    raise InputError(
        f"topdown: the estimation did not come to rest in {MOST_STEPS} steps (still "
        f"{max(apart, moved):.2g} persons apart); share the budget less unevenly among the queries"
    )


def _indicators(problem: LeastSquaresProblem) -> np.ndarray:
    """Which cells each group has, a column a group; float64 (cells, groups)."""
    return (problem.groups[:, None] == np.unique(problem.groups)).astype(float)


def _first_step(values, both: bool) -> float:
    """Geometric mean of the extreme eigenvalues; held totals take the largest one away."""
    largest = values[-2] if both and len(values) > 1 else values[-1]
    return float(np.sqrt(values[0] * largest))


class _LeastSquares:
    """Minimises h'Ph/2 - b'h + step |h|^2/2 - push'h, under the children's totals if asked."""

    def __init__(self, problem: LeastSquaresProblem, values, vectors, both: bool):
        self.pull, self.values, self.vectors, self.both = problem.pull, values, vectors, both
        self.step = None
        if both:
            self.inside = _indicators(problem)
            self.sums = problem.group_sums[:, np.unique(problem.groups)]

    def __call__(self, step, push) -> np.ndarray:
        spread = self.values + step
        table = ((self.pull + push) @ self.vectors / spread) @ self.vectors.T
        if self.both:
            if step != self.step:
                along = ((self.inside.T @ self.vectors) / spread) @ self.vectors.T
                self.along, self.step = np.linalg.solve(along @ self.inside, along), step
            table += (self.sums - table @ self.inside) @ self.along
        return table


def _simplices(points, problem: LeastSquaresProblem) -> np.ndarray:
    if problem.cell_sums is None:
        table = np.zeros_like(points)
        for cells, sums in zip(problem.parts, problem.group_sums.T, strict=True):
            if len(cells):
                table[:, cells] = project_onto_simplices(points[:, cells].T, sums).T
        return table
    return project_onto_simplices(points, problem.cell_sums)
