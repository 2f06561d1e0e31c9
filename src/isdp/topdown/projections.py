"""Nearest non-negative tables, in the l2 norm, that have given sums."""

from __future__ import annotations

import numpy as np

from isdp.errors import InputError

MOST_STEPS = 200
ARMIJO = 1e-4
RELATIVE = 1e-12  # of the total: how far a margin may be off
NOTABLE = 1e-3  # persons: a margin off by more is mended apart from the whole numbers


def project_onto_simplices(points, totals) -> np.ndarray:
    """Project each column onto the non-negative vectors of a given sum.

    The projection takes the same from every entry and cuts at zero. Sorting finds how many
    entries stay positive.

    Parameters
    ----------
    points : float array, shape (entries, columns)
        An entry of minus infinity is held at zero.
    totals : array, shape (columns,)
        From 0 up.

    Returns
    -------
    float64 array, shape (entries, columns)

    Raises
    ------
    InputError
        If all entries of a column with a positive total are held at zero.
    """
    points = np.asarray(points, dtype=float)
    totals = np.asarray(totals, dtype=float)
    some, top = totals > 0, points.max(axis=0)
    nowhere = np.isneginf(top)
    if nowhere.any():
        if some[nowhere].any():
            raise InputError("topdown: a total is to be split among no cells at all")
        top = np.where(nowhere, 0, top)
    centred = points - top  # large counts would cost digits in the sums
    down = -np.sort(-centred, axis=0)
    rank = np.arange(1, len(points) + 1)[:, None]
    taken = (np.cumsum(down, axis=0) - totals) / rank
    last = len(points) - 1 - (down > taken)[::-1].argmax(axis=0)  # the last of the positive entries
    shift = np.where(some, taken[last, np.arange(len(top))], 0.0)
    return np.where(some, np.maximum(centred - shift, 0), 0.0)


def project_onto_transportation_polytope(points, rows, columns) -> np.ndarray:
    """Project a table onto the non-negative tables with given row and column sums.

    The solution is max(0, points + a_j + b_x). The multipliers a and b maximise a concave
    function that is quadratic in pieces; a semismooth Newton method with a line search finds them,
    its linear systems reduced to the shorter side of the table.

    Parameters
    ----------
    points : float array, shape (rows, columns)
        An entry of minus infinity forbids a cell.
    rows, columns : array
        Sums, from 0 up, of the same total.

    Returns
    -------
    float64 array, shape (rows, columns)
        Its sums are off by at most 1e-12 of the total or 1e-3, and rounding errors of its entries.

    Raises
    ------
    InputError
        If the sums do not fit together, or no table has them.
    """
    points = np.asarray(points, dtype=float)
    rows, columns = np.asarray(rows, dtype=float), np.asarray(columns, dtype=float)
    if rows.sum() != columns.sum() or min(rows.min(), columns.min()) < 0:
        raise InputError(
            f"topdown: the sums of rows ({rows.sum():.0f}) and of columns ({columns.sum():.0f}) "
            f"do not fit together"
        )
    result = np.zeros(points.shape)
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


def _newton(points, rows, columns) -> np.ndarray:
    """Solve with at most as many rows as columns, all sums positive."""
    tolerance = RELATIVE * rows.sum() + 64 * np.finfo(float).eps * max(rows.max(), columns.max())
    a, b = np.zeros(len(rows)), _column_start(points, columns)
    table = np.maximum(0, points + a[:, None] + b)
    for _ in range(MOST_STEPS):
        short, narrow = rows - table.sum(axis=1), columns - table.sum(axis=0)
        if max(np.abs(short).max(), np.abs(narrow).max()) <= tolerance:
            return _settle(table, rows, columns)
        step = _newton_step(table > 0, short, narrow)
        moved = _line_search(points, rows, columns, (a, b), step)
        if moved is None:
            break
        a, b, table = moved
    worst = max(np.abs(short).max(), np.abs(narrow).max())
    if worst <= 1e-9 * rows.sum():  # as near as the rounding errors let it come
        return _settle(table, rows, columns)
    raise InputError("topdown: no non-negative table has these sums in the cells that are allowed")


def _settle(table, rows, columns):
    """Share out what a total of many digits leaves lacking, on the entries above zero.

    Whole numbers are summed exactly; only what the entries have beside them is rounded.
    """
    whole = np.rint(table)
    rest = table - whole
    rows, columns = rows - whole.sum(axis=1), columns - whole.sum(axis=0)
    for _ in range(MOST_STEPS):
        short, narrow = rows - rest.sum(axis=1), columns - rest.sum(axis=0)
        if max(np.abs(short).max(), np.abs(narrow).max()) <= NOTABLE:
            break
        support = whole + rest > 0
        da, db = _newton_step(support, short, narrow)
        rest = np.where(support, np.maximum(rest + da[:, None] + db, -whole), rest)
    return whole + rest


def _column_start(points, columns):
    """Multipliers that meet the column sums with a = 0, up to the order of the sums."""
    finite = np.where(np.isfinite(points), points, points[np.isfinite(points)].min() - 1)
    projected = project_onto_simplices(finite, columns)
    at = projected.argmax(axis=0), np.arange(len(columns))
    return projected[at] - finite[at]


def _newton_step(support, short, narrow):
    """Step in the multipliers from the equations on the support.

    They read [D_r S; S' D_c] (a, b) = (short, narrow); the small ridge picks a solution where a
    part of the table may shift against another, and where a row or column is empty.
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


def _line_search(points, rows, columns, place, step):
    """Halve the step until the dual function falls enough."""

    def dual(a, b):
        table = np.maximum(0, points + a[:, None] + b)
        return 0.5 * np.einsum("jx,jx->", table, table) - a @ rows - b @ columns, table

    (a, b), (da, db) = place, step
    here, table = dual(a, b)
    slope = (table.sum(axis=1) - rows) @ da + (table.sum(axis=0) - columns) @ db
    noise = 1e-13 * abs(here)  # below it a fall cannot be told
    length = 1.0
    while length > 1e-12:
        there, table = dual(a + length * da, b + length * db)
        if there <= here + ARMIJO * length * slope + noise:
            return a + length * da, b + length * db, table
        length /= 2
    return None
