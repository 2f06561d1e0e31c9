"""Sensitivities: how far one record moves the answers, in the norms that mechanisms hang on."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import scipy
from scipy.sparse import csc_array, csr_array, eye_array, issparse, vstack

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

CHUNK = 256  # types whose distances to all others are worked out at a time
MOST_ENTRIES = 50_000_000
MOST_PROGRAMMES = 3_000
MOST_LISTED = 3_000  # types whose pairs are put in order
AGREEMENT = 1e-7  # relative gap between a linear programme and its dual


def sensitivity(query: Query, p: int, relation: Relation = "replace") -> float:
    """Delta_p(A), the largest move of the answers in the l1 or the l2 norm (SDP, Section 3.3).

    Parameters
    ----------
    p : {1, 2}

    Raises
    ------
    InputError
        If there are too many types of record for all their pairs.
    """
    check_choice("subspace: p", p, (1, 2))
    chosen = representative_types(query, None, relation)
    columns = query_columns(query, relation)[:, chosen]
    return _largest_distance(_used_rows(columns).T, p, relation)


def null_sensitivity(query: Query, invariants: Invariants, relation: Relation = "replace") -> float:
    """Delta_2(Q'A), the largest move within the null space; no basis Q changes it.

    Raises
    ------
    InputError
        If invariants and query do not fit, or there are too many types.
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
        largest = max(largest, _over_neighbours(squares, part, relation))
    return math.sqrt(largest) if largest > 1e-12 * norms.max(initial=0) else 0.0


def basis_sensitivity(query: Query, basis, relation: Relation = "replace") -> float:
    """Delta_1(Q'A), the largest move of the coordinates in the l1 norm, for one basis Q.

    It lies between Delta_2(Q'A) and sqrt(m) times that, and depends on the basis: without it the
    number means nothing.

    Parameters
    ----------
    basis : array or sparse array, shape (answers, m)

    Raises
    ------
    InputError
        If the coordinates of all types are too many numbers.
    """
    basis = basis if issparse(basis) else csc_array(basis)
    columns = query_columns(query, relation)
    if basis.shape[1] * columns.shape[1] > MOST_ENTRIES:
        raise InputError(
            f"subspace: {basis.shape[1]} coordinates of {columns.shape[1]} types are too many to "
            f"find an l1 sensitivity among"
        )
    if not basis.shape[1]:
        return 0.0
    return _largest_distance((basis.T @ columns).T, 1, relation)


def quotient_sensitivity(
    query: Query, invariants: Invariants, relation: Relation = "replace"
) -> float:
    """Delta_q, the exact l1 sensitivity of what the projection leaves to be told apart.

    q(v) = min_w ||v + C'w||_1 for a difference v. The density of Pi Lap(b)^n at a point is the
    integral of the product density over the shifts in the row space; moving the variable of
    integration shows that its logarithm changes by at most q(v)/b over a step v, and far out along
    v it changes by as much. So the pure loss of projected Laplace noise is Delta_q / b, and
    Delta_q <= Delta_1(A). One linear programme a difference (HiGHS), the longest first, until the
    next is too short to matter; the value is that of the dual, an upper bound.

    Raises
    ------
    InputError
        If invariants and query do not fit, or too many programmes would have to be solved.
    """
    check_fit(query, invariants)
    chosen = representative_types(query, invariants, relation)
    columns = query_columns(query, relation)[:, chosen]
    largest = 0.0
    for solved, (z, y, length) in enumerate(_by_length(query, chosen, relation)):
        if length <= largest * (1 + 1e-12):
            break
        if solved == MOST_PROGRAMMES:
            raise InputError(
                f"subspace: more than {MOST_PROGRAMMES} linear programmes would be needed to find "
                f"the exact loss; Delta_1(A) = {sensitivity(query, 1, relation):g} bounds it"
            )
        move = (columns[:, [z]] - columns[:, [y]]).toarray().ravel()
        largest = max(largest, quotient_norm(move, invariants))
    return largest


def quotient_norm(move, invariants: Invariants) -> float:
    """q(v) = min_w ||v + C'w||_1, from the dual programme max <v, y>: C y = 0, |y| <= 1.

    Parameters
    ----------
    move : int array, shape (cells,)

    Returns
    -------
    float
        ||v + C'w||_1 for the multipliers w that HiGHS found, so never below q(v) but for rounding;
        that it is not above q(v) either, the programme's value proves to 1e-7.

    Raises
    ------
    InputError
        If the solver fails.
    """
    move = np.asarray(move)
    stacked = vstack([invariants.sparse, csr_array(move[None])], format="csr")
    kind, first = find_cell_classes(
        Invariants(stacked)
    )  # equal cells act as one, as many times as they are
    weight = np.bincount(kind).astype(float)
    rows, move = invariants.sparse[:, first].astype(float), move[first].astype(float)
    found = scipy.optimize.linprog(
        -move,
        A_eq=rows,
        b_eq=np.zeros(rows.shape[0]),
        bounds=np.column_stack([-weight, weight]),
        method="highs",
    )
    if found.status != 0:
        raise InputError(f"subspace: HiGHS found no quotient norm ({found.message.strip()})")
    value = float(weight @ np.abs(move + rows.T @ found.eqlin.marginals))
    if abs(value + found.fun) > AGREEMENT * max(1.0, weight @ np.abs(move)):
        raise InputError(
            f"subspace: the programme for the quotient norm gives {-found.fun:.9g}, its dual "
            f"{value:.9g}; scale the invariants to smaller numbers"
        )
    return value if value > AGREEMENT else 0.0


def rank_of_differences(
    query: Query, invariants: Invariants, relation: Relation = "replace"
) -> int:
    """Dimension of the span of the differences within the null space, found exactly.

    That is the rank of the differences together with the rows of C, less the rank of C.
    """
    check_fit(query, invariants)
    held = null_space(invariants).rank
    if query.is_histogram:  # all vectors, or with "replace" all of sum zero, which some row may add
        summed = relation == "add-remove" or bool(invariants.sparse.sum(axis=1).any())
        return query.types - 1 + summed - held
    columns = query_columns(query, relation)
    others = columns.shape[1] - 1
    step = vstack([eye_array(others, dtype=np.int64), np.full((1, others), -1)], format="csc")
    both = vstack([(columns @ step).T, invariants.sparse], format="csr")
    return len(independent_rows(both)) - held


def check_fit(query: Query, invariants: Invariants) -> None:
    """Raise unless the invariants are on the answers of the query."""
    if invariants.cells != query.answers:
        raise InputError(
            f"subspace: the invariants are on {invariants.cells} cells, but the query has "
            f"{query.answers} answers; they must be stated on the answers"
        )


def _chunks(total: int):
    return [np.arange(start, min(start + CHUNK, total)) for start in range(0, total, CHUNK)]


def _used_rows(columns: csc_array) -> csc_array:
    """Leave out the answers in which the columns are all zero."""
    return columns.tocsr()[np.unique(columns.indices)].tocsc()


def _over_neighbours(values: np.ndarray, part: np.ndarray, relation: Relation) -> float:
    """Largest of the values[i, j] between type part[i] and type j over the pairs of neighbours."""
    if relation == "add-remove":
        values = values[:, -1:]
    return float(values.max(initial=0))


def _largest_distance(points, p: int, relation: Relation) -> float:
    """Largest distance of neighbours among points, one a row, sparse or dense."""
    if points.shape[0] * points.shape[1] > MOST_ENTRIES:
        raise InputError(
            f"subspace: {points.shape[0]} types with {points.shape[1]} coordinates each are too "
            f"many to compare; group them, or take a block of them at a time"
        )
    points = (points.toarray() if issparse(points) else np.asarray(points)).astype(float)
    metric = "cityblock" if p == 1 else "sqeuclidean"
    largest = max(
        _over_neighbours(scipy.spatial.distance.cdist(points[part], points, metric), part, relation)
        for part in _chunks(len(points))
    )
    return largest if p == 1 else math.sqrt(largest)


def _by_length(query: Query, chosen: np.ndarray, relation: Relation):
    """Pairs (z, y) of neighbouring chosen types with ||a_z - a_y||_1, the longest first."""
    if query.is_histogram and relation == "replace":
        yield from ((z, y, 2.0) for z, y in combinations(range(len(chosen)), 2))
        return
    points = _used_rows(query_columns(query, relation)[:, chosen]).T
    if points.shape[0] > MOST_LISTED:
        raise InputError(
            f"subspace: {points.shape[0]} types of record have too many pairs to order by length"
        )
    lengths = scipy.spatial.distance.cdist(points.toarray(), points.toarray(), "cityblock")
    first, second = neighbour_pairs(len(chosen), relation)
    order = np.argsort(-lengths[first, second], kind="stable")
    for z, y in zip(first[order].tolist(), second[order].tolist(), strict=True):
        yield z, y, float(lengths[z, y])
