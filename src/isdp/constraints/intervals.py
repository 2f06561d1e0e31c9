"""Audit of totals: the smallest and the largest count that each cell can have.

The totals and the fact that counts are not negative bound every count. The bounds under disjoint or
nested totals, and under both margins of a two-way table (Frechet bounds), have closed forms. Other
bounds are found by linear programming, and by integer programming if a solution has fractions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from isdp.checks import INT64_MAX, check_integer_array
from isdp.constraints.blocks import block_sizes, blocks_of
from isdp.constraints.factorial import find_factorial_table
from isdp.constraints.independent_parts import independent_parts
from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError

UNBOUNDED = INT64_MAX  # upper bound of a count that no total bounds
MAX_TOTAL = 2**53  # larger totals exceed the precision of HiGHS
MAX_WORK = 50_000  # maximum number of columns of all linear programs of one audit
WORK_PER_BRANCHING = 10_000  # number of columns that one run of branch and bound counts as
MAX_BRANCHING_COLUMNS = 120  # maximum number of columns for branch and bound
MAX_NODES = 500  # maximum number of nodes of a search tree; a time limit would not be reproducible
MAX_SWEEPS = 20
MAX_BOUND = 2**62
TOLERANCE = 1e-6
INFEASIBLE, SOLVED = 2, 0  # status of scipy.optimize.milp
CONTRADICTION = "intervals: no table of counts has these totals. Correct the totals"


@dataclass(frozen=True, eq=False)
class CellIntervals:
    """The smallest and the largest count of each cell under given totals.

    Attributes
    ----------
    lower, upper : int64 array, shape (cells,)
        Bounds of the counts, in persons. `UNBOUNDED` marks a count without an upper bound.
    exact : bool array, shape (cells,)
        True if some table of integers of 0 or more attains each bound. Other bounds are valid, and
        the true interval may be narrower.
    """

    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    exact: NDArray[np.bool_]


def cell_intervals(invariants: Invariants, totals: ArrayLike) -> CellIntervals:
    """Find the smallest and the largest count that each cell can have.

    Counts are integers of 0 or more. The time is linear in the number of cells for disjoint or
    nested totals and for two-way tables. The total work of the linear and integer programs is
    limited. If the limit is reached, the bounds are valid, and may be wider than necessary.

    Parameters
    ----------
    totals : int array, shape (constraints,)
        The value of each invariant, in persons.

    Raises
    ------
    InputError
        If the totals have the wrong shape, or contradict each other.

    Examples
    --------
    >>> found = cell_intervals(Invariants.margins((2, 2)), [3, 5, 6, 2])
    >>> found.lower.tolist(), found.upper.tolist()
    ([1, 0, 3, 0], [3, 2, 5, 2])
    """
    wanted = check_integer_array("intervals: totals", totals, (invariants.constraints,))
    blocks = blocks_of(invariants)
    if blocks is not None:
        return _of_blocks(invariants, blocks, wanted)
    rows = np.diff(invariants.sparse.indptr) > 0
    if wanted[~rows].any():
        raise InputError(CONTRADICTION)
    kept = np.flatnonzero(rows)
    filled = Invariants(invariants.sparse[kept], [str(row) for row in kept])
    return _of_connected(filled, wanted[kept], _Work(), parts=True)


@dataclass
class _Work:
    columns: int = MAX_WORK


def _of_blocks(
    invariants: Invariants, blocks: NDArray[np.int64], totals: NDArray[np.int64]
) -> CellIntervals:
    """Return the intervals under disjoint or nested totals: 0 to the total of the block."""
    sizes = block_sizes(blocks)
    sums = _block_totals(invariants, blocks, totals, sizes[1:])
    cells = np.append(sums, UNBOUNDED)[blocks]
    alone = (sizes[blocks + 1] == 1) & (blocks >= 0)
    return CellIntervals(np.where(alone, cells, 0), cells, np.ones(len(blocks), dtype=bool))


def _block_totals(
    invariants: Invariants,
    blocks: NDArray[np.int64],
    totals: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> NDArray[np.int64]:
    a = invariants.sparse
    length = np.diff(a.indptr)
    rows = np.flatnonzero(length)
    factors = a.data[a.indptr[rows]]
    if totals[length == 0].any() or (totals[rows] % factors).any():
        raise InputError(CONTRADICTION)
    of_row = np.zeros(len(length), dtype=np.int64)
    of_row[rows] = totals[rows] // factors
    # the blocks of each row, each once: a row contains all cells of its blocks
    _, first = np.unique(blocks, return_index=True)
    chosen = csr_array(a[:, first[blocks[first] >= 0]])
    sums = np.full(len(sizes), -1, dtype=np.int64)
    for row in rows[np.argsort(length[rows], kind="stable")].tolist():
        own = chosen.indices[chosen.indptr[row] : chosen.indptr[row + 1]]
        unknown = own[sums[own] < 0]
        rest = int(of_row[row]) - int(sums[own].sum()) - len(unknown)
        if rest < 0 or (len(unknown) == 0 and rest):
            raise InputError(CONTRADICTION)
        sums[unknown] = rest
    return sums


def _of_connected(
    invariants: Invariants, totals: NDArray[np.int64], work: _Work, parts: bool = False
) -> CellIntervals:
    """Return the intervals of cells from those of the sums over cell classes.

    With `parts`, the cells may have several connected components.
    """
    classes, first = find_cell_classes(invariants)
    sums = Invariants(invariants.sparse[:, first], invariants.names)
    found = _of_two_way_table(sums, totals)
    if found is None and parts:
        return _of_parts(invariants, totals, work)
    if found is None:
        found = _by_programs(sums, totals, work)
    lower, upper, exact = found.lower[classes], found.upper[classes], found.exact[classes]
    several = np.bincount(classes)[classes] > 1  # the other cells can have the whole sum
    return CellIntervals(np.where(several, 0, lower), upper, exact)


def _of_parts(invariants: Invariants, totals: NDArray[np.int64], work: _Work) -> CellIntervals:
    numbered = Invariants(invariants.sparse, [str(row) for row in range(invariants.constraints)])
    lower = np.zeros(invariants.cells, dtype=np.int64)
    upper = np.full(invariants.cells, UNBOUNDED)
    exact = np.ones(invariants.cells, dtype=bool)
    for cells, own in independent_parts(numbered):
        if own.constraints:
            of_part = totals[[int(name) for name in own.names]]
            found = _of_connected(own, of_part, work)
            lower[cells], upper[cells], exact[cells] = found.lower, found.upper, found.exact
    return CellIntervals(lower, upper, exact)


def _of_two_way_table(invariants: Invariants, totals: NDArray[np.int64]) -> CellIntervals | None:
    """Return the Frechet bounds, if both margins of a two-way table are held."""
    table = find_factorial_table(invariants)
    if table is None or len(table.shape) != 2 or table.is_held((0, 1)):
        return None
    margins = [np.zeros(size, dtype=np.int64) for size in table.shape]
    a = invariants.sparse
    for row, total in enumerate(totals.tolist()):
        cells = a.indices[a.indptr[row] : a.indptr[row + 1]]
        for axis, margin in enumerate(margins):
            codes = table.codes[axis, cells]
            if (codes == codes[0]).all():
                margin[codes[0]] = total
    rows, columns = margins
    grand = int(rows.sum())
    own, other = rows[table.codes[0]], columns[table.codes[1]]
    # the table by the north-west corner rule has all totals, unless they contradict each other
    some = _north_west(rows, columns)[table.codes[0], table.codes[1]]
    if min(rows.min(), columns.min()) < 0 or (invariants.apply(some) != totals).any():
        raise InputError(CONTRADICTION)
    lower, upper = np.maximum(0, own + other - grand), np.minimum(own, other)
    return CellIntervals(lower, upper, np.ones(invariants.cells, dtype=bool))


def _north_west(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a table with given margins by the north-west corner rule."""
    ends = np.cumsum(rows)[:, None], np.cumsum(columns)
    starts = ends[0] - rows[:, None], ends[1] - columns
    return np.maximum(0, np.minimum(*ends) - np.maximum(*starts))


def _by_programs(invariants: Invariants, totals: NDArray[np.int64], work: _Work) -> CellIntervals:
    """Bound each count by sweeps over the totals, and then by linear and integer programs."""
    a, cells = invariants.sparse, invariants.cells
    lower, upper = _sweep(a, totals)
    # the smallest and the largest count in the tables that were found
    seen = np.full((2, cells), -1, dtype=np.int64)
    seen[0] = UNBOUNDED
    for cell in range(cells):
        for side, sign in ((0, 1), (1, -1)):
            bound = lower if side == 0 else upper
            if seen[side, cell] == bound[cell] or not _is_small(a, totals) or work.columns <= 0:
                continue
            found, table = _optimum(a, totals, cell, sign, work)
            if found is not None:
                bound[cell] = max(bound[cell], found) if side == 0 else min(bound[cell], found)
            if table is not None:
                np.minimum(seen[0], table, out=seen[0])
                np.maximum(seen[1], table, out=seen[1])
    exact = (seen[0] == lower) & ((seen[1] == upper) | (upper == UNBOUNDED))
    return CellIntervals(lower, upper, exact)


def _is_small(a: csr_array, totals: NDArray[np.int64]) -> bool:
    return int(max(abs(totals).max(), abs(a.data).max())) < MAX_TOTAL


def _sweep(a: csr_array, totals: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bound each count by one total at a time, until no bound changes (at most 20 sweeps).

    Only totals without negative entries are used.
    """
    rows = np.repeat(np.arange(a.shape[0]), np.diff(a.indptr))
    positive = np.ones(a.shape[0], dtype=bool)
    positive[rows[a.data < 0]] = False
    chosen = positive[rows]
    rows, cells, factors = rows[chosen], a.indices[chosen], a.data[chosen]
    if totals[np.unique(rows)].min(initial=0) < 0:
        raise InputError(CONTRADICTION)
    lower, upper = np.zeros(a.shape[1], dtype=np.int64), np.full(a.shape[1], UNBOUNDED)
    np.minimum.at(upper, cells, totals[rows] // factors)
    if float(abs(totals).max()) * len(cells) > MAX_BOUND:
        return lower, upper  # the sums below could overflow
    for _ in range(MAX_SWEEPS):
        sums = np.zeros((2, a.shape[0]), dtype=np.int64)
        for sum_of, bound in zip(sums, (lower, upper), strict=True):
            np.add.at(sum_of, rows, factors * bound[cells])
        if (sums[0] > totals)[positive].any() or (sums[1] < totals)[positive].any():
            raise InputError(CONTRADICTION)
        before = lower.copy(), upper.copy()
        np.minimum.at(upper, cells, (totals - sums[0])[rows] // factors + before[0][cells])
        np.maximum.at(lower, cells, -((sums[1] - totals)[rows] // factors) + before[1][cells])
        np.maximum(lower, 0, out=lower)
        if (before[0] == lower).all() and (before[1] == upper).all():
            break
    return lower, upper


def _optimum(
    a: csr_array, totals: NDArray[np.int64], cell: int, sign: int, work: _Work
) -> tuple[int | None, NDArray[np.int64] | None]:
    """Minimize (sign 1) or maximize (sign -1) a count.

    Returns
    -------
    int or None
        A proved bound of the count, or None if there is none.
    int64 array, shape (cells,), or None
        A table with these totals.
    """
    columns = a.shape[1]
    cost = np.zeros(columns)
    cost[cell] = sign
    bound: int | None = None
    for integer in (False, True):
        if integer and (columns > MAX_BRANCHING_COLUMNS or work.columns <= 0):
            break
        work.columns -= WORK_PER_BRANCHING if integer else columns
        found = scipy.optimize.milp(
            cost,
            constraints=scipy.optimize.LinearConstraint(a.astype(float), totals, totals),
            integrality=np.full(columns, integer),
            options={"node_limit": MAX_NODES},
        )
        if found.status == INFEASIBLE:
            raise InputError(CONTRADICTION)
        value = found.mip_dual_bound if integer else found.fun
        if value is not None and math.isfinite(value):
            slack = TOLERANCE * max(1.0, abs(value) * TOLERANCE)
            bound = math.ceil(value - slack) if sign == 1 else math.floor(-value + slack)
        if found.status == SOLVED:
            table = np.round(found.x).astype(np.int64)
            near = abs(found.x - table).max() < TOLERANCE * max(1.0, abs(found.x).max())
            if near and table.min() >= 0 and not (a @ table != totals).any():
                return bound, table
    return bound, None
