"""The privacy guarantee of a request under the held totals, per unit of distance and per person."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import replace
from fractions import Fraction

import numpy as np
from scipy.sparse import block_array, csc_array
from scipy.sparse.csgraph import connected_components

from isdp.accounting.guarantees import PrivacyGuarantee
from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom
from isdp.commands.shared.levels import Flavour, TableLevels, describe_levels
from isdp.commands.shared.request import NoiseRequest, units_of_distance
from isdp.commands.shared.table import Table
from isdp.errors import InputError

NO_SINGLE_MOVE = "no two cells have the same totals, so one person cannot change cell alone"
UNKNOWN_DISTANCE = f"{NO_SINGLE_MOVE}, and the smallest distance under these totals is not known"


def request_for_table(request: NoiseRequest, free: DegreesOfFreedom, table: Table) -> NoiseRequest:
    """Return the request with its mechanism for one table under the held totals.

    The budget of noise with levels stays per person. Any other budget is converted into a budget
    per unit of distance.
    """
    request = with_budget(request, free, table)
    if request.levels is not None:
        levels = TableLevels(request.levels, table)
        flavour: Flavour = "zCDP" if request.epsilon is None else "pure"
        budget = Fraction((request.rho if request.epsilon is None else request.epsilon) or 0)
        return replace(request, set_mechanism=levels.mechanism(free.invariants, flavour, budget))
    if request.per == "unit":
        return request
    distance = person_distance(free)
    if distance is None:
        raise InputError(
            f"--invariants: {UNKNOWN_DISTANCE}. Give the budget per unit of distance with "
            f"--per-unit (in Python per='unit')."
        )
    return request.per_unit(distance)


def with_budget(request: NoiseRequest, free: DegreesOfFreedom, table: Table) -> NoiseRequest:
    """Replace the target errors of a request, if there are any, by the budget that meets them."""
    if request.levels is None or not request.levels.errors:
        return request
    rho, shares = TableLevels(request.levels, table).budget_for_errors(free.invariants)
    return replace(request, rho=rho, levels=replace(request.levels, errors={}, shares=shares))


def privacy_guarantee(request: NoiseRequest, free: DegreesOfFreedom) -> PrivacyGuarantee:
    """Return the guarantee of a request for a table, with epsilon or rho as an exact number.

    Returns
    -------
    PrivacyGuarantee
        The guarantee has no loss per person if the smallest distance under these totals is unknown.
    """
    if request.set_mechanism is not None:
        return request.set_mechanism.guarantee_of(free.invariants)
    exact = request.epsilon if request.rho is None else request.rho
    guarantee = replace(request.mechanism.guarantee, loss=Fraction(exact or 0))
    distance = person_distance(free)
    if distance is None:
        return replace(guarantee, per_person=None, why_not_per_person=UNKNOWN_DISTANCE)
    return replace(guarantee, per_person=units_of_distance(request.norm, distance))


def levels_of(request: NoiseRequest, free: DegreesOfFreedom) -> dict[str, object] | None:
    """Describe the levels of a request for a table, or return None if it has none."""
    if request.levels is None or request.set_mechanism is None:
        return None
    return describe_levels(request.levels, request.set_mechanism, free.invariants)


def person_distance(free: DegreesOfFreedom) -> int | None:
    """Find the smallest distance between two tables that differ in the cell of one person.

    The distance is 2 if one person can move between two cells with the same totals. If no person
    can move under disjoint totals, one person can enter or leave a cell without a total, which is a
    distance of 1. For totals that overlap, see `shortest_exchange`.

    Returns
    -------
    int or None
        The l1 distance, which is also the squared l2 distance, or None if it is not known.
    """
    if free.degrees == 0:
        return None
    if free.single_move:
        return 2
    if free.crossed is not None:
        return 4  # two persons of two regions exchange their classes
    return 1 if free.blocks is not None else shortest_exchange(free)


def shortest_exchange(free: DegreesOfFreedom) -> int | None:
    """Find the smallest change of several counts that leaves overlapping totals unchanged.

    The totals are the vertices of a graph, and the cells are its edges. A cell joins its two
    totals. A cell with one total joins it to an additional vertex, whose total is not held. If the
    graph is bipartite, the smallest change alternately adds and removes one person along a shortest
    cycle. The graph of both margins of a two-way table is bipartite, and its shortest cycle has
    four cells. Cells without a total are left out.

    Returns
    -------
    int or None
        The number of cells in the shortest cycle. The result is None if a cell has three totals or
        more, or the graph is not bipartite.
    """
    incidence = free.invariants.sparse.tocsc()
    degrees = np.diff(incidence.indptr)
    if degrees.max() > 2 or not _is_bipartite(incidence[:, degrees == 2]):
        return None
    not_held = incidence.shape[0]
    neighbours: list[list[int]] = [[] for _ in range(not_held + 1)]
    for totals in np.split(incidence.indices, incidence.indptr[1:-1]):
        if len(totals):
            first, second = [*totals.tolist(), not_held][:2]
            neighbours[first].append(second)
            neighbours[second].append(first)
    min_length = 3 if (degrees == 1).any() else 4
    shortest = math.inf
    for start in range(not_held + 1):
        shortest = min(shortest, _shortest_cycle(neighbours, start))
        if shortest == min_length:
            break
    return None if shortest == math.inf else int(shortest)


def _is_bipartite(incidence: csc_array) -> bool:
    # the double cover of a bipartite graph has two components for each component of the graph
    adjacency = incidence @ incidence.T
    adjacency.setdiag(0)
    adjacency.eliminate_zeros()
    cover = block_array([[None, adjacency], [adjacency, None]])
    return bool(connected_components(cover)[0] == 2 * connected_components(adjacency)[0])


def _shortest_cycle(neighbours: list[list[int]], start: int) -> float:
    """Bound the length of the shortest cycle by a breadth-first search from `start`.

    The bound is attained if a shortest cycle contains `start`.
    """
    depth, parent, queue = {start: 0}, {start: -1}, deque([start])
    shortest = math.inf
    while queue:
        vertex = queue.popleft()
        for other in neighbours[vertex]:
            if other not in depth:
                depth[other], parent[other] = depth[vertex] + 1, vertex
                queue.append(other)
            elif other != parent[vertex]:
                shortest = min(shortest, depth[vertex] + depth[other] + 1)
    return shortest


def describe_distances(free: DegreesOfFreedom, squared: bool) -> str:
    """Describe the l1 or squared l2 distance if one person changes cell and no total changes."""
    name = "squared distance" if squared else "distance"
    distance = person_distance(free)
    if distance is None:
        words = UNKNOWN_DISTANCE
    elif not free.single_move:
        words = NO_SINGLE_MOVE
        if distance > 1:
            words += (
                f": others have to change too, and the nearest tables are at a {name} of {distance}"
            )
    elif free.blocks is None:
        words = (
            f"one person who changes between cells with the same totals is a {name} of 2; any "
            f"other change of cell takes several people at once, and may be farther"
        )
    else:
        words = f"one person who changes cell and leaves all totals as they are is a {name} of 2"
    if free.single_change:
        words += f"; one person more or fewer in a cell without a total is a {name} of 1"
    return words
