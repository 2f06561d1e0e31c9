"""Whether every square part of a constraint matrix has determinant -1, 0 or 1, and the proof.

Linear programmes over such a matrix (totally unimodular) have whole vertices for all whole right
sides. An answer is either proved, by structure or by going through all sets of columns, or refuted
by a square part with another determinant. That no fractional vertex was found proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy
from flint import fmpz_mat
from scipy.sparse import block_diag

from isdp.errors import InputError
from isdp.lattice.elimination import pivot_columns

MOST_LISTED = 14  # rows or columns of which all sets are gone through
DRAWN = 20  # sets of columns, in a matrix with too many for all
LARGEST = (2, 5, 20)  # counts of the tables that the search starts from, below these
TRIALS = 900  # linear programmes in search of a fractional vertex
MORE_TRIALS = 9000  # where nothing else is left to try
AT_ONCE = 25  # of them, solved as one
FRACTION = 1e-6


@dataclass(frozen=True)
class UnimodularityResult:
    """Answer and proof.

    Attributes
    ----------
    unimodular : bool or None
        None if neither proof nor counterexample was found.
    rows, columns : tuple of int
        Of a square part with another determinant than -1, 0, 1; empty otherwise.
    determinant : int
        Of that part, or 0.
    """

    unimodular: bool | None
    reason: str
    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    determinant: int = 0


def totally_unimodular(rng: np.random.Generator, matrix) -> UnimodularityResult:
    """Decide whether a matrix is totally unimodular, or say that it stays open.

    Parameters
    ----------
    rng : numpy.random.Generator
        For the search for a counterexample.
    matrix : int array, shape (rows, columns)
    """
    matrix = _whole(matrix)
    large = np.argwhere(np.abs(matrix) > 1)
    if len(large):
        row, column = (int(i) for i in large[0])
        return UnimodularityResult(False, "an entry", (row,), (column,), int(matrix[row, column]))
    rows, columns = core_of(matrix)
    core = matrix[np.ix_(rows, columns)]
    if two_laminar_families(core):
        return UnimodularityResult(
            True, "its rows are two laminar families (a network; Edmonds 1970)"
        )
    if min(core.shape) > MOST_LISTED:
        found = find_minor(rng, matrix, drop=True) or _even_part_of_some(rng, matrix, rows, columns)
        return found or UnimodularityResult(None, "neither proof nor counterexample found")
    wide = len(core) < core.shape[1]
    found = _nonsingular_even_part(core.T if wide else core)
    if found is None:
        return UnimodularityResult(True, "all its parts with even rows are singular (Camion 1965)")
    part = found[::-1] if wide else found
    return _refuted("a square part with even rows", matrix, rows[part[0]], columns[part[1]])


def _even_part_of_some(
    rng: np.random.Generator, matrix, rows, columns
) -> UnimodularityResult | None:
    """Go through all sets of some columns, drawn at random, in a matrix too large for all."""
    for _ in range(DRAWN):
        some = np.sort(rng.choice(columns, MOST_LISTED - 2, replace=False))
        found = _nonsingular_even_part(matrix[np.ix_(rows, some)])
        if found:
            place = rows[found[0]], some[found[1]]
            return _refuted("a square part with even rows", matrix, *place)
    return None


def whole_vertices(
    rng: np.random.Generator, matrix, proof: UnimodularityResult | None = None
) -> UnimodularityResult:
    """Decide whether {x >= 0: A x = b} has only whole vertices for every whole b.

    Total unimodularity is enough for it but not needed: rows of two variables make one the other's
    complement, and only what is left once they are put into the others has to be so.

    Parameters
    ----------
    matrix : int array, shape (rows, columns)
    proof : UnimodularityResult, optional
        From `totally_unimodular`, where it has been asked already.
    """
    matrix = _whole(matrix)
    proof = proof or totally_unimodular(rng, matrix)
    if proof.unimodular:
        return UnimodularityResult(True, f"totally unimodular: {proof.reason}")
    proof = totally_unimodular(rng, without_short_rows(matrix))
    if proof.unimodular:
        return UnimodularityResult(
            True, f"once rows of one or two cells are put into the others: {proof.reason}"
        )
    found = find_minor(rng, matrix, drop=False, trials=MORE_TRIALS)
    return found or UnimodularityResult(None, "neither proof nor counterexample found")


def _whole(matrix) -> np.ndarray:
    matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.dtype.kind not in "iu":
        raise InputError("unimodularity: a matrix of whole numbers is needed")
    return matrix.astype(np.int64)


def core_of(matrix) -> tuple[np.ndarray, np.ndarray]:
    """Find the rows and columns that decide; the others cannot matter.

    Rows and columns with at most one entry are left out, and repetitions up to their sign.

    Returns
    -------
    rows, columns : int array
        Numbers of those that stay.
    """
    sides = [np.arange(size) for size in matrix.shape]
    while True:
        before = [len(side) for side in sides]
        for axis in (0, 1):
            lines = matrix[np.ix_(*sides)]
            lines = lines if axis == 0 else lines.T
            kept = np.flatnonzero(np.count_nonzero(lines, axis=1) > 1)
            if len(kept):
                lines = lines[kept]
                lead = np.take_along_axis(lines, (lines != 0).argmax(axis=1)[:, None], axis=1)
                _, first = np.unique(lines * lead, axis=0, return_index=True)
                kept = kept[np.sort(first)]
            sides[axis] = sides[axis][kept]
        if [len(side) for side in sides] == before:
            return sides[0], sides[1]


def without_short_rows(matrix) -> np.ndarray:
    """Put equations of one or two variables, with entries of 1 or -1, into all the others.

    One variable is fixed by it; of two, the one that goes leaves a bound on the one that stays,
    which is a row with one entry.
    """
    matrix = np.array(matrix, dtype=np.int64)
    while matrix.size:
        length = np.count_nonzero(matrix, axis=1)
        short = np.flatnonzero(
            (length > 0) & (length <= 2) & (np.abs(matrix).max(axis=1, initial=0) == 1)
        )
        if not len(short):
            break
        row = matrix[short[0]]
        out, *stays = np.flatnonzero(row)
        for other in stays:
            matrix[:, other] -= matrix[:, out] * row[out] * row[other]
        matrix = np.delete(np.delete(matrix, short[0], axis=0), out, axis=1)
    return matrix


def two_laminar_families(matrix) -> bool:
    """Whether the rows, as sets of columns, split into two families without crossing sets.

    Sets of a family are disjoint or nested. Two sets that cross must go to different families, so
    it is the question whether the graph of crossings has two colours.
    """
    matrix = np.asarray(matrix)
    if not matrix.size:
        return True
    if matrix.min() < 0:
        return False
    shared = matrix @ matrix.T
    size = np.diagonal(shared)
    crossing = (shared > 0) & (shared < size[:, None]) & (shared < size[None, :])
    colour = np.zeros(len(matrix), dtype=int)
    for start in range(len(matrix)):
        if colour[start]:
            continue
        colour[start], todo = 1, [start]
        while todo:
            row = todo.pop()
            for other in np.flatnonzero(crossing[row]):
                if colour[other] == colour[row]:
                    return False
                if not colour[other]:
                    colour[other] = -colour[row]
                    todo.append(int(other))
    return True


def find_minor(
    rng: np.random.Generator, matrix, *, drop: bool, trials: int = TRIALS
) -> UnimodularityResult | None:
    """Look for a square part with another determinant through fractional vertices.

    A vertex of {x >= 0: A x = b} with whole b solves a square system on its fractional entries,
    whose determinant then cannot be -1 or 1 (Cramer's rule). The determinant is exact.

    Parameters
    ----------
    matrix : int array, shape (rows, columns)
    drop : bool
        Start from tables of halves and leave out the rows that are not whole on them, which finds
        parts that the whole system hides.
    trials : int
        Programmes to solve before giving up.
    """
    matrix = np.asarray(matrix, dtype=np.int64)
    for first in range(0, trials, AT_ONCE):
        some = range(first, min(first + AT_ONCE, trials))
        largest = [LARGEST[trial % len(LARGEST)] for trial in some]
        tables = [rng.integers(0, n, matrix.shape[1]) / (2 if drop else 1) for n in largest]
        for kept, x in _vertices(rng, matrix, tables):
            columns = np.flatnonzero(np.abs(x - np.rint(x)) > FRACTION)
            if len(columns):
                rows = kept[_independent_rows(matrix[np.ix_(kept, columns)])]
                if len(rows) == len(columns):
                    return _refuted("a square part at a fractional vertex", matrix, rows, columns)
    return None


def _vertices(rng: np.random.Generator, matrix, tables) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Give a vertex with the same sums as each table, and the rows whose sums are whole.

    One programme in blocks: to set one up takes longer than to solve it. Its optimum is a vertex in
    each block, as costs drawn from a continuous law leave each block only one.
    """
    kept = [np.flatnonzero(np.mod(matrix @ table, 1) == 0) for table in tables]
    found = scipy.optimize.linprog(
        rng.normal(size=matrix.shape[1] * len(tables)),
        A_eq=block_diag([matrix[rows] for rows in kept], format="csc"),
        b_eq=np.concatenate(
            [matrix[rows] @ table for rows, table in zip(kept, tables, strict=True)]
        ),
        bounds=[(0, np.ceil(table.max()) + 1) for table in tables for _ in table],
        method="highs-ds",
    )
    if found.status == 0:
        yield from zip(kept, found.x.reshape(len(tables), -1), strict=True)


def _refuted(reason: str, matrix, rows, columns) -> UnimodularityResult:
    determinant = int(fmpz_mat(matrix[np.ix_(rows, columns)].tolist()).det())
    return UnimodularityResult(
        False, reason, tuple(rows.tolist()), tuple(columns.tolist()), determinant
    )


def _independent_rows(part) -> list[int]:
    """First rows that are independent of those before them, exactly."""
    return pivot_columns(part.T).tolist()


def _nonsingular_even_part(core) -> tuple[list[int], list[int]] | None:
    """Go through all sets of columns; give rows and columns of a part that is not singular.

    A matrix that is not totally unimodular has a nonsingular square part whose rows all have even
    sums. So each set of columns is tried with all the rows that are even on it.
    """
    for size in range(2, core.shape[1] + 1):
        for columns in combinations(range(core.shape[1]), size):
            on = core[:, columns]
            rows = np.flatnonzero((on.sum(axis=1) % 2 == 0) & on.any(axis=1))
            if len(rows) >= size and np.linalg.matrix_rank(on[rows]) == size:
                return [int(rows[i]) for i in _independent_rows(on[rows])], list(columns)
    return None
