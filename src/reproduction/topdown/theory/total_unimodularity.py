"""Tests of total unimodularity.

A matrix is totally unimodular if every square submatrix has determinant -1, 0 or 1. A linear
programme over this matrix then has integer vertices for all integer right-hand sides. The property
is proved by structure or by enumeration of column sets. It is refuted by a submatrix with another
determinant. A search that finds no fractional vertex proves nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy
from flint import fmpz_mat
from scipy.sparse import block_diag
from scipy.sparse.csgraph import connected_components

from isdp.lattice.elimination import pivot_columns

MAX_ENUMERATED = 14  # The maximum number of rows or columns for an enumeration of column sets.

COUNT_BOUNDS = (2, 5, 20)  # The exclusive upper bounds of the counts in the random tables.
N_TRIALS = 900  # The number of linear programs in a search for a fractional vertex.
N_LAST_TRIALS = 9000  # The number of linear programs in the last search.
TRIALS_PER_PROGRAMME = 25  # The number of linear programs that are solved together.
MIN_FRACTION = 1e-6  # The minimum distance of a fractional value from the nearest integer.


@dataclass(frozen=True)
class UnimodularityResult:
    """The answer to a question about a matrix, with its proof.

    `unimodular` is None if there is neither a proof nor a counterexample. A counterexample is the
    submatrix of `rows` and `columns`, whose `determinant` is not -1, 0 or 1.
    """

    unimodular: bool | None
    reason: str
    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    determinant: int = 0


def totally_unimodular(rng: np.random.Generator, matrix: np.ndarray) -> UnimodularityResult:
    """Prove or refute that an integer matrix is totally unimodular.

    The search for a counterexample is random.
    """
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
        found = find_minor(rng, matrix, drop=True)
        return found or UnimodularityResult(None, "neither proof nor counterexample found")
    wide = len(core) < core.shape[1]
    found = _nonsingular_even_part(core.T if wide else core)
    if found is None:
        return UnimodularityResult(True, "all its parts with even rows are singular (Camion 1965)")
    part = found[::-1] if wide else found
    return _refuted("a square part with even rows", matrix, rows[part[0]], columns[part[1]])


def whole_vertices(
    rng: np.random.Generator, matrix: np.ndarray, proof: UnimodularityResult | None = None
) -> UnimodularityResult:
    """Prove or refute that {x >= 0: A x = b} has only integer vertices for every integer b.

    Total unimodularity is sufficient but not necessary. An equation of two variables determines one
    of them from the other. After the substitution of all these equations, total unimodularity of
    the matrix is sufficient. `proof` is the result of `totally_unimodular`, if known.
    """
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


def core_of(matrix) -> tuple[np.ndarray, np.ndarray]:
    """Find the indices of the rows and columns that determine total unimodularity.

    Rows and columns with at most one non-zero entry are removed. If several rows or columns are
    equal up to their sign, one of them is kept.
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
    """Substitute the equations of one or two variables in all other equations.

    Only equations with the coefficients 1 and -1 are substituted. An equation of one variable fixes
    it. An equation of two variables removes one of them and leaves a bound on the other.
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
    """Return True if the rows are the union of two laminar families of column sets.

    The sets of a laminar family are disjoint or nested. Two sets that overlap without nesting are
    in different families. Two families therefore exist if the graph of these overlaps can be
    coloured in two colours.
    """
    if not matrix.size:
        return True
    if matrix.min() < 0:
        return False
    shared = matrix @ matrix.T
    size = np.diagonal(shared)
    crossing = (shared > 0) & (shared < size[:, None]) & (shared < size[None, :])
    # A graph has two colours if its bipartite double cover has twice its number of components.
    cover = np.kron([[0, 1], [1, 0]], crossing)
    return bool(connected_components(cover)[0] == 2 * connected_components(crossing)[0])


def find_minor(
    rng: np.random.Generator, matrix, *, drop: bool, trials: int = N_TRIALS
) -> UnimodularityResult | None:
    """Search for a fractional vertex, and return the submatrix that makes it fractional.

    A vertex of {x >= 0: A x = b} with an integer b solves a square system on its fractional
    entries. By Cramer's rule, the determinant of this system is not -1 or 1. With `drop`, the
    search starts from tables of multiples of one half, and drops the rows with fractional sums.
    """
    for first in range(0, trials, TRIALS_PER_PROGRAMME):
        some = range(first, min(first + TRIALS_PER_PROGRAMME, trials))
        largest = [COUNT_BOUNDS[trial % len(COUNT_BOUNDS)] for trial in some]
        tables = [rng.integers(0, n, matrix.shape[1]) / (2 if drop else 1) for n in largest]
        for kept, x in _vertices(rng, matrix, tables):
            columns = np.flatnonzero(np.abs(x - np.rint(x)) > MIN_FRACTION)
            if len(columns):
                rows = kept[pivot_columns(matrix[np.ix_(kept, columns)].T)]
                if len(rows) == len(columns):
                    return _refuted("a square part at a fractional vertex", matrix, rows, columns)
    return None


def _vertices(rng: np.random.Generator, matrix, tables) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, for each table, the rows with integer sums and a random vertex with the same sums.

    All tables are blocks of one linear program, because its setup takes longer than its solution.
    The costs have a continuous distribution, so that each block has one optimal vertex.
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


def _nonsingular_even_part(core) -> tuple[list[int], list[int]] | None:
    """Find a nonsingular square submatrix whose row sums are all even.

    A matrix that is not totally unimodular has a submatrix of this kind (Camion 1965). All sets of
    columns are enumerated, each with all rows whose sums are even.
    """
    for size in range(2, core.shape[1] + 1):
        for columns in combinations(range(core.shape[1]), size):
            on = core[:, columns]
            rows = np.flatnonzero((on.sum(axis=1) % 2 == 0) & on.any(axis=1))
            if len(rows) >= size and np.linalg.matrix_rank(on[rows]) == size:
                return rows[pivot_columns(on[rows].T)].tolist(), list(columns)
    return None
