"""Neighbouring data sets, and the differences of their answers.

With the relation "replace", one record changes from type z to type y. The answers change by
a_y - a_z, where a_z is column z of the query (*Subspace Differential Privacy*, Definition 2.1).
With "add-remove", a record is added or removed, and the answers change by a_z or -a_z. The relation
"add-remove" is "replace" with an additional type, the absent record, whose column is zero.
Differences occur with both signs, and the list contains one of both.
"""

from typing import Literal, get_args

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack

from isdp.arrays import IntArray
from isdp.checks import check_choice
from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError
from isdp.subspace.queries import Query

MAX_TYPES = 20_000  # maximum number of record types of which all pairs are compared
MAX_ENTRIES = 30_000_000  # maximum number of entries in a list of differences

Relation = Literal["replace", "add-remove"]
RELATIONS = get_args(Relation)


def query_columns(query: Query, relation: Relation) -> csc_array:
    """Return the columns a_z of the query. With "add-remove", the last is the absent record."""
    check_choice("subspace: relation", relation, RELATIONS)
    if relation == "replace":
        return query.sparse.tocsc()
    absent = csr_array((query.answers, 1), dtype=np.int64)
    return hstack([query.sparse, absent], format="csc")


def neighbour_pairs(types: int, relation: Relation) -> tuple[IntArray, IntArray]:
    """Return the pairs (z, y) of neighbours as two arrays of column numbers of `query_columns`.

    The number of columns, `types`, includes the absent record.
    """
    if check_choice("subspace: relation", relation, RELATIONS) == "replace":
        return np.triu_indices(types, 1)
    return np.arange(types - 1), np.full(types - 1, types - 1)


def representative_types(
    query: Query, invariants: Invariants | None, relation: Relation
) -> IntArray:
    """Choose at most 20,000 record types whose pairs represent all pairs of neighbours.

    The result lists column numbers of `query_columns` in ascending order. The absent record is
    last.

    A cell class consists of cells with equal columns of the invariants. In a histogram, an exchange
    of two cells of one class permutes the answers and does not change the invariants. Two types of
    each class are therefore sufficient. For other queries, one type of each group of equal columns
    is sufficient.
    """
    absent = np.arange(query.types, query_columns(query, relation).shape[1])
    if query.is_histogram:
        nothing = Invariants(np.zeros((0, query.types), dtype=np.int64))
        class_of_type, first = find_cell_classes(nothing if invariants is None else invariants)
        later = np.ones(query.types, dtype=bool)
        later[first] = False
        seconds = np.flatnonzero(later)
        second = seconds[np.unique(class_of_type[seconds], return_index=True)[1]]
        chosen = np.sort(np.concatenate([first, second, absent]))
    else:
        chosen = np.concatenate([np.sort(find_cell_classes(query.rows)[1]), absent])
    if len(chosen) > MAX_TYPES:
        raise InputError(
            f"subspace: query: {len(chosen)} distinct record types have too many pairs. Merge "
            f"types, or use a block of at most {MAX_TYPES} types at a time."
        )
    return chosen


def differences(query: Query, relation: Relation = "replace") -> IntArray:
    """List the nonzero differences of the answers of neighbours, distinct up to sign.

    The result is int64 of shape (differences, answers). The first nonzero entry of each difference
    is positive. Raise `InputError` if there are too many differences.

    Examples
    --------
    >>> differences(Query.prefixes(3))
    array([[0, 1, 0],
           [1, 0, 0],
           [1, 1, 0]])
    """
    columns = query_columns(query, relation)
    columns = columns[:, find_cell_classes(Invariants(columns))[1]].T.toarray()
    first, second = _pairs_of_columns(columns, relation)
    if len(first) * query.answers > MAX_ENTRIES:
        raise InputError(
            f"subspace: query: {len(first)} differences of {query.answers} answers are too many "
            f"to list. Use fewer answers or types."
        )
    moves: IntArray = columns[first] - columns[second]
    moves = moves[moves.any(axis=1)]
    leading = moves[np.arange(len(moves)), (moves != 0).argmax(axis=1)]
    return np.unique(moves * np.sign(leading)[:, None], axis=0)


def _pairs_of_columns(columns: IntArray, relation: Relation) -> tuple[IntArray, IntArray]:
    """Return the pairs of neighbours in distinct columns, which may include the absent record."""
    if relation == "replace":
        return neighbour_pairs(len(columns), relation)
    absent = int(np.flatnonzero(~columns.any(axis=1))[0])
    others = np.delete(np.arange(len(columns)), absent)
    return others, np.full(len(others), absent)
