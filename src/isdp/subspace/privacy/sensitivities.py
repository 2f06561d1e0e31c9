"""Sensitivities of queries in the l1 and l2 norms, with and without invariants."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.sparse import csc_array, csr_array, eye_array, vstack

from isdp.arrays import FloatArray, IntArray
from isdp.checks import check_choice
from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError
from isdp.lattice.elimination import independent_rows
from isdp.subspace.null_space import null_space
from isdp.subspace.privacy.neighbours import (
    Relation,
    neighbour_pairs,
    query_columns,
    representative_types,
)
from isdp.subspace.queries import Query

CHUNK_SIZE = 256  # number of record types in a block of a distance matrix
MAX_ENTRIES = 50_000_000  # maximum number of entries of a matrix of coordinates
MAX_PROGRAMMES = 3_000  # maximum number of linear programs
MAX_SORTED_TYPES = 3_000  # maximum number of record types of which all pairs are sorted
DUALITY_TOLERANCE = 1e-7  # maximum relative gap between a linear program and its dual


def sensitivity(query: Query, p: Literal[1, 2], relation: Relation = "replace") -> float:
    """Compute Delta_p(A), the maximum lp norm of a difference of the answers (SDP, Section 3.3)."""
    check_choice("subspace: p", p, (1, 2))
    chosen = representative_types(query, None, relation)
    columns = query_columns(query, relation)[:, chosen]
    return _max_distance(_used_rows(columns).T, p, relation)


def null_sensitivity(query: Query, invariants: Invariants, relation: Relation = "replace") -> float:
    """Compute Delta_2(Q'A), the maximum l2 norm of a difference within the null space.

    The l2 sensitivity does not depend on the basis Q.
    """
    check_fit(query, invariants)
    chosen = representative_types(query, invariants, relation)
    columns = query_columns(query, relation)[:, chosen]
    null = null_space(invariants)
    units = query.is_histogram and relation == "replace"
    if units:
        norms = null.diagonal()[chosen]
    else:
        norms = np.empty(len(chosen))
        for part in _chunks(len(chosen)):
            inside = null.project(columns[:, part].T.toarray())
            norms[part] = np.square(inside).sum(axis=1)
    largest = 0.0
    for part in _chunks(len(chosen)):
        inside = null.project(columns[:, part].T.toarray())
        products = inside[:, chosen] if units else (columns.T @ inside.T).T
        squares = norms[part][:, None] + norms - 2 * products
        largest = max(largest, _max_over_neighbours(squares, relation))
    return math.sqrt(largest) if largest > 1e-12 * norms.max(initial=0) else 0.0


def basis_sensitivity(
    query: Query, basis: ArrayLike | csc_array, relation: Relation = "replace"
) -> float:
    """Compute Delta_1(Q'A), the maximum l1 norm of a difference in the coordinates of a basis Q.

    The basis has shape (answers, m). The l1 sensitivity depends on it, and is between Delta_2(Q'A)
    and sqrt(m) Delta_2(Q'A).
    """
    basis = csc_array(basis)
    columns = query_columns(query, relation)
    if basis.shape[1] * columns.shape[1] > MAX_ENTRIES:
        raise InputError(
            f"subspace: query: {columns.shape[1]} record types with {basis.shape[1]} coordinates "
            f"each are too many for an l1 sensitivity. Merge types."
        )
    if not basis.shape[1]:
        return 0.0
    return _max_distance((basis.T @ columns).T, 1, relation)


def quotient_sensitivity(
    query: Query, invariants: Invariants, relation: Relation = "replace"
) -> float:
    """Compute Delta_q, the l1 sensitivity in the quotient by the row space of C.

    Delta_q is the maximum of q(v) = min_w ||v + C'w||_1 over the differences v, and is at most
    Delta_1(A). The density of projected Laplace noise of scale b is the integral of the product
    density over shifts in the row space of C. A change of the variable of integration shows that
    the log density changes by at most q(v)/b over a step v. The change tends to q(v)/b as the point
    moves to infinity in the direction v. The exact pure loss is therefore Delta_q / b.

    The function solves one linear program (HiGHS) for each difference, in order of decreasing
    length. The search stops when no further difference can change the maximum. The result is the
    dual value, which is an upper bound. Raise `InputError` if too many programs are needed.
    """
    check_fit(query, invariants)
    chosen = representative_types(query, invariants, relation)
    columns = query_columns(query, relation)[:, chosen]
    largest = 0.0
    for solved, (z, y, length) in enumerate(_by_length(query, chosen, relation)):
        if length <= largest * (1 + 1e-12):
            break
        if solved == MAX_PROGRAMMES:
            raise InputError(
                f"subspace: query: the exact privacy loss needs more than {MAX_PROGRAMMES} linear "
                f"programs. Use the bound Delta_1(A) = {sensitivity(query, 1, relation):g}."
            )
        move = (columns[:, [z]] - columns[:, [y]]).toarray().ravel()
        largest = max(largest, quotient_norm(move, invariants))
    return largest


def quotient_norm(move: ArrayLike, invariants: Invariants) -> float:
    """Compute q(v) = min_w ||v + C'w||_1 for an integer vector v of shape (cells,).

    The dual program is solved: maximise <v, y> under C y = 0 and |y| <= 1. The result is the norm
    ||v + C'w||_1 for the multipliers w of HiGHS, which is an upper bound on q(v). The value of the
    program certifies that the bound exceeds q(v) by at most a relative 1e-7. Raise `InputError`
    if the solver fails.
    """
    vector = np.asarray(move)
    stacked = vstack([invariants.sparse, csr_array(vector[None])], format="csr")
    class_of_cell, first = find_cell_classes(Invariants(stacked))  # one variable per cell class
    weight = np.bincount(class_of_cell).astype(float)
    rows, vector = invariants.sparse[:, first].astype(float), vector[first].astype(float)
    found = scipy.optimize.linprog(
        -vector,
        A_eq=rows,
        b_eq=np.zeros(rows.shape[0]),
        bounds=np.column_stack([-weight, weight]),
        method="highs",
    )
    if found.status != 0:
        raise InputError(
            f"subspace: invariants: HiGHS found no quotient norm ({found.message.strip()}). Scale "
            f"the invariants to smaller numbers."
        )
    value = float(weight @ np.abs(vector + rows.T @ found.eqlin.marginals))
    if abs(value + found.fun) > DUALITY_TOLERANCE * max(1.0, float(weight @ np.abs(vector))):
        raise InputError(
            f"subspace: invariants: the program for the quotient norm gives {-found.fun:.9g}, "
            f"but its dual gives {value:.9g}. Scale the invariants to smaller numbers."
        )
    return value if value > DUALITY_TOLERANCE else 0.0


def rank_of_differences(
    query: Query, invariants: Invariants, relation: Relation = "replace"
) -> int:
    """Compute the exact dimension of the span of the differences within the null space.

    The dimension is the rank of the differences together with the rows of C, minus the rank of C.
    """
    check_fit(query, invariants)
    rank = null_space(invariants).rank
    if query.is_histogram:
        # With "add-remove" the differences span all vectors. With "replace" they span the vectors
        # of sum zero, and a row of C that does not sum to zero adds the missing dimension.
        complete = relation == "add-remove" or bool(invariants.sparse.sum(axis=1).any())
        return query.types - 1 + complete - rank
    columns = query_columns(query, relation)
    others = columns.shape[1] - 1
    step = vstack([eye_array(others, dtype=np.int64), np.full((1, others), -1)], format="csc")
    both = vstack([(columns @ step).T, invariants.sparse], format="csr")
    return len(independent_rows(both)) - rank


def check_fit(query: Query, invariants: Invariants) -> None:
    """Raise `InputError` unless the invariants have one cell for each answer of the query."""
    if invariants.cells != query.answers:
        raise InputError(
            f"subspace: invariants: {invariants.cells} cells do not fit the query of "
            f"{query.answers} answers. Define the invariants on the answers."
        )


def _chunks(total: int) -> list[IntArray]:
    return np.array_split(np.arange(total), range(CHUNK_SIZE, total, CHUNK_SIZE))


def _used_rows(columns: csc_array) -> csc_array:
    return columns.tocsr()[np.unique(columns.indices)].tocsc()


def _max_over_neighbours(values: FloatArray, relation: Relation) -> float:
    if relation == "add-remove":
        values = values[:, -1:]
    return float(values.max(initial=0))


def _max_distance(points: csr_array | csc_array, p: Literal[1, 2], relation: Relation) -> float:
    """Compute the maximum lp distance between neighbouring rows."""
    if points.shape[0] * points.shape[1] > MAX_ENTRIES:
        raise InputError(
            f"subspace: query: {points.shape[0]} record types with {points.shape[1]} coordinates "
            f"each are too many to compare. Merge types, or use a block of them at a time."
        )
    dense: FloatArray = points.toarray().astype(float)
    metric = "cityblock" if p == 1 else "sqeuclidean"
    largest = max(
        _max_over_neighbours(scipy.spatial.distance.cdist(dense[part], dense, metric), relation)
        for part in _chunks(len(dense))
    )
    return largest if p == 1 else math.sqrt(largest)


def _by_length(
    query: Query, chosen: IntArray, relation: Relation
) -> Iterator[tuple[int, int, float]]:
    """Yield neighbours (z, y) and the length ||a_z - a_y||_1, in order of decreasing length."""
    if query.is_histogram and relation == "replace":
        yield from ((z, y, 2.0) for z, y in combinations(range(len(chosen)), 2))
        return
    points = _used_rows(query_columns(query, relation)[:, chosen]).T
    if points.shape[0] > MAX_SORTED_TYPES:
        raise InputError(
            f"subspace: query: {points.shape[0]} record types have too many pairs to sort. Use at "
            f"most {MAX_SORTED_TYPES} types."
        )
    lengths = scipy.spatial.distance.cdist(points.toarray(), points.toarray(), "cityblock")
    first, second = neighbour_pairs(len(chosen), relation)
    order = np.argsort(-lengths[first, second], kind="stable")
    for z, y in zip(first[order].tolist(), second[order].tolist(), strict=True):
        yield z, y, float(lengths[z, y])
