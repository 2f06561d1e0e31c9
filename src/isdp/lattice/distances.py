"""Distances between tables with equal invariants that differ in the cell of one person.

One person moves from cell i to cell j. Two tables x and x + u show this move if A u = 0, u_i <= -1
and u_j >= 1. The count of i then falls, and the count of j rises. All other changes of u are those
of other people, which the invariants force. The distance of the move is the minimum of the norm of
u over all such u. Counts may be negative, because the guarantee is valid for all tables of
integers.

Three distances are of interest. The distance of the nearest move is the minimum over all pairs of
cells. The distance of the farthest move is the maximum over all pairs of cells between which a
person can move. The presence distance is the minimum norm of all u that change the number of
people.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from isdp.checks import check_choice, check_integer
from isdp.constraints.blocks import blocks_of
from isdp.constraints.independent_parts import independent_parts
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.lattice.connected_totals import (
    ConnectedTotals,
    MoveDistance,
    WorkLimit,
    farthest_of,
    same_totals,
)
from isdp.lattice.shortest_vectors import (
    Metric,
)

METRICS = ("l1", "squared l2")


def move_distance(
    invariants: Invariants, source: int | None, target: int, metric: Metric = "l1"
) -> MoveDistance | None:
    """Find the distance of the move of one person from one cell to another.

    Parameters
    ----------
    source : int or None
        The cell whose count falls by 1 or more. None means that the number of people rises by 1 or
        more, because one person arrives.
    target : int
        The cell whose count rises by 1 or more.
    metric : {"l1", "squared l2"}
        The unit of the result, in persons or squared persons.

    Returns
    -------
    MoveDistance or None
        None if no two tables with equal invariants show this move.

    Raises
    ------
    InputError
        If a cell or the metric is unknown, or the two cells are the same.

    Examples
    --------
    >>> both_margins = Invariants.margins((3, 3))
    >>> move_distance(both_margins, 0, 1).value, move_distance(both_margins, 0, 4).value
    (4, 6)
    """
    check_choice("distances: metric", metric, METRICS)
    for cell in (target, *([] if source is None else [source])):
        check_integer("distances", "a cell", cell, 0, invariants.cells - 1)
    if source == target:
        raise InputError("distances: source and target are the same cell. Give two cells")
    part, budget = ConnectedTotals(invariants), WorkLimit()
    up, down = part.class_of[target], None if source is None else part.class_of[source]
    if up == down:
        found: MoveDistance | None = same_totals(target, int(source or 0))
    else:
        place = {int(up): target} | ({} if down is None else {int(down): int(source or 0)})
        found = part.program(budget, int(up), down, metric, place=place, arrival=down is None)
    return found


def nearest_move(invariants: Invariants, metric: Metric = "l1") -> MoveDistance | None:
    """Find the minimum of the distances of all moves of one person.

    Two cells of one class (cells with equal columns of A) have the distance 2. Other totals are
    split into connected components. The method for a component is a shortest cycle, a smallest
    margin that is not held, or integer programming. The second method is for tables with all
    combinations of categories. The limit of the search is a number of programs and nodes, so that
    equal inputs give equal results.

    Parameters
    ----------
    metric : {"l1", "squared l2"}
        The unit of the result, in persons or squared persons.

    Returns
    -------
    MoveDistance or None
        None if no person can change cell.

    Examples
    --------
    >>> nearest_move(Invariants.margins((3, 3, 3), [(0, 1), (0, 2), (1, 2)])).value
    8
    """
    check_choice("distances: metric", metric, METRICS)
    budget = WorkLimit()
    moves: list[MoveDistance] = []
    changes: list[MoveDistance] = []  # in parts whose changes need not be moves
    for places, part in _parts(invariants):
        found = part.nearest(budget, metric)
        if found is not None:
            moves.append(_placed(found, places[0]))
            if found.upper == 2:
                return moves[-1]
        if not part.is_signed:
            changed = part.nearest_change(budget, metric)
            changes += [] if changed is None else [_placed(changed, cells) for cells in places]
    changes = sorted(changes, key=lambda found: found.upper or math.inf)[:2]
    if len(changes) == 2:
        moves.append(_joined(*changes))
    if not moves:
        return None
    nearest = min(moves, key=lambda found: found.upper or math.inf)
    return replace(nearest, lower=min(found.lower for found in moves))


def farthest_move(invariants: Invariants, metric: Metric = "l1") -> MoveDistance | None:
    """Find the maximum of the distances of all moves that are possible for one person.

    For cells in two connected components of the totals, the distance is the sum of the distances
    within the components. Within a component, the distances of all pairs of cells are found by
    integer programming. In a table with all combinations of categories, pairs that differ in the
    same axes have equal distances.

    Parameters
    ----------
    metric : {"l1", "squared l2"}
        The unit of the result, in persons or squared persons.

    Returns
    -------
    MoveDistance or None
        None if no person can change cell. With many cells, the result may have no upper bound.

    Examples
    --------
    >>> farthest_move(Invariants.margins((2, 3))).value
    8
    >>> farthest_move(Invariants.partition("aabb")).changes
    {0: -1, 1: 1, 2: -1, 3: 1}
    """
    check_choice("distances: metric", metric, METRICS)
    budget = WorkLimit()
    moves: list[MoveDistance] = []
    changes: list[MoveDistance] = []
    for places, part in _parts(invariants):
        found = part.farthest(budget, metric)
        moves += [] if found is None else [_placed(found, places[0])]
        changed = part.farthest_change(budget, metric)
        changes += [] if changed is None else [_placed(changed, cells) for cells in places]
    changes = sorted(changes, key=lambda found: -(found.upper or math.inf))
    if len(changes) > 1:
        moves.append(_joined(*changes[:2]))
    return farthest_of(moves)


def _joined(first: MoveDistance, second: MoveDistance) -> MoveDistance:
    """Join a change of one part that has a negative entry with a change of another part."""
    upper, changes = None, {}
    if first.upper is not None and second.upper is not None:
        upper = first.upper + second.upper
        sign = 1 if min(first.changes.values()) < 0 else -1
        other = 1 if max(second.changes.values()) > 0 else -1
        changes = {cell: sign * x for cell, x in first.changes.items()}
        changes |= {cell: other * x for cell, x in second.changes.items()}
    methods = dict.fromkeys((first.method, second.method))
    return MoveDistance(first.lower + second.lower, upper, changes, ", ".join(methods))


def _placed(found: MoveDistance, cells: NDArray[np.int64]) -> MoveDistance:
    return replace(found, changes={int(cells[cell]): x for cell, x in found.changes.items()})


def _parts(
    invariants: Invariants,
) -> list[tuple[list[NDArray[np.int64]], ConnectedTotals]]:
    """Split the cells into connected components, and list each distinct component once.

    A component is listed with the cells of one or two equal components. If the totals are disjoint,
    two cells of each of two blocks suffice, because all blocks are equivalent.
    """
    kept = np.arange(invariants.cells)
    blocks = blocks_of(invariants)
    if blocks is not None:
        order = np.argsort(blocks, kind="stable")
        rank = np.arange(len(order)) - np.searchsorted(blocks[order], blocks[order])
        sizes = np.bincount(blocks + 1)
        large = np.flatnonzero(sizes[1:] > 1)[:2]
        chosen = np.isin(blocks[order], [-1, *large]) & (rank < 2)
        kept = np.sort(order[chosen])
        if not len(kept):
            return []
        invariants = Invariants.partition([b if b >= 0 else None for b in blocks[kept].tolist()])
    alike: dict[tuple[object, ...], list[NDArray[np.int64]]] = {}
    totals: dict[tuple[object, ...], Invariants] = {}
    for cells, own in independent_parts(invariants):
        a = own.sparse
        key = (a.shape, a.indptr.tobytes(), a.indices.tobytes(), a.data.tobytes())
        alike.setdefault(key, []).append(cells)
        totals.setdefault(key, own)
    return [([kept[c] for c in alike[key][:2]], ConnectedTotals(totals[key])) for key in alike]
