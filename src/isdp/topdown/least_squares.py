"""Weighted least squares estimates of the tables of the children of a region, over the reals.

Let R be the matrix of the queries of a level, and W the diagonal matrix of the inverse variances.
Let y_j be the noisy answers of child j. With P = R' W R and b_j = R' W y_j, the tables h_j minimise

    sum_j h_j' P h_j / 2 - b_j' h_j

subject to given sums over the children, which are the counts of the parent, or to given totals of
the children, or to both. Apart from a constant, the objective is that of the least squares problem
in the slides *The TopDown algorithm and invariants* (TDA). With several queries, the alternating
direction method of multipliers (ADMM) solves the problem.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.sparse import csr_array

from isdp.arrays import BoolArray, FloatArray, IntArray
from isdp.errors import InputError
from isdp.topdown.projections import project_onto_simplices, project_onto_transportation_polytope

MAX_STEPS = 20_000  # maximum number of ADMM steps
RESIDUAL_TOLERANCE = 1e-5  # maximum primal and dual residual of ADMM, in persons
RELATIVE_TOLERANCE = 1e-11  # additional tolerance, relative to the maximum count
RELAXATION = 1.6  # over-relaxation factor of ADMM
MAX_RESIDUAL_RATIO = 10.0  # ratio of the residuals above which the step size changes

# a function of step and push that returns the minimiser h of f(h) + step |h|^2/2 - push'h
Proximal = Callable[[float, FloatArray], FloatArray]
Projection = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class LeastSquaresProblem:
    """The least squares problem of the children of one parent.

    Attributes
    ----------
    matrix : float64 array, shape (cells, cells)
        The positive definite matrix P.
    linear_term : float64 array, shape (children, cells)
        The vectors b_j.
    cell_sums : int64 array, shape (cells,), or None
        Sums of each cell over the children.
    child_sums : int64 array, shape (children,) or (children, groups), or None
        Totals of the children, or totals of their groups of cells.
    groups : int64 array, shape (cells,), optional
        The group of each cell. By default all cells are in one group.
    """

    matrix: FloatArray
    linear_term: FloatArray
    cell_sums: IntArray | None
    child_sums: IntArray | None
    groups: IntArray | None = None

    def __post_init__(self) -> None:
        if self.cell_sums is None and self.child_sums is None:
            raise InputError("topdown: cell_sums: give cell_sums, child_sums or both")

    @property
    def group_of_cell(self) -> IntArray:
        """Group of each cell, as an int64 array of shape (cells,)."""
        return np.zeros(len(self.matrix), dtype=np.int64) if self.groups is None else self.groups

    @property
    def group_sums(self) -> IntArray:
        """Totals of the children by group, as an int64 array of shape (children, groups)."""
        return np.asarray(self.child_sums).reshape(len(self.linear_term), -1)

    @property
    def parts(self) -> list[IntArray]:
        """Cells of each group. A group may have no cells."""
        count = 1 if self.child_sums is None else self.group_sums.shape[1]
        return [np.flatnonzero(self.group_of_cell == group) for group in range(count)]

    @property
    def diagonal(self) -> bool:
        """True if P is a multiple of the identity."""
        d = np.diagonal(self.matrix)
        return bool((d == d[0]).all()) and np.count_nonzero(self.matrix) == len(d)


def normal_equations(
    rows: csr_array, weights: FloatArray, answers: IntArray, cells: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Compute P and the vectors b_j from the measurements, with only some cells above zero.

    The rows and weights are those of an `isdp.topdown.budget.Workload`. The answers have shape
    (children, answers). The results have the shapes (kept cells, kept cells) and (children, kept
    cells). The kept cells are `cells`, and all other cells are fixed at zero.
    """
    kept = (rows if len(cells) == rows.shape[1] else rows[:, cells]).astype(float)
    weighted = kept.copy()
    weighted.data *= np.repeat(weights, np.diff(kept.indptr))
    matrix = (kept.T @ weighted).toarray()
    return matrix, (weighted.T @ np.asarray(answers, dtype=float).T).T


def solve(problem: LeastSquaresProblem, nonnegative: bool = True) -> FloatArray:
    """Compute the least squares tables of the children, a float64 array of shape (children, cells).

    The tables have the given sums, up to rounding errors. With several queries, the error of an
    entry is about 1e-3 persons. Raise `InputError` if no table has the sums, or the iteration does
    not converge.
    """
    if not nonnegative:
        return _solve_free(problem)
    if problem.diagonal:
        return _project(problem.linear_term / problem.matrix[0, 0], problem)
    return _solve_by_splitting(problem)


def _project(points: FloatArray, problem: LeastSquaresProblem) -> FloatArray:
    """Project onto the nonnegative tables with the sums of the problem."""
    if problem.child_sums is None or problem.cell_sums is None:
        return _simplices(points, problem)
    table = np.zeros_like(points)
    for cells, sums in zip(problem.parts, problem.group_sums.T, strict=True):
        if len(cells):
            table[:, cells] = project_onto_transportation_polytope(
                points[:, cells], sums, problem.cell_sums[cells]
            )
    return table


def _solve_free(problem: LeastSquaresProblem) -> FloatArray:
    """Solve without sign constraints, in closed form.

    The Lagrange conditions are P (h_j - t_j) = A a_j + c, with t_j = P^-1 b_j and the indicators A
    of the groups. The multipliers a_j belong to the totals of child j. The multipliers c belong to
    the cell sums and are common to all children.
    """
    table: FloatArray
    if problem.diagonal and problem.child_sums is None:
        table = problem.linear_term / problem.matrix[0, 0]
        table = table + (problem.cell_sums - table.sum(axis=0)) / len(table)
        return table
    factor = cho_factor(problem.matrix)
    table = cho_solve(factor, problem.linear_term.T).T
    if problem.child_sums is not None:
        inside = _indicators(problem)
        along = cho_solve(factor, inside)
        missing = problem.group_sums[:, np.unique(problem.group_of_cell)] - table @ inside
        if problem.cell_sums is not None:
            missing = missing - missing.mean(axis=0)  # the cell sums determine the mean
        table = table + missing @ np.linalg.solve(inside.T @ along, along.T)
    if problem.cell_sums is not None:
        table = table + (problem.cell_sums - table.sum(axis=0)) / len(table)
    return table


def _solve_by_splitting(problem: LeastSquaresProblem) -> FloatArray:
    """Solve by ADMM, which alternates least squares and projections onto simplices.

    If both sums are given, the least squares step satisfies the totals of the children, and the
    projection satisfies the cell sums. A final projection onto the transportation polytope
    satisfies both.
    """
    both = problem.child_sums is not None and problem.cell_sums is not None
    values, vectors = eigh(problem.matrix, driver="evd")
    start: FloatArray = (problem.linear_term @ vectors / values) @ vectors.T
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
    least_squares: Proximal, project: Projection, start: FloatArray, step: float, *, balance: bool
) -> FloatArray:
    """Minimise a quadratic function over a convex set by ADMM with over-relaxation.

    ``least_squares(step, push)`` returns the minimiser of the function plus step |h|^2/2 - push'h.
    The function `project` is the projection onto the convex set. If `balance` is true, the step
    size changes when one residual is more than ten times the other. Raise `InputError` if the
    iteration does not converge.
    """
    copy = project(start)
    gap = np.zeros_like(copy)
    limit = RESIDUAL_TOLERANCE + RELATIVE_TOLERANCE * (1.0 + np.abs(copy).max())
    for turn in range(1, MAX_STEPS + 1):
        table = least_squares(step, step * (copy - gap))
        mixed = RELAXATION * table + (1 - RELAXATION) * copy
        before, copy = copy, project(mixed + gap)
        gap = gap + mixed - copy
        primal, dual = np.abs(table - copy).max(), np.abs(copy - before).max()
        if max(primal, dual) <= limit:
            return copy
        if balance and turn % 25 == 0:
            ratio = primal / max(dual, 1e-300)
            if not 1 / MAX_RESIDUAL_RATIO < ratio < MAX_RESIDUAL_RATIO:
                factor = np.sqrt(np.clip(ratio, 0.04, 25))
                step, gap = step * factor, gap / factor
    raise InputError(
        f"topdown: queries: the estimation did not converge in {MAX_STEPS} steps (residual "
        f"{max(primal, dual):.2g} persons). Divide the budget more evenly among the queries."
    )


def _indicators(problem: LeastSquaresProblem) -> FloatArray:
    """Compute the indicator vectors (cells, groups) of the groups that have cells."""
    group = problem.group_of_cell
    member: BoolArray = group[:, None] == np.unique(group)
    return member.astype(float)


def _first_step(values: FloatArray, both: bool) -> float:
    """Compute the geometric mean of the smallest and the largest eigenvalue.

    If the totals of the children are fixed, the largest eigenvalue has no effect and is excluded.
    """
    largest = values[-2] if both and len(values) > 1 else values[-1]
    return float(np.sqrt(values[0] * largest))


class _LeastSquares:
    """Minimiser of h'Ph/2 - b'h + step |h|^2/2 - push'h.

    The matrix P has the eigenvalues `values` and the eigenvectors `vectors`. If `both` is true, the
    minimiser has the totals of the children.
    """

    def __init__(
        self,
        problem: LeastSquaresProblem,
        values: FloatArray,
        vectors: FloatArray,
        both: bool,
    ):
        self.linear_term, self.values, self.vectors = problem.linear_term, values, vectors
        self.both, self.step = both, math.nan
        if both:
            self.inside = _indicators(problem)
            self.sums = problem.group_sums[:, np.unique(problem.group_of_cell)]

    def __call__(self, step: float, push: FloatArray) -> FloatArray:
        spread = self.values + step
        table: FloatArray = ((self.linear_term + push) @ self.vectors / spread) @ self.vectors.T
        if self.both:
            if step != self.step:
                along = ((self.inside.T @ self.vectors) / spread) @ self.vectors.T
                self.along, self.step = np.linalg.solve(along @ self.inside, along), step
            table += (self.sums - table @ self.inside) @ self.along
        return table


def _simplices(points: FloatArray, problem: LeastSquaresProblem) -> FloatArray:
    """Project onto the simplices of the cell sums, or without cell sums of the group totals."""
    if problem.cell_sums is None:
        table = np.zeros_like(points)
        for cells, sums in zip(problem.parts, problem.group_sums.T, strict=True):
            if len(cells):
                table[:, cells] = project_onto_simplices(points[:, cells].T, sums).T
        return table
    return project_onto_simplices(points, problem.cell_sums)
