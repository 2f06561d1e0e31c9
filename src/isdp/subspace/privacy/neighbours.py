"""Neighbouring data sets: how far the answers move when one record changes.

With the relation "replace" one record turns from type z into type y and the answers move by
a_z - a_y, where a_z is column z of the query (SDP, Definition 2.1). With "add-remove" a record
comes or goes and they move by a_z; it is the same with a further type, nobody, whose column is
zero. Both signs always occur, so differences are told apart up to their sign.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack

from isdp.checks import check_choice
from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError
from isdp.subspace.queries import Query

MOST_TYPES = 20_000  # distinct types whose pairs are all looked at
MOST_DIFFERENCES = 30_000_000  # entries of the differences when they are listed

Relation = Literal["replace", "add-remove"]
RELATIONS = get_args(Relation)


def query_columns(query: Query, relation: Relation) -> csc_array:
    """Columns a_z of the query, with a last one of zeros for nobody with "add-remove"."""
    check_choice("subspace: relation", relation, RELATIONS)
    if relation == "replace":
        return query.sparse.tocsc()
    nobody = csr_array((query.answers, 1), dtype=np.int64)
    return hstack([query.sparse, nobody], format="csc")


def neighbour_pairs(types: int, relation: Relation) -> tuple[np.ndarray, np.ndarray]:
    """Index pairs (z, y) of the columns of `query_columns` that are neighbours.

    Parameters
    ----------
    types : int
        Number of columns, nobody included.
    """
    if check_choice("subspace: relation", relation, RELATIONS) == "replace":
        return np.triu_indices(types, 1)
    return np.arange(types - 1), np.full(types - 1, types - 1)


def representative_types(
    query: Query, invariants: Invariants | None, relation: Relation
) -> np.ndarray:
    """Choose types such that every pair of neighbours is like a pair of chosen ones.

    In a histogram, two types that stand in the same invariants with the same weights can be
    exchanged: that permutes the answers and leaves the invariants as they are. Two of each kind
    therefore do. Of other queries, one of each group of equal columns does.

    Returns
    -------
    int64 array of column numbers of `query_columns`, ascending; nobody's is the last

    Raises
    ------
    InputError
        If more than 20,000 are left.
    """
    nobody = np.arange(query.types, query_columns(query, relation).shape[1])
    if query.is_histogram:
        nothing = Invariants(np.zeros((0, query.types), dtype=np.int64))
        kind, first = find_cell_classes(nothing if invariants is None else invariants)
        later = np.ones(query.types, dtype=bool)
        later[first] = False
        seconds = np.flatnonzero(later)
        second = seconds[np.unique(kind[seconds], return_index=True)[1]]
        chosen = np.sort(np.concatenate([first, second, nobody]))
    else:
        chosen = np.concatenate([np.sort(find_cell_classes(query.rows)[1]), nobody])
    if len(chosen) > MOST_TYPES:
        raise InputError(
            f"subspace: {len(chosen)} types of record that all differ have too many pairs to look "
            f"at (up to {MOST_TYPES} types); group them, or take a block of them at a time"
        )
    return chosen


def differences(query: Query, relation: Relation = "replace") -> np.ndarray:
    """List how the answers can move, exactly: distinct up to sign, and none of them zero.

    Returns
    -------
    int64 array, shape (differences, answers)
        The first entry of each that is not 0 is positive.

    Raises
    ------
    InputError
        If there are too many to list.

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
    if len(first) * query.answers > MOST_DIFFERENCES:
        raise InputError(
            f"subspace: {len(first)} differences of {query.answers} answers are too many to list"
        )
    moves = columns[first] - columns[second]
    moves = moves[moves.any(axis=1)]
    leading = moves[np.arange(len(moves)), (moves != 0).argmax(axis=1)]
    return np.unique(moves * np.sign(leading)[:, None], axis=0)


def _pairs_of_columns(columns: np.ndarray, relation: Relation) -> tuple[np.ndarray, np.ndarray]:
    """Pairs among distinct columns; nobody may have gone where a type has no answer either."""
    if relation == "replace":
        return neighbour_pairs(len(columns), relation)
    nobody = int(np.flatnonzero(~columns.any(axis=1))[0])
    others = np.delete(np.arange(len(columns)), nobody)
    return others, np.full(len(others), nobody)
