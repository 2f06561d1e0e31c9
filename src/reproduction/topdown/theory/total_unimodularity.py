"""Tests of total unimodularity: every square submatrix has determinant -1, 0 or 1.

Linear programmes over a totally unimodular matrix have whole vertices for all whole right sides. A
result is either proved, by structure or by enumeration of sets of columns, or refuted by a
submatrix with another determinant. A failed search for a fractional vertex proves nothing.
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

MAX_ENUMERATED = 14  # rows or columns whose sets are enumerated
N_COLUMN_SETS = 20  # random sets of columns in a larger matrix
COUNT_BOUNDS = (2, 5, 20)  # upper bounds of the counts in the search's tables
N_TRIALS = 900  # linear programmes in the search for a fractional vertex
N_LAST_TRIALS = 9000  # as the last method
TRIALS_PER_PROGRAMME = 25  # solved as one programme
MIN_FRACTION = 1e-6


@dataclass(frozen=True)
class UnimodularityResult:
    """Answer and proof.

    `unimodular` is None without a proof or a counterexample. `rows`, `columns` and `determinant`
    are those of a submatrix with a determinant other than -1, 0, 1, or empty and 0.
    """

    unimodular: bool | None
    reason: str
    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    determinant: int = 0


def totally_unimodular(rng: np.random.Generator, matrix) -> UnimodularityResult:
    """Decide whether an integer matrix is totally unimodular, or return that it is undecided.

    The generator is for the search for a counterexample.
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
    if min(core.shape) > MAX_ENUMERATED:
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
    """Enumerate sets of randomly drawn columns, in a matrix too large for all columns."""
    for _ in range(N_COLUMN_SETS):
        some = np.sort(rng.choice(columns, MAX_ENUMERATED - 2, replace=False))
        found = _nonsingular_even_part(matrix[np.ix_(rows, some)])
        if found:
            place = rows[found[0]], some[found[1]]
            return _refuted("a square part with even rows", matrix, *place)
    return None


def whole_vertices(
    rng: np.random.Generator, matrix, proof: UnimodularityResult | None = None
) -> UnimodularityResult:
    """Decide whether {x >= 0: A x = b} has only whole vertices for every whole b.

    Total unimodularity is sufficient but not necessary: rows of two variables make one the
    complement of the other, and only the matrix after their substitution must have the property.
    `proof` is from `totally_unimodular`, if known.
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
    found = find_minor(rng, matrix, drop=False, trials=N_LAST_TRIALS)
    return found or UnimodularityResult(None, "neither proof nor counterexample found")


def _whole(matrix) -> np.ndarray:
    matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.dtype.kind not in "iu":
        raise InputError("unimodularity: matrix: must be a matrix of whole numbers")
    return matrix.astype(np.int64)


def core_of(matrix) -> tuple[np.ndarray, np.ndarray]:
    """Find the rows and columns that determine total unimodularity, by number.

    Rows and columns with at most one entry are removed, and repetitions up to their sign.
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
    """Substitute equations of one or two variables, with entries of 1 or -1, in all others.

    An equation of one variable fixes it. An equation of two variables removes one and leaves a
    bound on the other, which is a row with one entry.
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
    """Return True if the rows, as sets of columns, split into two families without crossing sets.

    Sets of a family are disjoint or nested. Two sets that cross must be in different families, so
    that the graph of crossings must have two colours.
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
    rng: np.random.Generator, matrix, *, drop: bool, trials: int = N_TRIALS
) -> UnimodularityResult | None:
    """Search for a submatrix with another determinant through fractional vertices.

    A vertex of {x >= 0: A x = b} with whole b solves a square system on its fractional entries,
    whose determinant then cannot be -1 or 1 (Cramer's rule). The determinant is exact. With `drop`
    the search starts from tables of halves and removes the rows that are not whole on them, which
    finds submatrices that the whole system hides. `trials` is the number of programmes.
    """
    matrix = np.asarray(matrix, dtype=np.int64)
    for first in range(0, trials, TRIALS_PER_PROGRAMME):
        some = range(first, min(first + TRIALS_PER_PROGRAMME, trials))
        largest = [COUNT_BOUNDS[trial % len(COUNT_BOUNDS)] for trial in some]
        tables = [rng.integers(0, n, matrix.shape[1]) / (2 if drop else 1) for n in largest]
        for kept, x in _vertices(rng, matrix, tables):
            columns = np.flatnonzero(np.abs(x - np.rint(x)) > MIN_FRACTION)
            if len(columns):
                rows = kept[_independent_rows(matrix[np.ix_(kept, columns)])]
                if len(rows) == len(columns):
                    return _refuted("a square part at a fractional vertex", matrix, rows, columns)
    return None


def _vertices(rng: np.random.Generator, matrix, tables) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield a vertex with the same sums as each table, and the rows whose sums are whole.

    All tables form one programme in blocks, because its setup takes longer than its solution. The
    optimum is a vertex in each block, which is unique for costs from a continuous distribution.
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
    """Return the first rows that are independent of those before them, exactly."""
    return pivot_columns(part.T).tolist()


def _nonsingular_even_part(core) -> tuple[list[int], list[int]] | None:
    """Enumerate sets of columns; return rows and columns of a nonsingular even submatrix.

    A matrix that is not totally unimodular has a nonsingular square submatrix whose rows all have
    even sums. Each set of columns is therefore tried with all rows that are even on it.
    """
    for size in range(2, core.shape[1] + 1):
        for columns in combinations(range(core.shape[1]), size):
            on = core[:, columns]
            rows = np.flatnonzero((on.sum(axis=1) % 2 == 0) & on.any(axis=1))
            if len(rows) >= size and np.linalg.matrix_rank(on[rows]) == size:
                return [int(rows[i]) for i in _independent_rows(on[rows])], list(columns)
    return None
