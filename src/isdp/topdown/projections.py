"""Projections onto nonnegative tables with given sums, in the l2 norm."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isdp.arrays import BoolArray, FloatArray
from isdp.errors import InputError

MAX_STEPS = 200  # maximum number of Newton steps
ARMIJO = 1e-4  # minimum decrease in the line search, as a share of the linear decrease
MARGIN_TOLERANCE = 1e-12  # maximum error of the sums, relative to the total
REFINED_TOLERANCE = 1e-3  # maximum residual of a row or column sum after refinement, in persons


def project_onto_simplices(points: ArrayLike, totals: ArrayLike) -> FloatArray:
    """Project each column onto the simplex of nonnegative vectors with a given sum.

    The projection subtracts one number from all entries and replaces negative entries by zero.
    Sorting gives the number of positive entries. The projection of an entry of minus infinity is
    zero. Raise `InputError` if all entries of a column with a positive total are minus infinity.
    """
    points = np.asarray(points, dtype=float)
    totals = np.asarray(totals, dtype=float)
    some, top = totals > 0, points.max(axis=0)
    nowhere = np.isneginf(top)
    if nowhere.any():
        if some[nowhere].any():
            raise InputError(
                "topdown: totals: a positive total has no cell that may be positive. Correct the "
                "total or the allowed cells."
            )
        top = np.where(nowhere, 0, top)
    centred = points - top  # centring keeps the digits of large counts in the sums
    down = -np.sort(-centred, axis=0)
    rank = np.arange(1, len(points) + 1)[:, None]
    taken = (np.cumsum(down, axis=0) - totals) / rank
    last = len(points) - 1 - (down > taken)[::-1].argmax(axis=0)  # the last positive entry
    shift = np.where(some, taken[last, np.arange(len(top))], 0.0)
    return np.where(some, np.maximum(centred - shift, 0), 0.0)


def project_onto_transportation_polytope(
    points: ArrayLike, rows: ArrayLike, columns: ArrayLike
) -> FloatArray:
    """Project a table onto the nonnegative tables with given row and column sums.

    Entry (j, x) of the solution is max(0, point + a_j + b_x). The multipliers a and b maximise a
    concave piecewise quadratic dual function. A semismooth Newton method with a line search
    computes them. The linear systems of the method have the size of the shorter side of the table.

    The projection of an entry of minus infinity is zero. The error of a sum is at most 1e-12 of the
    total and at most 1e-3 persons, apart from rounding errors. Raise `InputError` if the totals of
    the sums differ, or no table has the sums.
    """
    points = np.asarray(points, dtype=float)
    rows, columns = np.asarray(rows, dtype=float), np.asarray(columns, dtype=float)
    if rows.sum() != columns.sum() or min(rows.min(), columns.min()) < 0:
        raise InputError(
            "topdown: rows, columns: the sums must be 0 or more and have the same total. Correct "
            "the sums."
        )
    result: FloatArray = np.zeros(points.shape)
    some = np.ix_(rows > 0, columns > 0)
    if rows.sum() == 0:
        return result
    wide = points[some].shape[0] <= points[some].shape[1]
    sides = (rows[rows > 0], columns[columns > 0])
    if wide:
        result[some] = _newton(points[some], *sides)
    else:
        result[some] = _newton(points[some].T, *sides[::-1]).T
    return result


def _newton(points: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Solve the problem for positive sums and at most as many rows as columns."""
    rounding = 64 * np.finfo(float).eps * max(rows.max(), columns.max())
    tolerance = MARGIN_TOLERANCE * rows.sum() + rounding
    a, b = np.zeros(len(rows)), _column_start(points, columns)
    table = np.maximum(0, points + a[:, None] + b)
    for _ in range(MAX_STEPS):
        short, narrow = rows - table.sum(axis=1), columns - table.sum(axis=0)
        if max(np.abs(short).max(), np.abs(narrow).max()) <= tolerance:
            return _settle(table, rows, columns)
        step = _newton_step(table > 0, short, narrow)
        moved = _line_search(points, rows, columns, (a, b), step)
        if moved is None:
            break
        a, b, table = moved
    worst = max(np.abs(short).max(), np.abs(narrow).max())
    if worst <= 1e-9 * rows.sum():  # rounding errors can have this size
        return _settle(table, rows, columns)
    raise InputError(
        "topdown: rows, columns: no nonnegative table on the allowed cells has these sums. Correct "
        "the sums or the allowed cells."
    )


def _settle(table: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Correct the residuals of large sums by changes of the positive entries.

    The integer parts are summed exactly, so only the fractional parts have rounding errors.
    """
    integers = np.rint(table)
    rest = table - integers
    rows, columns = rows - integers.sum(axis=1), columns - integers.sum(axis=0)
    for _ in range(MAX_STEPS):
        short, narrow = rows - rest.sum(axis=1), columns - rest.sum(axis=0)
        if max(np.abs(short).max(), np.abs(narrow).max()) <= REFINED_TOLERANCE:
            break
        support = integers + rest > 0
        da, db = _newton_step(support, short, narrow)
        rest = np.where(support, np.maximum(rest + da[:, None] + db, -integers), rest)
    return integers + rest


def _column_start(points: FloatArray, columns: FloatArray) -> FloatArray:
    """Compute the multipliers b that satisfy the column sums for a = 0."""
    finite = np.where(np.isfinite(points), points, points[np.isfinite(points)].min() - 1)
    projected = project_onto_simplices(finite, columns)
    largest = projected.argmax(axis=0), np.arange(len(columns))
    return np.asarray(projected[largest] - finite[largest])


def _newton_step(
    support: BoolArray, short: FloatArray, narrow: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Solve the Newton equations [D_r S; S' D_c] (da, db) = (short, narrow).

    The matrix S marks the positive entries. The diagonal matrices D_r and D_c have their numbers in
    the rows and the columns. The Schur complement reduces the system to the rows. A small ridge
    makes it regular if S has several connected components, or an empty row or column.
    """
    s = support.astype(float)
    ridge = 1e-10
    down = s.sum(axis=1) + ridge
    across = s.sum(axis=0) + ridge
    scaled = s / across
    schur = np.diag(down) - scaled @ s.T
    schur[np.diag_indices_from(schur)] += ridge * down
    da = np.linalg.solve(schur, short - scaled @ narrow)
    db = (narrow - s.T @ da) / across
    return da, db


def _line_search(
    points: FloatArray,
    rows: FloatArray,
    columns: FloatArray,
    place: tuple[FloatArray, FloatArray],
    step: tuple[FloatArray, FloatArray],
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Halve the step until the negative dual function decreases enough, or return None."""

    def dual(a: FloatArray, b: FloatArray) -> tuple[float, FloatArray]:
        table = np.maximum(0, points + a[:, None] + b)
        value = 0.5 * np.einsum("jx,jx->", table, table) - a @ rows - b @ columns
        return float(value), table

    (a, b), (da, db) = place, step
    here, table = dual(a, b)
    slope = (table.sum(axis=1) - rows) @ da + (table.sum(axis=0) - columns) @ db
    noise = 1e-13 * abs(here)  # bound on the rounding error of the dual function
    length = 1.0
    while length > 1e-12:
        there, table = dual(a + length * da, b + length * db)
        if there <= here + ARMIJO * length * slope + noise:
            return a + length * da, b + length * db, table
        length /= 2
    return None
